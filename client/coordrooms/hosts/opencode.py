"""opencode. As of November 2026, seen with 1.18.33.

Sources: opencode.ai/docs/plugins, /mcp-servers, /skills.

* It has no command hooks, so `assets/opencode.js` is a plugin that runs ours and hands on what
  they print: a part of the next prompt (`chat.message`), an addition to a tool's output
  (`tool.execute.after`), and `client.session.promptAsync` for an idle session.
* A part of a prompt needs an id, a session and a message of its own, or the prompt fails.
"""

from __future__ import annotations

import os

from .facts import PLUGGED, SESSION, WAKE, WORK, Event, Host, Member, Place, Whole

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .facts import Edit, Json


def _text(text: str) -> Json:
    return {"text": text}


EVENTS = (
    Event("session.start", SESSION, _text),
    Event("chat.message", WORK, _text),
    Event("tool.execute.after", WORK, _text),
    Event("session.idle", WAKE, _text),
)


def edits(place: Place, program: list[str]) -> list[Edit]:
    if place.root is None:
        config = place.folder("XDG_CONFIG_HOME", ".config")
        own, folder = os.path.join(config, "opencode"), os.path.join(config, "opencode")
    else:
        own, folder = place.root, os.path.join(place.root, ".opencode")
    # Both are read; a person who keeps comments has the second one.
    names = ("opencode.json", "opencode.jsonc")
    there = [name for name in names if os.path.exists(os.path.join(own, name))]
    registration = {"type": "local", "command": [*program, "mcp"], "enabled": True}
    return [
        Member(os.path.join(own, (there or names)[0]), ("mcp", "coordrooms"), registration),
        Whole(os.path.join(folder, "plugins", "coordrooms.js"), "opencode.js"),
        Whole(os.path.join(folder, "skills", "coordrooms", "SKILL.md"), "SKILL.md"),
    ]


HOST = Host(
    name="opencode",
    title="opencode",
    program="opencode",
    session_keys=("session_id",),
    events=EVENTS,
    waker=PLUGGED,
    edits=edits,
)
