"""A lease runs out at the daemon while this machine sleeps, and has to here."""

from __future__ import annotations

import time

import pytest

from coordrooms.addresses import UnixAddress
from coordrooms.leases import Lease
from coordrooms.sessions import Session


def test_a_lease_ends_while_the_machine_sleeps(monkeypatch: pytest.MonkeyPatch) -> None:
    awake, asleep = 1000.0, 0.0
    monkeypatch.setattr(time, "CLOCK_BOOTTIME", 7, raising=False)
    monkeypatch.setattr(time, "clock_gettime", lambda clock: {7: awake + asleep}[clock])
    monkeypatch.setattr(time, "monotonic", lambda: awake)
    session = Session(UnixAddress("/nowhere"))
    held = Lease(session, "r", "k", lease_s=60, proposed_by_seq=None, timeout_s=0)
    held._ends = session.clock() + 60
    assert not held.lost
    asleep = 61.0
    assert held.lost
