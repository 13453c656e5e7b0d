"""What the daemon counts about itself, for /metrics."""

from __future__ import annotations

import platform
from bisect import bisect_left
from collections import Counter as Counts
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeVar, get_args

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

from coordroomsd import __version__
from coordroomsd.domain.errors import CODES
from coordroomsd.domain.events import EventType

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_SECONDS: Final = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
# Too many are open · a request does not end · an answer is not read.
DROPS: Final = ("many", "slow_sender", "slow_reader")
_SIZES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500)

# The labels of one number, by which `observe` is told several.
Labelled = Callable[[], dict[str, float]]
Instrument = TypeVar("Instrument", bound=Collector)


class Tally(Collector):
    """Counts by one label. A tenth of what the library's own takes, with its locks."""

    def __init__(self, name: str, text: str, label: str = "", known: Iterable[str] = ()) -> None:
        self._name, self._text, self._label = name, text, label
        # What begins at 0 has a rate from its first one on.
        self._counts: Counts[str] = Counts(dict.fromkeys(known if label else [""], 0))

    def add(self, value: str = "", count: int = 1) -> None:
        """`value` is one of a few: each is a series of its own for ever."""
        self._counts[value] += count

    def collect(self) -> Iterator[Metric]:
        family = CounterMetricFamily(
            self._name, self._text, labels=[self._label] if self._label else []
        )
        for value, count in self._counts.items():
            family.add_metric([value] if self._label else [], count)
        yield family


class Distribution(Collector):
    """How often a number fell between two of some bounds; its sum."""

    def __init__(self, name: str, text: str, bounds: Sequence[float]) -> None:
        self._name, self._text, self._bounds = name, text, bounds
        self._counts = [0] * (len(bounds) + 1)
        self._sum = 0.0

    def add(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def collect(self) -> Iterator[Metric]:
        buckets, total = [], 0
        for bound, count in zip((*self._bounds, float("inf")), self._counts, strict=True):
            total += count
            # As Prometheus itself writes bounds, whatever they are in Python.
            buckets.append(("+Inf" if bound == float("inf") else str(float(bound)), total))
        family = HistogramMetricFamily(self._name, self._text)
        family.add_metric([], buckets, self._sum)
        yield family


class _Reading(Collector):
    def __init__(self, name: str, text: str, label: str, read: Labelled) -> None:
        self._name, self._text, self._label, self._read = name, text, label, read

    def collect(self) -> Iterator[Metric]:
        family = GaugeMetricFamily(
            self._name, self._text, labels=[self._label] if self._label else []
        )
        for value, number in self._read().items():
            family.add_metric([value] if self._label else [], number)
        yield family


class Metrics:
    """One daemon's instruments, in a registry of their own. For one thread."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self.batch_commands = self._kept(
            Distribution(
                "coordrooms_batch_commands",
                "Commands that the journal took into one batch",
                _SIZES,
            )
        )
        self.batch_seconds = self._kept(
            Distribution(
                "coordrooms_batch_seconds",
                "From taking a batch to its being committed and published",
                _SECONDS,
            )
        )
        self.commit_seconds = self._kept(
            Distribution(
                "coordrooms_commit_seconds",
                "The write statement of one batch, until Postgres has acknowledged its commit",
                _SECONDS,
            )
        )
        self.wake_seconds = self._kept(
            Distribution(
                "coordrooms_wake_seconds",
                "From a commit to the answer of a parked wait over HTTP being handed to its socket",
                _SECONDS,
            )
        )
        self.loop_lag_seconds = self._kept(
            Distribution(
                "coordrooms_loop_lag_seconds",
                "How late the event loop turned to a timer, looked at every second",
                _SECONDS,
            )
        )
        self.calls = self._kept(
            Tally("coordrooms_calls", "Calls that came in, by operation", "operation")
        )
        self.events = self._kept(
            Tally("coordrooms_events", "Events stored, by type", "type", get_args(EventType))
        )
        self.refusals = self._kept(
            Tally("coordrooms_refusals", "Calls refused, by code", "code", CODES)
        )
        self.store_losses = self._kept(
            Tally("coordrooms_store_losses", "Times that the connection for writing was lost")
        )
        self.store_refusals = self._kept(
            Tally("coordrooms_store_refusals", "Batches that the database did not take")
        )
        self.conflicts = self._kept(
            Tally(
                "coordrooms_conflicts",
                "Batches decided anew, for another daemon had written first",
            )
        )
        self.hints_lost = self._kept(
            Tally("coordrooms_hints_lost", "Rooms that the sweep found moved without a hint")
        )
        self.bus_lag_seconds = self._kept(
            Distribution(
                "coordrooms_bus_lag_seconds",
                "From the commit at another daemon to its hint being heard, by both their clocks",
                _SECONDS,
            )
        )
        self.dropped_connections = self._kept(
            Tally(
                "coordrooms_dropped_connections",
                "Connections that a limit has ended or turned away, by which",
                "why",
                DROPS,
            )
        )
        build = {"version": __version__, "python": platform.python_version()}
        info = GaugeMetricFamily("coordrooms_build_info", "Always 1", labels=list(build))
        info.add_metric(list(build.values()), 1)
        self._kept(_Fixed(info))
        ProcessCollector(registry=self._registry)

    def stored(self, commands: int, seconds: float, events: Counts[str]) -> None:
        """A batch of so many commands is committed and published."""
        if commands:
            self.batch_commands.add(commands)
            self.batch_seconds.add(seconds)
        for event_type, count in events.items():
            self.events.add(event_type, count)

    def observe(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number that somebody keeps anyway, as it is when it is asked for."""
        self.observe_by(name, text, "", lambda: {"": value()})

    def observe_by(self, name: str, text: str, label: str, values: Labelled) -> None:
        """Several numbers, by the value of a label."""
        self._kept(_Reading(f"coordrooms_{name}", text, label, values))

    def exposition(self) -> bytes:
        """All of it, in the text format of Prometheus."""
        return generate_latest(self._registry)

    def _kept(self, instrument: Instrument) -> Instrument:
        self._registry.register(instrument)
        return instrument


class _Fixed(Collector):
    def __init__(self, family: Metric) -> None:
        self._family = family

    def collect(self) -> Iterator[Metric]:
        yield self._family
