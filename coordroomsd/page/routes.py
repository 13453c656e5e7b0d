"""The page's own routes: its files, signing in and out, and the overview.

All else that the page does, it does by the calls below /api/v1.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Route

from coordroomsd.api.call import Operation
from coordroomsd.api.pipeline import refusal_of
from coordroomsd.api.services import Services
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.text import instant
from coordroomsd.http.credentials import Tokens, identify
from coordroomsd.http.peers import PEER, origin_of
from coordroomsd.http.replies import headers_of_refusal
from coordroomsd.http.requests import LargeError, parse_body
from coordroomsd.live.refusals import Refusals
from coordroomsd.page.assets import HEADERS, SHELL, Assets
from coordroomsd.page.overview import Overview, seen_in
from coordroomsd.page.sessions import (
    SESSION_LASTS,
    Header,
    Sessions,
    check_is_own,
    cookie_name,
)

# The overview's numbers of a thousand rooms; a code is far less.
_MAX_BYTES = 64 * 1024

# Over the page's own listener neither of these has a use: who has a session is in.
NOT_FOR_PAGES = ("enroll", "offerEnrollment", "revokeTokens")

Handler = Callable[[Request], Awaitable[Response]]


def operations_for_pages(operations: tuple[Operation, ...]) -> tuple[Operation, ...]:
    """The calls that are served where only the page is."""
    return tuple(one for one in operations if one.id not in NOT_FOR_PAGES)


def page_routes(
    sessions: Sessions, services: Services, tokens: Tokens, origin: Callable[[], Awaitable[str]]
) -> list[BaseRoute]:
    """`origin` is where a browser of this host finds the page."""
    assets = Assets()

    async def shell(request: Request) -> Response:
        if request.path_params["path"].startswith("api/"):
            raise Refusal("not_found", f"Nothing is served at {request.url.path}.")
        return assets.answer(SHELL, request)

    async def asset(request: Request) -> Response:
        return assets.answer(request.path_params["name"], request)

    async def to_the_page(_: Request) -> Response:
        return RedirectResponse("/page/", 307, HEADERS)

    async def offer_link(request: Request) -> Response:
        peer = request.scope["extensions"][PEER]
        caller = identify(peer, request.headers.get("authorization"), tokens)
        offered = sessions.offer(caller)
        return _answer(
            {
                # Over TCP the caller knows under which name it reaches us; we do not.
                "origin": None if peer.uid is None else await origin(),
                "path": f"/page/open#{offered.code}",
                "expires_at": instant(offered.expires_at),
            },
            201,
        )

    async def sign_in(request: Request) -> Response:
        header = _headers_of(request)
        check_is_own(header)
        body = await _body(request)
        code = body.get("code")
        if not isinstance(code, str):
            raise invalid("code", "should be the code of a link")
        opened = sessions.take_up(code)
        response = _answer({"key": opened.key, "name": opened.person.name}, 201)
        _set_cookie(response, request, opened.cookie, int(SESSION_LASTS.total_seconds()))
        return response

    async def sign_out(request: Request) -> Response:
        sessions.end(_headers_of(request))
        response = _answer({"signed_out": True})
        _set_cookie(response, request, "", 0)
        return response

    async def overview(request: Request) -> Response:
        caller = sessions.caller(_headers_of(request))
        seen = seen_in((await _body(request)).get("seen"))
        stream = Overview(services, caller, seen)
        stream.register()
        return StreamingResponse(
            stream.chunks(),
            headers=HEADERS | {"x-accel-buffering": "no", "cache-control": "no-store"},
            media_type="text/event-stream",
        )

    route = functools.partial(_route, services.refusals)
    return [
        route("/", to_the_page),
        route("/page", to_the_page),
        route("/page/api/links", offer_link, "POST"),
        route("/page/api/session", sign_in, "POST"),
        route("/page/api/session", sign_out, "DELETE"),
        route("/page/api/overview", overview, "POST"),
        route("/page/assets/{name:path}", asset),
        route("/page/{path:path}", shell),
    ]


def _route(refusals: Refusals, path: str, handler: Handler, method: str = "GET") -> Route:
    async def guarded(request: Request) -> Response:
        try:
            return await handler(request)
        except Exception as error:
            refusal = refusal_of(error)
            origin = origin_of(request.scope["extensions"][PEER])
            refusals.note(refusal, f"{method} of the page", origin, None)
            headers = {name.decode(): value.decode() for name, value in headers_of_refusal(refusal)}
            return Response(orjson.dumps(refusal.problem()), refusal.status, HEADERS | headers)

    return Route(path, guarded, methods=[method])


def _answer(value: dict[str, Any], status: int = 200) -> Response:
    return JSONResponse(value, status, HEADERS | {"cache-control": "no-store"})


def _headers_of(request: Request) -> Header:
    return lambda name: request.headers.get(name.decode())


async def _body(request: Request) -> dict[str, Any]:
    """Raises `payload_too_large`, `unsupported_media_type` or `invalid_arguments`."""
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > _MAX_BYTES:
            raise LargeError
    value = parse_body(request.headers.get("content-type"), body)
    if not isinstance(value, dict):
        raise invalid("", "the request's body should be a JSON object")
    return value


def _set_cookie(response: Response, request: Request, value: str, max_age_s: int) -> None:
    # The daemon itself speaks no TLS; the browser knows whether a proxy does.
    is_secure = request.headers.get("origin", "").lower().startswith("https:")
    response.set_cookie(
        cookie_name(request.headers.get("host", "")),
        value,
        max_age=max_age_s,
        path="/",
        secure=is_secure,
        httponly=True,
        samesite="strict",
    )
