"""How many faults of a call are named."""

from __future__ import annotations

from typing import Any

import pytest

from coordroomsd.api.fields import MOST_FAULTS, checked
from coordroomsd.api.schemas import Confirm, NewMessages, Nothing
from coordroomsd.domain.errors import Refusal


def faults(model: type[Confirm] | type[NewMessages], body: dict[str, Any]) -> list[dict[str, str]]:
    with pytest.raises(Refusal) as caught:
        checked(model, body, Nothing, [])
    errors: list[dict[str, str]] = caught.value.extra["errors"]
    return errors


def test_all_that_a_call_of_the_right_shape_can_have() -> None:
    bad = {"kind": 1, "body": 2, "reply_to": "x", "more": 1}
    named = [fault["field"] for fault in faults(NewMessages, {"messages": [bad] * 100})]
    assert len(named) == 400
    assert named[-1] == "messages[99].more"
    assert len(faults(Confirm, {"cursors": {f"room-{n}": -1 for n in range(1000)}})) == 1000


@pytest.mark.parametrize("where", ["body", "message"])
def test_a_flood_of_them_is_counted(where: str) -> None:
    flood = {f"field-{number}": 1 for number in range(MOST_FAULTS + 1)}
    good = {"kind": "decision", "body": "x"}
    body = {"messages": [good]} | flood if where == "body" else {"messages": [good | flood]}
    assert faults(NewMessages, body) == [{"field": "", "problem": f"has {len(flood)} faults"}]
