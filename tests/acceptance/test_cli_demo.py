"""`coordrooms demo`: it plays, it checks, and it fails loudly when something is amiss."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from coordrooms.cli.demo.scripts import SCRIPT
from tests.acceptance.daemons import Daemon
from tests.polling import GIVE_UP_AFTER_S, block_until


@pytest.fixture
def environment(daemon: Daemon) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "COORDROOMS_URL": daemon.url, "PYTHONPATH": "client"}


def demo(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "coordrooms", "demo", *arguments]


def test_two_agents_come_to_a_decision(environment: dict[str, str]) -> None:
    done = subprocess.run(
        demo(), env=environment, capture_output=True, text=True, timeout=GIVE_UP_AFTER_S
    )
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    places = [shown.index(line.body) for line in SCRIPT]
    assert places == sorted(places)
    numbers = [int(line.split()[0]) for line in shown.splitlines()[:15]]
    assert numbers == list(range(1, 16))
    assert "10 messages, events 1 to 15: nothing lost, nothing repeated" in shown


def test_it_can_be_played_under_ones_own_name(
    environment: dict[str, str], unique: Callable[[str], str]
) -> None:
    done = subprocess.run(
        demo("--as", unique("ann")),
        env=environment,
        capture_output=True,
        text=True,
        timeout=GIVE_UP_AFTER_S,
    )
    assert (done.returncode, done.stderr) == (0, "")
    names = [line.split()[2] for line in done.stdout.splitlines()[:15]]
    assert set(names) == {"ada", "bob", "audience"}, "though all are called the same in the room"


def test_it_can_be_read_while_it_happens(environment: dict[str, str]) -> None:
    process = subprocess.Popen(
        demo("--pace", "0.05"), env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    first = [process.stdout.readline() for _ in range(4)]
    assert SCRIPT[0].body in first[3]
    assert process.poll() is None, "it is not over yet"
    rest, _ = process.communicate(timeout=GIVE_UP_AFTER_S)
    assert "nothing lost" in rest
    assert process.returncode == 0


def agents_of(process: subprocess.Popen[str]) -> Iterator[int]:
    """The processes that this one started."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    yield from map(int, children.read_text().split())


def slow_demo(environment: dict[str, str]) -> subprocess.Popen[str]:
    """One whose agents are there, and say nothing more for a while."""
    process = subprocess.Popen(
        demo("--pace", "600"),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    return process


def test_an_agent_that_dies_is_told(environment: dict[str, str]) -> None:
    process = slow_demo(environment)
    ada, bob = agents_of(process)
    os.kill(bob, signal.SIGKILL)
    shown, complaint = process.communicate(timeout=GIVE_UP_AFTER_S)
    assert process.returncode == 1
    assert re.fullmatch(r"coordrooms demo: The agent bob ended with -9: .*\n", complaint)
    assert "nothing lost" not in shown
    until_gone(ada)


def test_an_interrupt_leaves_no_agent(environment: dict[str, str]) -> None:
    process = slow_demo(environment)
    agents = list(agents_of(process))
    process.send_signal(signal.SIGINT)
    _, complaint = process.communicate(timeout=GIVE_UP_AFTER_S)
    assert (process.returncode, complaint) == (130, "")
    for agent in agents:
        until_gone(agent)


def until_gone(pid: int) -> None:
    block_until(lambda: not Path(f"/proc/{pid}").exists())
