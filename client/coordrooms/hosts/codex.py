"""Codex. As of November 2026, seen with 0.171.0.

Sources: developers.openai.com/codex/hooks; openai/codex, codex-rs/hooks (schemas in
schema/generated, which refuse unknown members).

* Hooks run once their user has trusted them (`/hooks`); what is trusted is noted in config.toml
  as `[hooks.state."<file>:<event>:<group>:<handler>"]`.
* Stop takes `decision` and a non-empty `reason`, and no `hookSpecificOutput`.
* Standard input is written whole and then closed; a hook that does not read it has failed.
* `codex queue` starts a turn in a session that is loaded and idle; in one that is not loaded the
  message waits for ever. A hook declared as asynchronous wakes nobody.
* An MCP server gets few variables of the environment, and those that `env_vars` names.
* A tool call ends after 60 s unless `tool_timeout_sec` says otherwise; the daemon lets one wait of
  Codex take up to 280 s.
"""

from __future__ import annotations

import os

from .facts import (
    QUEUED,
    SESSION,
    STOP,
    SUBAGENT,
    WAKE,
    WORK,
    Event,
    Host,
    Item,
    Place,
    Table,
    Whole,
    block,
    context,
    hook_line,
    server,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .facts import Edit, Json

TIMEOUT_S = 10
TOOL_TIMEOUT_S = 300
# What says where the daemon is, and who calls.
VARIABLES = (
    "COORDROOMS_URL",
    "COORDROOMS_CONVERSATION",
    "COORDROOMS_TOKEN_FILE",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
)

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
        folder = place.folder("CODEX_HOME", ".codex")
        skills = os.path.join(folder, "skills")
    else:
        folder = os.path.join(place.root, ".codex")
        skills = os.path.join(place.root, ".agents", "skills")
    hooks = os.path.join(folder, "hooks.json")
    registration = {
        **server(program),
        "env_vars": list(VARIABLES),
        "tool_timeout_sec": TOOL_TIMEOUT_S,
    }
    return [
        Table(os.path.join(folder, "config.toml"), "mcp_servers.coordrooms", registration),
        *(
            Item(
                hooks,
                ("hooks", event.name),
                {
                    "hooks": [
                        {
                            "type": "command",
                            "command": hook_line(program, event.name, "codex"),
                            "timeout": TIMEOUT_S,
                        }
                    ]
                },
            )
            for event in EVENTS[:-1]
        ),
        Whole(os.path.join(skills, "coordrooms", "SKILL.md"), "SKILL.md"),
    ]


def trusted(hooks: str, config: Json) -> bool:
    """Whether anything in the file `hooks` was trusted: the hash of what it was is Codex's own."""
    state = config.get("hooks", {}).get("state", {})
    return any(key.startswith(f"{hooks}:") and "trusted_hash" in state[key] for key in state)


HOST = Host(
    name="codex",
    title="Codex",
    program="codex",
    session_keys=("session_id",),
    events=EVENTS,
    waker=QUEUED,
    edits=edits,
    trusted=trusted,
    notes="Codex runs hooks once you have trusted them: open /hooks in a session and trust those "
    "of coordrooms.",
)
