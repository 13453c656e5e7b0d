"""SQL lives in `.sql` files, in which `-- name: …` begins each statement."""

from __future__ import annotations

import re
from importlib import resources

_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


def load(file_name: str) -> dict[str, str]:
    """The statements of one file of this package, by name."""
    text = resources.files(__package__).joinpath(file_name).read_text("utf-8")
    _, *parts = _NAME.split(text)
    statements = {name: sql.strip() for name, sql in zip(parts[::2], parts[1::2], strict=True)}
    assert len(statements) == len(parts) // 2, f"{file_name} has a name twice"
    return statements
