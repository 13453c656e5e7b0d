"""Spans of OpenTelemetry, sent over OTLP by a thread of its own. Imported only where configured.

The process's own provider stays as it is: what libraries would trace goes nowhere.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanLimits, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import (
    Span,
    SpanContext,
    SpanKind,
    StatusCode,
    Tracer,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from coordroomsd import __version__
from coordroomsd.live.tracing import CURRENT, Parent
from coordroomsd.logs.troubles import Trouble

logger = logging.getLogger(__name__)
# What it says of each attempt that fails is told once, by `_Sending`.
logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)

# 10 MB while a collector is away; then the oldest are lost.
_MAX_UNSENT: Final = 8192
_SEND_EVERY_MS: Final = 1000
_SEND_WITHIN_S: Final = 5.0
# The daemon's end does not wait longer for a collector.
_CLOSE_WITHIN_S: Final = 1.0
# Events for which it is remembered which call made them.
_MAX_CAUSES: Final = 4096
# Of one value: names that callers have chosen are up to 200.
_MAX_CHARACTERS: Final = 200

_WIRE = TraceContextTextMapPropagator()


class Spans:
    """All spans of a daemon; `begin` is for its event loop."""

    def __init__(self, endpoint: str, ratio: float, monotonic: Callable[[], float]) -> None:
        self._processor = BatchSpanProcessor(
            _Sending(OTLPSpanExporter(endpoint, timeout=_SEND_WITHIN_S)),
            max_queue_size=_MAX_UNSENT,
            schedule_delay_millis=_SEND_EVERY_MS,
        )
        # Who calls decides for its own trace, the ratio for all others.
        provider = TracerProvider(
            ParentBased(TraceIdRatioBased(ratio)),
            Resource.create({"service.name": "coordroomsd", "service.version": __version__}),
            shutdown_on_exit=False,
            span_limits=SpanLimits(max_attribute_length=_MAX_CHARACTERS),
        )
        provider.add_span_processor(self._processor)
        self.tracer: Tracer = provider.get_tracer("coordroomsd", __version__)
        self.monotonic = monotonic
        self._causes: dict[tuple[int, int], SpanContext] = {}

    def begin(self, name: str, parent: Parent) -> CallSpan:
        above = CURRENT.get()
        if isinstance(above, CallSpan):
            return CallSpan(self, name, SpanKind.INTERNAL, above.context)
        sent = {header: value for header, value in parent._asdict().items() if value is not None}
        context = _WIRE.extract(sent, Context()) if sent else Context()
        return CallSpan(self, name, SpanKind.SERVER, context)

    def remember(self, cause: SpanContext, room_id: int, seqs: Iterable[int]) -> None:
        for seq in seqs:
            self._causes[room_id, seq] = cause
        while len(self._causes) > _MAX_CAUSES:
            del self._causes[next(iter(self._causes))]

    def cause(self, room_id: int, seq: int) -> SpanContext | None:
        return self._causes.get((room_id, seq))

    async def close(self) -> None:
        """Send what is left, for as long as an end may take."""
        loop = asyncio.get_running_loop()
        sent = asyncio.Event()

        def send() -> None:
            self._processor.shutdown()  # type: ignore[no-untyped-call]
            with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                loop.call_soon_threadsafe(sent.set)

        # Nobody has to wait for a thread like this one, whatever it waits for.
        threading.Thread(target=send, name="sends the last spans", daemon=True).start()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(sent.wait(), _CLOSE_WITHIN_S)


class CallSpan:
    """`live.tracing.Span`; one that is not sampled takes everything and keeps nothing."""

    __slots__ = ("_is_sampled", "_span", "_spans", "_zero_ns", "context")

    def __init__(self, spans: Spans, name: str, kind: SpanKind, above: Context) -> None:
        self._spans = spans
        # Of the even clock, by the host's, which is what collectors compare.
        now_ns = time.time_ns()
        self._zero_ns = now_ns - round(spans.monotonic() * 1e9)
        self._span: Span = spans.tracer.start_span(name, above, kind, start_time=now_ns)
        self._is_sampled = self._span.is_recording()
        self.context = set_span_in_context(self._span, above)

    def rename(self, name: str) -> None:
        self._span.update_name(name)

    def note(self, name: str, value: str | int) -> None:
        self._span.set_attribute(name, value)

    def part(self, name: str, began: float, ended: float) -> None:
        if self._is_sampled:
            first, last = self._ns(began), self._ns(ended)
            self._spans.tracer.start_span(name, self.context, start_time=first).end(last)

    def stored(self, room_id: int, seqs: Iterable[int]) -> None:
        if self._is_sampled:
            self._spans.remember(self._span.get_span_context(), room_id, seqs)

    def woken_by(self, room_id: int, seqs: Iterable[int]) -> None:
        if self._is_sampled:
            found = [self._spans.cause(room_id, seq) for seq in seqs]
            causes = {cause.span_id: cause for cause in found if cause}
            for cause in causes.values():
                self._span.add_link(cause)

    def answered(self, status: int, code: str | None) -> None:
        self.note("http.response.status_code", status)
        if code is not None:
            self.note("coordrooms.refusal", code)
        if status >= 500:
            self.note("error.type", code or str(status))
            self._span.set_status(StatusCode.ERROR)

    def end(self) -> None:
        if self._span.is_recording():
            self._span.end(self._ns(self._spans.monotonic()))

    def _ns(self, moment: float) -> int:
        return self._zero_ns + round(moment * 1e9)


class _Sending(SpanExporter):
    """Tells once that a collector takes nothing, and once that it does again."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._trouble = Trouble(logger, "send traces")

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        result = self._exporter.export(spans)
        if result is SpanExportResult.SUCCESS:
            self._trouble.over()
        else:
            self._trouble.failed("the collector does not take them, and they are lost")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()
