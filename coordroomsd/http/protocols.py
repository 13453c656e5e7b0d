"""The protocol of the HTTP listeners: calls go their own short way, the rest is uvicorn's."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

import httptools

from coordroomsd.api.routes import BASE
from coordroomsd.http.bounds import Bounds
from coordroomsd.http.exchanges import Connection, Exchange, Head
from coordroomsd.http.peers import PeerProtocol

_CALLS = f"{BASE}/".encode()


class CallProtocol(PeerProtocol):
    """`serve` answers what is below /api/v1; everything else goes to the ASGI application."""

    _connection: Connection | None = None

    def __init__(
        self,
        serve: Callable[[Exchange], Coroutine[Any, Any, None]],
        bounds: Bounds,
        **arguments: Any,
    ) -> None:
        super().__init__(**arguments)
        self._serve = serve
        self.bounds = bounds

    def expect_body(self) -> None:
        if isinstance(self.cycle, Exchange):
            # Which answers one that does not come.
            self.cycle.expect_body()
        else:
            super().expect_body()

    def begin_answering(self) -> None:
        url = httptools.parse_url(self.url)
        if not url.path.startswith(_CALLS):
            super().begin_answering()
            return
        if self._connection is None:
            self._connection = Connection(
                self.transport,
                self.flow,
                self.loop,
                self.tasks,
                self.on_response_complete,
                self.bounds,
            )
        head = Head(
            self.parser.get_method(),
            url.path,
            url.query or b"",
            self.headers,
            dict(reversed(self.headers)),
            self.peer,
        )
        keep_alive = self.parser.get_http_version() != "1.0" and self.parser.should_keep_alive()
        # All that uvicorn does with a cycle an exchange takes as well.
        self.cycle = Exchange(  # type: ignore[assignment]
            head, self._connection, self._serve, keep_alive=keep_alive
        )
        if self.expect_100_continue:
            self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
