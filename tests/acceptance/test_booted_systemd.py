"""The service as systemd runs it, in a machine that is booted for this."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.acceptance.booted_machines import BootedMachine, NotBootableError
from tests.daemon_processes import WITHOUT_LIMITS
from tests.figures import report
from tests.http_callers import Caller
from tests.polling import until
from tests.restarts import check_that_nobody_notices

SERVICE = "coordroomsd.service"
SOCKET = "/run/coordroomsd/coordroomsd.sock"
DROP_IN = f"/etc/systemd/system/{SERVICE}.d/override.conf"
CONFIG = "/etc/coordroomsd/config.toml"


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BootedMachine]:
    """With the service installed as its user installs it."""
    try:
        booted = BootedMachine(tmp_path_factory.mktemp("booted"))
    except NotBootableError as reason:
        pytest.skip(str(reason))
    with booted:
        booted.run(booted.python, "-P", "-m", "coordroomsd", "install-service", "--yes")
        yield booted
        print(booted.journal("coordroomsd*"))


def show(machine: BootedMachine, what: str) -> str:
    return machine.run("systemctl", "show", "--value", f"--property={what}", SERVICE).strip()


def calling(machine: BootedMachine, name: str) -> closing[Caller]:
    return closing(Caller(machine.path(SOCKET), name))


def drop_in(machine: BootedMachine, text: str) -> None:
    """As `systemctl edit` writes one."""
    machine.path(DROP_IN).parent.mkdir(exist_ok=True)
    machine.path(DROP_IN).write_text(text)
    machine.run("systemctl", "daemon-reload")


def configure(machine: BootedMachine, text: str) -> None:
    machine.path(CONFIG).parent.mkdir(exist_ok=True)
    machine.path(CONFIG).write_text(text)


async def test_the_first_call_starts_the_daemon(machine: BootedMachine) -> None:
    configure(machine, WITHOUT_LIMITS)
    assert show(machine, "ActiveState") == "inactive"
    began = asyncio.get_running_loop().time()
    with calling(machine, "ann") as ann:
        assert (await ann.call("POST", "/rooms", {"name": "plan"})).status == 201
    report("first call to a new service, answered", asyncio.get_running_loop().time() - began)
    assert show(machine, "ActiveState") == "active"
    assert show(machine, "StatusText") == f"serves {SOCKET}"
    assert machine.run("stat", "-c", "%U:%G %a", SOCKET) == "root:coordrooms 660\n"
    assert machine.run("stat", "-c", "%U %a", "/var/lib/coordroomsd") == "coordrooms 700\n"
    again = machine.run(machine.python, "-P", "-m", "coordroomsd", "install-service", "--yes")
    assert again == "coordroomsd is installed already; nothing to change.\n"


async def test_only_members_of_the_group_may_call(machine: BootedMachine) -> None:
    connect = f"import socket; socket.socket(socket.AF_UNIX).connect('{SOCKET}')"
    ask = (machine.python, "-c", connect)
    as_nobody = ("setpriv", "--reuid=65534", "--regid=65534")
    group = machine.run("getent", "group", "coordrooms").split(":")[2]
    assert not machine.succeeds(*as_nobody, "--clear-groups", *ask)
    assert machine.succeeds(*as_nobody, f"--groups={group}", *ask)


async def test_clients_of_the_library_notice_no_restart(machine: BootedMachine) -> None:
    async def restart() -> None:
        await asyncio.to_thread(machine.run, "systemctl", "restart", SERVICE)

    url = f"unix:{machine.path(SOCKET)}"
    await check_that_nobody_notices(url, restart, restarts=2, followers=40, writers=8, rooms=4)


async def test_a_reload_changes_limits_or_nothing(machine: BootedMachine) -> None:
    pid = show(machine, "MainPID")
    configure(machine, "[limits]\nstatus_burst = 1\nstatus_per_s = 0.001\n")
    machine.run("systemctl", "reload", SERVICE)
    await until(lambda: "[limits] status_burst has changed" in machine.journal(SERVICE))
    with calling(machine, "ann") as ann:
        assert [await sets_status(ann, text) for text in "ab"] == [200, 429]
        configure(machine, "[limits]\nstatus_brst = 5\n")
        assert not machine.succeeds("systemctl", "reload", SERVICE)
        assert "did you mean [limits] status_burst?" in machine.journal(SERVICE)
        assert await sets_status(ann, "c") == 429
    assert (show(machine, "ActiveState"), show(machine, "MainPID")) == ("active", pid)
    configure(machine, WITHOUT_LIMITS)
    machine.run("systemctl", "reload", SERVICE)


async def sets_status(caller: Caller, text: str) -> int:
    status = {"status": text, "expires_in_s": 60}
    return (await caller.call("PUT", "/rooms/plan/status", status)).status


async def test_a_daemon_that_hangs_is_replaced(machine: BootedMachine) -> None:
    drop_in(machine, "[Service]\nWatchdogSec=2s\n")
    machine.run("systemctl", "restart", SERVICE)
    before = show(machine, "MainPID")
    machine.run("kill", "-STOP", before)
    began = asyncio.get_running_loop().time()
    with calling(machine, "ann") as ann:
        assert (await ann.until_answered("GET", "/rooms")).status == 200
    report("answered after a hang, watchdog of 2 s", asyncio.get_running_loop().time() - began)
    assert show(machine, "MainPID") != before
    assert show(machine, "NRestarts") == "1"
    drop_in(machine, "")


async def test_it_is_taken_back_and_leaves_only_data(machine: BootedMachine) -> None:
    control_group = machine.path(f"/sys/fs/cgroup/systemd{show(machine, 'ControlGroup')}")
    drop_in(machine, "[Service]\nLimitNOFILE=4096\n")
    machine.run(machine.python, "-P", "-m", "coordroomsd", "uninstall-service", "--yes")
    assert not control_group.exists()
    assert machine.run("sh", "-c", "pgrep -u coordrooms || true") == ""
    assert not machine.path("/run/coordroomsd").exists()
    left = machine.run("sh", "-c", "find /etc /run -path '*coordroomsd*' -type f").splitlines()
    assert set(left) == {CONFIG, DROP_IN}
    assert machine.path("/var/lib/coordroomsd/data").is_dir()
    machine.run(machine.python, "-P", "-m", "coordroomsd", "install-service", "--yes")
    with calling(machine, "ann") as ann:
        assert (await ann.call("GET", "/rooms")).status == 200


async def test_an_ordinary_user_has_one_too(machine: BootedMachine) -> None:
    """In their own systemd, found by the client without being told."""
    machine.run("useradd", "--create-home", "ann")
    uid = machine.run("id", "-u", "ann").strip()
    machine.run("systemctl", "start", f"user@{uid}.service")

    def as_ann(*words: str | Path) -> str:
        who = ("setpriv", f"--reuid={uid}", f"--regid={uid}", "--init-groups")
        environment = ("env", "-i", "HOME=/home/ann", "PATH=/usr/bin:/bin")
        return machine.run(*who, *environment, f"XDG_RUNTIME_DIR=/run/user/{uid}", *words)

    python = (machine.python, "-P", "-m")
    assert "enable-linger ann" in as_ann(
        *python, "coordroomsd", "install-service", "--user", "--yes"
    )
    as_ann(*python, "coordrooms", "join", "mine", "--create", "--as", "me")
    for verb in ("reload", "restart"):
        as_ann("systemctl", "--user", verb, SERVICE)
    assert "mine" in as_ann(*python, "coordrooms", "rooms")
    as_ann(*python, "coordroomsd", "uninstall-service", "--user", "--yes")
    assert machine.run("sh", "-c", f"pgrep -u {uid} postgres || true") == ""
    assert not machine.path(f"/run/user/{uid}/coordroomsd.sock").exists()
    assert not machine.path(f"/home/ann/.config/systemd/user/{SERVICE}").exists()
