"""Gemini CLI. As of November 2026, seen with 0.61.0.

Source: docs/hooks/reference.md and docs/reference/configuration.md of google-gemini/gemini-cli.

* Standard output must be JSON. Where it is empty, standard error is shown to the user as a message.
* Time-outs are in milliseconds.
* AfterAgent with `deny` starts a new turn with the reason as its prompt. Nothing reaches an idle
  session.
* Hooks of a project are taken for untrusted until their folder is trusted.
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
    Place,
    Whole,
    context,
    hook_line,
    server,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .facts import Edit, Json

TIMEOUT_MS = 10_000


def _deny(text: str) -> Json:
    return {"decision": "deny", "reason": text}


EVENTS = (
    Event("SessionStart", SESSION, context("SessionStart")),
    Event("BeforeAgent", WORK, context("BeforeAgent")),
    Event("AfterTool", WORK, context("AfterTool")),
    Event("AfterAgent", STOP, _deny),
)


def edits(place: Place, program: list[str]) -> list[Edit]:
    folder = place.home(".gemini") if place.root is None else os.path.join(place.root, ".gemini")
    settings = os.path.join(folder, "settings.json")
    return [
        Member(settings, ("mcpServers", "coordrooms"), server(program)),
        *(Item(settings, ("hooks", event.name), _group(event, program)) for event in EVENTS),
        Whole(os.path.join(folder, "skills", "coordrooms", "SKILL.md"), "SKILL.md"),
    ]


def _group(event: Event, program: list[str]) -> Json:
    return {
        "hooks": [
            {
                "name": "coordrooms",
                "type": "command",
                "command": hook_line(program, event.name, "gemini"),
                "timeout": TIMEOUT_MS,
            }
        ]
    }


HOST = Host(
    name="gemini",
    title="Gemini CLI",
    program="gemini",
    session_keys=("session_id",),
    events=EVENTS,
    waker=NOT_WOKEN,
    edits=edits,
    shows_errors=True,
)
