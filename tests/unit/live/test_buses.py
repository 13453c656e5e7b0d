from __future__ import annotations

import pytest

from coordroomsd.live.buses import IDENTITIES, Hint, hint_of, texts

LARGEST = 2**63 - 1


def test_a_hint_is_heard_as_it_was_sent() -> None:
    hint = Hint(7, 1_800_000_000_123, {IDENTITIES: 2, LARGEST: 40})
    [text] = texts(hint)
    assert hint_of(text) == hint


def test_each_text_is_small_enough_for_postgres() -> None:
    versions = {LARGEST - number: LARGEST for number in range(1000)}
    parts = list(texts(Hint(LARGEST, LARGEST, versions)))
    assert max(map(len, parts)) < 8000
    heard = [hint for part in parts if (hint := hint_of(part))]
    assert {room: one for hint in heard for room, one in hint.versions.items()} == versions


@pytest.mark.parametrize("text", ["", "x", "1", "1 2 3", "1 2 3.4.5", "1 2 x.1", "a 2 1.1"])
def test_what_no_daemon_has_sent_is_no_hint(text: str) -> None:
    assert hint_of(text) is None
