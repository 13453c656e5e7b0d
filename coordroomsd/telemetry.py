"""Whether calls are traced: [tracing] in the configuration.

The packages that this takes are imported when it is configured, and are installed for it alone.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.util import find_spec
from typing import Final

from coordroomsd import __version__
from coordroomsd.config import ConfigurationError
from coordroomsd.live.tracing import Tracing
from coordroomsd.settings import Tracing as Section

_NEEDED: Final = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def check(section: Section) -> None:
    """Raises ConfigurationError when it asks for what is not installed."""
    if section.endpoint is not None and not all(map(_is_installed, _NEEDED)):
        raise ConfigurationError(
            [
                "[tracing] endpoint: the packages that send traces are not installed; "
                f"install coordroomsd[otel]=={__version__}, or leave the endpoint out"
            ]
        )


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of a parent
        return False


@asynccontextmanager
async def opened(section: Section, monotonic: Callable[[], float]) -> AsyncIterator[Tracing]:
    """From the first span to the last one's being sent. `monotonic` is the daemon's even clock."""
    if section.endpoint is None:
        yield Tracing()
        return
    # A third of a second.
    from coordroomsd.spans import Spans

    spans = Spans(section.endpoint, section.ratio, monotonic)
    try:
        yield Tracing(spans.begin)
    finally:
        await spans.close()
