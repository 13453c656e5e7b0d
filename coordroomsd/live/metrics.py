"""What the daemon counts about itself, for /metrics."""

from __future__ import annotations

from collections import Counter as Counts
from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_SIZES = (1, 2, 5, 10, 20, 50, 100, 200, 500)


class Metrics:
    """One daemon's instruments, in a registry of their own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self.batch_commands = Histogram(
            "coordrooms_batch_commands",
            "Commands that the journal took into one batch",
            buckets=_SIZES,
            registry=self._registry,
        )
        self.batch_seconds = Histogram(
            "coordrooms_batch_seconds",
            "From taking a batch to its being committed and published",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self.events = Counter(
            "coordrooms_events", "Events stored, by type", ["type"], registry=self._registry
        )
        self.refusals = Counter(
            "coordrooms_refusals",
            "Calls refused over HTTP, by code",
            ["code"],
            registry=self._registry,
        )
        self.store_losses = Counter(
            "coordrooms_store_losses",
            "Times that the connection for writing was lost",
            registry=self._registry,
        )

    def stored(self, commands: int, seconds: float, events: Counts[str]) -> None:
        """A batch of so many commands is committed and published."""
        if commands:
            self.batch_commands.observe(commands)
            self.batch_seconds.observe(seconds)
        for event_type, count in events.items():
            self.events.labels(event_type).inc(count)

    def observe(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number that somebody keeps anyway, as it is when it is asked for."""
        Gauge(f"coordrooms_{name}", text, registry=self._registry).set_function(value)

    def exposition(self) -> bytes:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self._registry)
