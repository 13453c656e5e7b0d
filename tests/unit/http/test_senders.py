from __future__ import annotations

import pytest

from coordroomsd.http.senders import Senders


@pytest.fixture
def refused() -> list[str]:
    return []


@pytest.fixture
def senders() -> Senders:
    return Senders(most_bytes=10)


def sends(senders: Senders, refused: list[str], name: str, size: int) -> None:
    def refuse() -> None:
        refused.append(name)
        senders.is_done(name)

    senders.has_sent(name, size, refuse)


def test_the_longest_at_it_give_way(senders: Senders, refused: list[str]) -> None:
    for name in "abc":
        sends(senders, refused, name, 2)
    # To have sent more makes nobody younger.
    sends(senders, refused, "a", 4)
    assert (refused, senders.unfinished_bytes()) == ([], 8)
    sends(senders, refused, "d", 5)
    assert (refused, senders.unfinished_bytes()) == (["a"], 9)
    sends(senders, refused, "e", 9)
    assert (refused, senders.unfinished_bytes()) == (["a", "b", "c", "d"], 9)


def test_one_alone_may_be_larger(senders: Senders, refused: list[str]) -> None:
    sends(senders, refused, "a", 50)
    assert refused == []


def test_who_is_done_makes_room(senders: Senders, refused: list[str]) -> None:
    sends(senders, refused, "a", 9)
    senders.is_done("a")
    senders.is_done("a")
    senders.is_done("stranger")
    sends(senders, refused, "b", 9)
    assert (refused, senders.unfinished_bytes()) == ([], 9)
