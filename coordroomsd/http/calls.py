"""The calls below /api/v1, answered."""

from __future__ import annotations

from collections.abc import Coroutine
from typing import Any

import orjson

from coordroomsd.api.call import Call, Operation, Request
from coordroomsd.api.callers import CONVERSATION_HEADER, WAKE_HEADER, Caller
from coordroomsd.api.pipeline import KEY_HEADER, Api, refusal_of
from coordroomsd.api.routes import BASE
from coordroomsd.api.streaming import Stream
from coordroomsd.domain.errors import Refusal
from coordroomsd.http.bounds import Bounds
from coordroomsd.http.credentials import (
    NOBODY,
    PAGE_HEADER,
    Pages,
    Tokens,
    identify,
)
from coordroomsd.http.exchanges import Exchange, Head
from coordroomsd.http.guard import Guard
from coordroomsd.http.peers import address_of, origin_of
from coordroomsd.http.replies import headers_of_answer, headers_of_refusal
from coordroomsd.http.requests import CrowdedError, LargeError, LateError, parse_body, query_pairs
from coordroomsd.http.sse import send_stream
from coordroomsd.live.metrics import Metrics
from coordroomsd.live.tracing import CURRENT, Parent, Span

EVENT_STREAM = "text/event-stream"
_CONVERSATION = CONVERSATION_HEADER.lower().encode()
_WAKE = WAKE_HEADER.lower().encode()
_KEY = KEY_HEADER.lower().encode()


class Calls:
    """`pages` knows the callers that have a session, which count over TCP alone."""

    def __init__(
        self,
        api: Api,
        tokens: Tokens,
        metrics: Metrics,
        guard: Guard | None,
        pages: Pages | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        self.bounds = bounds or Bounds(dropping=api.services.refusals)
        self._api = api
        self._tokens = tokens
        self._metrics = metrics
        self._guard = guard
        self._pages = pages
        self._refusals = api.services.refusals
        self._tracing = api.services.tracing

    def answer(self, exchange: Exchange) -> Coroutine[Any, Any, None]:
        return self._traced(exchange) if self._tracing.is_on else self._answer(exchange)

    async def _traced(self, exchange: Exchange) -> None:
        head = exchange.head
        method = head.method.decode("ascii", "replace")
        parent = Parent(head.get(b"traceparent"), head.get(b"tracestate"))
        with self._tracing.span(method, parent) as span:
            await self._answer(exchange, span)

    async def _answer(self, exchange: Exchange, span: Span | None = None) -> None:
        operation = None
        try:
            try:
                operation, request = self._request(exchange)
            except Refusal as early:
                if early.code != "unauthorized" or not await self._api.knows_more_people():
                    raise
                operation, request = self._request(exchange)
            call = await self._api.opened(operation, request)
            if call.operation.streams and EVENT_STREAM in (exchange.head.get(b"accept") or ""):
                await self._stream(call, exchange)
                return
            if call.operation.parks:
                exchange.park()
            answer = await self._api.run(call)
        except Exception as error:
            refusal = refusal_of(error)
            self._note(refusal, exchange, operation)
            if exchange.more_body or isinstance(error, LargeError):
                exchange.keep_alive = False
            body = orjson.dumps(refusal.problem())
            await exchange.reply(refusal.status, headers_of_refusal(refusal), body)
            if span:
                span.answered(refusal.status, refusal.code)
        else:
            await exchange.reply(answer.status, headers_of_answer(answer), answer.body)
            if answer.woken_at is not None:
                now = self._api.services.clock.monotonic()
                self._metrics.wake_seconds.add(now - answer.woken_at)
                if span:
                    span.part("wake", answer.woken_at, now)
            if span:
                span.answered(answer.status, None)

    def _note(self, refusal: Refusal, exchange: Exchange, operation: Operation | None) -> None:
        head = exchange.head
        name = operation.id if operation else head.method.decode("ascii", "replace")
        self._refusals.note(refusal, name, origin_of(head.peer), head.get(_CONVERSATION))

    def _request(self, exchange: Exchange) -> tuple[Operation, Request]:
        head = exchange.head
        if self._guard:
            self._guard.check(head.peer, head.headers)
        path = head.path.decode("ascii", "replace").removeprefix(BASE)
        try:
            operation, parameters = self._api.routes.match(head.method.decode("ascii"), path)
        except Refusal:
            self._caller(head)
            raise
        if operation.by_address:
            caller = NOBODY
            self._api.services.buckets.spend(operation.by_address, address_of(head.peer), 1)
        else:
            caller = self._caller(head)
        request = Request(
            caller,
            parameters,
            query_pairs(head.query),
            _body_of(exchange),
            head.get(_CONVERSATION),
            head.get(_KEY),
            head.get(b"last-event-id"),
            head.get(_WAKE),
        )
        return operation, request

    def _caller(self, head: Head) -> Caller:
        if self._pages and head.peer.uid is None and head.get(PAGE_HEADER) is not None:
            return self._pages.caller(head.get)
        return identify(head.peer, head.get(b"authorization"), self._tokens)

    async def _stream(self, call: Call, exchange: Exchange) -> None:
        exchange.park()
        self._api.check_fields(call)
        stream = await Stream.begin(call)
        if span := CURRENT.get():
            # It may go on for days, and would be told of at its end.
            span.answered(200, None)
            span.end()
        await send_stream(exchange, stream)


def _body_of(exchange: Exchange) -> object:
    if exchange.is_too_large:
        raise LargeError
    if exchange.is_crowded:
        raise CrowdedError
    if exchange.is_late:
        raise LateError(exchange.body_within_s)
    return parse_body(exchange.head.get(b"content-type"), exchange.take_body())
