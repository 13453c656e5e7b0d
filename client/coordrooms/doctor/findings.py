"""A line of the report."""

from __future__ import annotations

from typing import NamedTuple

from ..models import Json


class Finding(NamedTuple):
    """What was looked at, and how it is. `ok` is None where there is nothing to judge.

    `remedy` is what to do about it, for a line that fails.
    """

    subject: str
    ok: bool | None
    text: str
    remedy: str = ""

    def document(self) -> Json:
        return dict(self._asdict())
