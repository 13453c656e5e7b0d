"""Claude Code. As of November 2026, seen with 2.1.332.

Sources: code.claude.com/docs/en/hooks, /mcp, /skills.

* A subagent has its parent's `session_id` and an `agent_id` of its own.
* After PostToolUse only the JSON form reaches the model. Strings are cut at 10,000 characters. On
  time-out (ours: 10 s) the output is thrown away.
* After Stop at most 8 continuations in a row.
* `asyncRewake`: the hook goes on in the background, and when it ends with 2 the model is woken and
  reads its standard error. With `-p` it is waited for like any other, until its time-out: there it
  has to end at once.
"""

from __future__ import annotations

import os

from .facts import (
    REWAKEN,
    SESSION,
    STOP,
    SUBAGENT,
    WAKE,
    WORK,
    Event,
    Host,
    Item,
    Member,
    Place,
    Whole,
    block,
    context,
    hook_line,
    server,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from .facts import Edit, Json

# As long as a day: an agent that nobody spoke to by then is woken by its user.
WAKER_TIMEOUT_S = 86_400
TIMEOUT_S = 10

EVENTS = (
    Event("SessionStart", SESSION, context("SessionStart")),
    Event("SubagentStart", SUBAGENT, context("SubagentStart")),
    Event("UserPromptSubmit", WORK, context("UserPromptSubmit")),
    Event("PostToolUse", WORK, context("PostToolUse")),
    Event("Stop", STOP, block),
    Event("Wake", WAKE, block),
)


def edits(place: Place, program: list[str]) -> list[Edit]:
    if place.root is None:
        folder = place.folder("CLAUDE_CONFIG_DIR", ".claude")
        own = folder if folder != place.home(".claude") else place.home()
        servers = os.path.join(own, ".claude.json")
    else:
        folder = os.path.join(place.root, ".claude")
        servers = os.path.join(place.root, ".mcp.json")
    settings = os.path.join(folder, "settings.json")
    return [
        Member(servers, ("mcpServers", "coordrooms"), {"type": "stdio", **server(program)}),
        *(Item(settings, ("hooks", event.name), _group(event, program)) for event in EVENTS[:-1]),
        Whole(os.path.join(folder, "skills", "coordrooms", "SKILL.md"), "SKILL.md"),
    ]


def attended(environment: Mapping[str, str]) -> bool:
    told = environment.get("CLAUDE_CODE_SESSION_ATTENDED")
    if told is None:  # older than 2.1.300 or so
        return environment.get("CLAUDE_CODE_ENTRYPOINT") == "cli"
    return told == "1"


def _group(event: Event, program: list[str]) -> Json:
    handler = {"type": "command", "command": hook_line(program, event.name, "claude")}
    handlers: list[Json] = [{**handler, "timeout": TIMEOUT_S}]
    if event.moment == STOP:
        waker = {**handler, "command": hook_line(program, WAKE, "claude")}
        handlers.append({**waker, "timeout": WAKER_TIMEOUT_S, "asyncRewake": True})
    return {"hooks": handlers}


HOST = Host(
    name="claude",
    title="Claude Code",
    program="claude",
    session_keys=("session_id",),
    events=EVENTS,
    waker=REWAKEN,
    attended=attended,
    edits=edits,
)
