"""A collector of traces in this process, which takes OTLP over HTTP and keeps every span."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Span(NamedTuple):
    name: str
    trace: str
    id: str
    parent: str
    began: int
    ended: int
    notes: dict[str, str]
    # The spans that it is linked to.
    links: list[str]
    is_error: bool


class Collector:
    """Takes what it gets as long as `status` is 200, once `may_answer` is set."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.spans: list[Span] = []
        self.raw = b""
        self.status = 200
        self.requests = 0
        self.may_answer = threading.Event()
        self.may_answer.set()

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def below(self, span: Span) -> list[Span]:
        """Its parts, in the order of their beginnings."""
        parts = [other for other in self.spans if other.parent == span.id]
        return sorted(parts, key=lambda part: part.began)

    def take(self, body: bytes) -> int:
        self.requests += 1
        self.may_answer.wait()
        if self.status == 200:
            self.raw += body
            self.spans += _spans(body)
        return self.status


@contextmanager
def collecting() -> Iterator[Collector]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            status = collector.take(self.rfile.read(int(self.headers["content-length"])))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    collector = Collector(f"http://127.0.0.1:{server.server_address[1]}/v1/traces")
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield collector
    finally:
        collector.may_answer.set()
        server.shutdown()
        server.server_close()
        thread.join()


def _spans(body: bytes) -> Iterator[Span]:
    request = ExportTraceServiceRequest()
    request.ParseFromString(body)
    for resource in request.resource_spans:
        for scope in resource.scope_spans:
            for span in scope.spans:
                yield Span(
                    span.name,
                    span.trace_id.hex(),
                    span.span_id.hex(),
                    span.parent_span_id.hex(),
                    span.start_time_unix_nano,
                    span.end_time_unix_nano,
                    {
                        note.key: note.value.string_value or str(note.value.int_value)
                        for note in span.attributes
                    },
                    [link.span_id.hex() for link in span.links],
                    span.status.code == span.status.STATUS_CODE_ERROR,
                )
