"""What is served beside the calls: is the process alive, can it serve, and what it serves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coordroomsd.http.credentials import Tokens, identify
from coordroomsd.http.peers import PEER
from coordroomsd.live.metrics import CONTENT_TYPE, Metrics


def probe_routes(
    ready: Callable[[], Awaitable[None]],
    document: dict[str, Any],
    metrics: Metrics,
    tokens: Tokens,
) -> list[Route]:
    """These raise what they refuse.

    `ready` raises what keeps the daemon from serving; `document` is the OpenAPI description.
    """
    description = orjson.dumps(document)

    async def healthz(_: Request) -> Response:
        return JSONResponse({"status": "alive"})

    async def readyz(_: Request) -> Response:
        await ready()
        return JSONResponse({"status": "ready"})

    async def openapi(_: Request) -> Response:
        return Response(description, media_type="application/json")

    async def exposition(request: Request) -> Response:
        peer = request.scope["extensions"][PEER]
        identify(peer, request.headers.get("authorization"), tokens)
        return Response(metrics.exposition(), headers={"content-type": CONTENT_TYPE})

    return [
        Route("/metrics", exposition),
        Route("/healthz", healthz),
        Route("/readyz", readyz),
        Route("/openapi.json", openapi),
    ]
