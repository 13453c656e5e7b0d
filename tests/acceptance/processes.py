"""Daemons as processes of a user's, and what their tests look at."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Final

import pytest

from tests.daemon_processes import DaemonProcess
from tests.http_callers import Caller
from tests.integration.keepers import Account, ordinary_user, ourselves

ROOM: Final = "/rooms/plan"
Make = Callable[..., DaemonProcess]


@pytest.fixture
def account(request: pytest.FixtureRequest) -> Account:
    return getattr(request, "param", ourselves)()


# As the user that runs the tests, mostly root, and as one who is not.
AS_BOTH = pytest.mark.parametrize("account", [ourselves, ordinary_user], indirect=True)


@pytest.fixture
def home(account: Account, state_dir: Path) -> Path:
    """The user's own directory."""
    account.own(state_dir)
    return state_dir


@pytest.fixture
async def make(account: Account, home: Path) -> AsyncIterator[Make]:
    """Make daemons of the user, which end with the test, and before `home` does."""
    made: list[DaemonProcess] = []

    def make(home: Path, *options: str | Path) -> DaemonProcess:
        daemon = DaemonProcess(
            home,
            options=[str(option) for option in options],
            python=account.python,
            environment=account.environment(),
            **account.popen_arguments(),
        )
        made.append(daemon)
        return daemon

    yield make
    for daemon in made:
        await daemon.discard()


@pytest.fixture
async def daemon(make: Make, home: Path, account: Account, made_state: Path) -> DaemonProcess:
    """A daemon that serves."""
    daemon = make(home)
    daemon.begin_with(made_state)
    account.own(home)
    await daemon.start()
    return daemon


def another_home(home: Path, account: Account) -> Path:
    path = home / "another"
    path.mkdir()
    account.own(path)
    return path


def left_behind(daemon: DaemonProcess) -> set[str]:
    """What there is beside the data, the log, and what was there before the start."""
    state = (
        {path.name for path in daemon.state_dir.iterdir()} if daemon.state_dir.exists() else set()
    )
    beside = {path.name for path in daemon.socket.parent.iterdir()}
    return (state - {"data", "postgres.log"}) | (beside - {"state", "config.toml", "daemon.log"})


async def two_in_a_room(daemon: DaemonProcess) -> tuple[Caller, Caller]:
    ann, bob = daemon.caller("ann"), daemon.caller("bob")
    assert (await ann.call("POST", "/rooms", {"name": "plan"})).status == 201
    assert (await bob.call("POST", f"{ROOM}/join")).status == 200
    return ann, bob


async def is_waiting(caller: Caller) -> bool:
    shown = (await caller.call("GET", f"{ROOM}/members")).body["members"]
    return any(member["waiting"] for member in shown)
