"""The agent hosts that we know: one file for each, with all that is particular about it."""

from __future__ import annotations

from .facts import Host

NAMES = ("claude", "codex", "copilot", "cursor", "gemini", "opencode")
ALIASES = {"claude-code": "claude", "gemini-cli": "gemini", "copilot-cli": "copilot"}


def load(name: str) -> Host | None:
    """The host of a name or an alias; None when there is no such host."""
    name = ALIASES.get(name, name)
    if name not in NAMES:
        return None
    # Only this one: a hook runs at every tool call, for one host.
    from importlib import import_module

    host: Host = import_module(f".{name}", __name__).HOST
    return host
