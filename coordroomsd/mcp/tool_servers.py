"""The SDK's server with our tools: one object for all connections and both eras of the protocol.

The low-level server checks no arguments and, on a connection that began with a handshake, sends the
text of an exception to the peer. So the one handler of calls here checks, and lets nothing through.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, Final

from mcp import types
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server

from coordroomsd import __version__
from coordroomsd.domain.errors import Refusal
from coordroomsd.live.tracing import Parent, Tracing
from coordroomsd.mcp import arguments, catalogues, waits
from coordroomsd.mcp.agents import Agent, Json
from coordroomsd.mcp.failures import failure
from coordroomsd.mcp.hosts import longest_wait_s
from coordroomsd.mcp.tools import TOOLS

Context = ServerRequestContext[Any, Any]

# Tells hosts that count the silence that a wait is alive, and proxies that its stream is.
PROGRESS_EVERY_S: Final = 15.0
# What the relay says about a wait: how long it had waited at an earlier daemon and, where no first
# line says it, the longest that the user lets a wait take.
WAITED_KEY: Final = "coordrooms/waited_s"
MAX_WAIT_KEY: Final = "coordrooms/max_wait_s"
# And about every call with numbers: which life of the database they are from.
GENERATION_KEY: Final = "coordrooms/generation"


def tool_server(
    agent_of: Callable[[Any], Agent],
    in_flight: Callable[[], AbstractContextManager[None]],
    tracing: Tracing,
) -> Server[Any]:
    """`agent_of` tells whose call it is, from what the transport attached to it (`ctx.request`).

    `in_flight` is entered for as long as a call takes. Each tool is one span of `tracing`.
    """
    catalogue = catalogues.load()
    listed = types.ListToolsResult(
        tools=[types.Tool.model_validate(tool) for tool in catalogue.tools]
    )

    async def list_tools(ctx: Context, _: Any) -> types.ListToolsResult:
        return listed

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        schema = catalogue.schemas.get(params.name, {})
        with in_flight():
            try:
                if not schema:
                    raise Refusal("not_found", f"There is no tool {params.name[:100]!r}.")
                given = arguments.checked(schema, params.arguments or {})
                agent = agent_of(ctx.request).named(given.get("conversationId"))
                agent = replace(agent, generation=_text(ctx, GENERATION_KEY))
                if "conversationId" in schema["properties"]:
                    agent.check_named()
                parent = Parent(_text(ctx, "traceparent"), _text(ctx, "tracestate"))
                with tracing.span(f"tools/call {params.name}", parent):
                    return _shown({"result": await _called(ctx, params.name, agent, given)})
            except Exception as error:  # whatever it is, its text is not the caller's
                return _shown(failure(error, schema), is_error=True)

    server: Server[Any] = Server(
        "coordrooms",
        version=__version__,
        instructions=catalogue.instructions,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
    # It traces for the process's own provider, which nobody sets, and would run with every message.
    server.middleware.clear()
    return server


async def _called(ctx: Context, name: str, agent: Agent, given: Json) -> Json:
    if name == "wait":
        return await _waited(ctx, agent, given)
    return await TOOLS[name](agent, given)


async def _waited(ctx: Context, agent: Agent, given: Json) -> Json:
    client = ctx.session.client_params
    limits = waits.Limits(
        agent.max_wait_s
        or _seconds(ctx, MAX_WAIT_KEY)
        or longest_wait_s(client.client_info.name if client else None),
        _seconds(ctx, WAITED_KEY),
    )
    progress = asyncio.create_task(_report_progress(ctx, limits.waited_s))
    try:
        return await waits.wait(agent, given, limits)
    finally:
        progress.cancel()


async def _report_progress(ctx: Context, waited_s: float) -> None:
    """Say how many seconds it has been. Nothing is sent to a host that did not ask for it."""
    if not (ctx.meta or {}).get("progress_token"):
        return
    while True:
        await asyncio.sleep(PROGRESS_EVERY_S)
        waited_s += PROGRESS_EVERY_S
        await ctx.session.report_progress(waited_s, message="waiting")


def _seconds(ctx: Context, key: str) -> float:
    """A number in the call's `_meta`; 0 when it is not there, or is none."""
    match (ctx.meta or {}).get(key):
        case bool():
            return 0.0
        case int() | float() as seconds if 0 <= seconds < math.inf:
            return float(seconds)
    return 0.0


def _text(ctx: Context, key: str) -> str | None:
    """A text in the call's `_meta`; None when it is not there, or is none."""
    value = (ctx.meta or {}).get(key)
    return value if isinstance(value, str) and value else None


def _shown(body: Json, *, is_error: bool = False) -> types.CallToolResult:
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)],
        structured_content=body,
        is_error=is_error,
    )
