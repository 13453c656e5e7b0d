"""How a load talks to the one who started it."""

from __future__ import annotations

import json
import sys
from typing import Any


def asked() -> Any:
    """What the load is to do."""
    return json.loads(sys.argv[1])


def say(found: Any) -> None:
    sys.stdout.write(json.dumps(found) + "\n")
    sys.stdout.flush()


def until_told() -> None:
    """Raises EOFError when nobody is there any more."""
    if not sys.stdin.readline():
        raise EOFError("the bench has ended")
