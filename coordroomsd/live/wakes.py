"""How each participant can be woken while it is idle, as its host's hooks have said."""

from __future__ import annotations

from collections import OrderedDict
from typing import Literal, get_args

# push: its host starts a turn when something comes; hook: it hears with its next turn.
Wake = Literal["push", "hook"]
WAKES = frozenset(get_args(Wake))
KEPT = 50_000


class Wakes:
    """In memory alone: after a restart a session's next hook says it again."""

    def __init__(self) -> None:
        self._said: OrderedDict[tuple[str, str], str] = OrderedDict()

    def note(self, project: str, conversation_id: str, wake: str) -> None:
        """What a hook sent; anything that is no wake is passed over."""
        if wake not in WAKES:
            return
        name = (project, conversation_id)
        self._said[name] = wake
        self._said.move_to_end(name)
        if len(self._said) > KEPT:
            self._said.popitem(last=False)

    def of(self, project: str, conversation_id: str) -> str:
        """`none` when no hook was ever heard of."""
        return self._said.get((project, conversation_id), "none")
