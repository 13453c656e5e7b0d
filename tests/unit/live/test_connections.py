from __future__ import annotations

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.live.connections import Connections


def test_so_many_and_from_one_not_all_of_them() -> None:
    connections = Connections(most=3, most_of_one=2)
    connections.enter(1000)
    connections.enter(1000)
    with pytest.raises(Refusal, match="2 connections are open from one user") as refused:
        connections.enter(1000)
    assert refused.value.extra["retry_after_s"] > 0
    connections.enter("192.0.2.7")
    with pytest.raises(Refusal, match="3 connections are open, which"):
        connections.enter("192.0.2.8")
    connections.leave(1000)
    connections.enter("192.0.2.8")
    assert len(connections) == 3


def test_limits_may_change_and_whoever_is_in_stays() -> None:
    connections = Connections(most=2, most_of_one=2)
    connections.enter(1)
    connections.enter(1)
    connections.most = connections.most_of_one = 1
    with pytest.raises(Refusal):
        connections.enter(2)
    connections.leave(1)
    connections.leave(1)
    connections.enter(2)
    assert len(connections) == 1
