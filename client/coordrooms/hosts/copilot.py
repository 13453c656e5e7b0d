"""GitHub Copilot CLI. As of November 2026, seen with 1.0.102.

Source: docs.github.com, "GitHub Copilot CLI hooks reference" (version 1 of the format).

* Every file in the folder of hooks is read, so ours is a file of its own.
* With names of events in camelCase the session is `sessionId`.
* agentStop with `block` starts another turn with the reason as its prompt. Nothing reaches an idle
  session.
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
    block,
    hook_line,
    server,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .facts import Edit, Json

TIMEOUT_S = 10


def _context(text: str) -> Json:
    return {"additionalContext": text}


EVENTS = (
    Event("sessionStart", SESSION, _context),
    Event("userPromptSubmitted", WORK, _context),
    Event("postToolUse", WORK, _context),
    Event("agentStop", STOP, block),
)


def edits(place: Place, program: list[str]) -> list[Edit]:
    if place.root is None:
        folder = place.folder("COPILOT_HOME", ".copilot")
        servers = os.path.join(folder, "mcp-config.json")
    else:
        folder = os.path.join(place.root, ".github")
        servers = os.path.join(folder, "mcp.json")
    hooks = os.path.join(folder, "hooks", "coordrooms.json")
    registration = {"type": "local", **server(program), "tools": ["*"]}
    return [
        Member(servers, ("mcpServers", "coordrooms"), registration),
        Needed(hooks, ("version",), 1),
        *(Item(hooks, ("hooks", event.name), _hook(event, program)) for event in EVENTS),
        Whole(os.path.join(folder, "skills", "coordrooms", "SKILL.md"), "SKILL.md"),
    ]


def _hook(event: Event, program: list[str]) -> Json:
    line = hook_line(program, event.name, "copilot")
    return {"type": "command", "bash": line, "timeoutSec": TIMEOUT_S}


HOST = Host(
    name="copilot",
    title="Copilot CLI",
    program="copilot",
    session_keys=("sessionId", "session_id"),
    events=EVENTS,
    waker=NOT_WOKEN,
    edits=edits,
)
