"""The tools as they are advertised: names, descriptions and schemas, from `tools.json`.

The file is the one truth. The client distribution carries a copy, for a relay without a daemon.
"""

from __future__ import annotations

import importlib.resources
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any

Schema = dict[str, Any]


@dataclass(frozen=True)
class Catalogue:
    """`tools` as in a result of `tools/list`; `instructions` as in one of `initialize`."""

    instructions: str
    tools: list[Schema]

    @cached_property
    def schemas(self) -> dict[str, Schema]:
        """What each tool takes, by its name."""
        return {tool["name"]: tool["inputSchema"] for tool in self.tools}


def load() -> Catalogue:
    text = (importlib.resources.files(__package__) / "tools.json").read_text("utf-8")
    return Catalogue(**json.loads(text))
