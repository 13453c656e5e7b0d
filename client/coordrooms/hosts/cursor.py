"""Cursor. As of November 2026; not on any package registry, so known by its documents alone.

Source: cursor.com/docs/hooks (`hooks.json`, version 1).

* One unknown name of an event makes the whole file void, so only documented ones are used.
* The session is `conversation_id`. `stop` may answer with `followup_message` only, which is sent
  as the next prompt, at most `loop_limit` times in a row. Nothing reaches an idle session.
"""

from __future__ import annotations

import os

from .facts import (
    NOT_WOKEN,
    SESSION,
    STOP,
    WORK,
    Event,
    Host,
    Item,
    Member,
    Needed,
    Place,
    Whole,
    hook_line,
    server,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .facts import Edit, Json

TIMEOUT_S = 10
LOOP_LIMIT = 5


def _context(text: str) -> Json:
    return {"additional_context": text}


def _follow_up(text: str) -> Json:
    return {"followup_message": text}


EVENTS = (
    Event("sessionStart", SESSION, _context),
    Event("postToolUse", WORK, _context),
    Event("stop", STOP, _follow_up),
)


def edits(place: Place, program: list[str]) -> list[Edit]:
    folder = place.home(".cursor") if place.root is None else os.path.join(place.root, ".cursor")
    hooks = os.path.join(folder, "hooks.json")
    return [
        Member(os.path.join(folder, "mcp.json"), ("mcpServers", "coordrooms"), server(program)),
        Needed(hooks, ("version",), 1),
        *(Item(hooks, ("hooks", event.name), _hook(event, program)) for event in EVENTS),
        Whole(os.path.join(folder, "skills", "coordrooms", "SKILL.md"), "SKILL.md"),
    ]


def _hook(event: Event, program: list[str]) -> Json:
    hook = {"command": hook_line(program, event.name, "cursor"), "timeout": TIMEOUT_S}
    return {**hook, "loop_limit": LOOP_LIMIT} if event.moment == STOP else hook


HOST = Host(
    name="cursor",
    title="Cursor",
    program="cursor",
    session_keys=("conversation_id",),
    events=EVENTS,
    waker=NOT_WOKEN,
    edits=edits,
)
