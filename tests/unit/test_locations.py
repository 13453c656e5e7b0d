import os
from pathlib import Path

import pytest

from coordroomsd.config import ConfigurationError, load
from coordroomsd.locations import Account


def account(uid: int = 12345, **environment: str) -> Account:
    return Account(uid=uid, environment=environment)


@pytest.mark.parametrize(
    ("who", "state_dir", "socket"),
    [
        (account(0), "/var/lib/coordroomsd", "/run/coordroomsd/coordroomsd.sock"),
        (
            account(STATE_DIRECTORY="/var/lib/coordroomsd:/var/lib/other"),
            "/var/lib/coordroomsd",
            "/run/coordroomsd/coordroomsd.sock",
        ),
        (
            account(STATE_DIRECTORY="/home/ann/.local/state/rooms", HOME="/home/ann"),
            "/home/ann/.local/state/rooms",
            "/home/ann/.local/state/rooms/coordroomsd.sock",
        ),
        (
            account(XDG_STATE_HOME="/st", HOME="/home/ann"),
            "/st/coordroomsd",
            "/st/coordroomsd/coordroomsd.sock",
        ),
        (
            account(XDG_STATE_HOME="relative", HOME="/home/ann"),
            "/home/ann/.local/state/coordroomsd",
            "/home/ann/.local/state/coordroomsd/coordroomsd.sock",
        ),
    ],
)
def test_the_places_suit_the_account(who: Account, state_dir: str, socket: str) -> None:
    config = load(account=who)
    assert (config.state_dir, config.server.socket) == (Path(state_dir), Path(socket))


def test_the_runtime_directory_is_used_when_it_is_ones_own(state_dir: Path) -> None:
    environment = {"HOME": "/home/ann", "XDG_RUNTIME_DIR": str(state_dir)}
    mine = Account(uid=os.geteuid() or 12345, environment=environment)
    if os.geteuid() == 0:
        os.chown(state_dir, 12345, -1)
    assert load(account=mine).server.socket == state_dir / "coordroomsd.sock"
    theirs = Account(uid=mine.uid + 1, environment=environment)
    assert load(account=theirs).server.socket == Path(
        "/home/ann/.local/state/coordroomsd/coordroomsd.sock"
    )


def test_without_a_home_a_state_directory_must_be_given() -> None:
    with pytest.raises(ConfigurationError, match="give --state-dir"):
        load(account=account())
    assert load(state_dir=Path("/d"), account=account()).server.socket == Path(
        "/d/coordroomsd.sock"
    )


def test_the_configuration_is_found_by_account(tmp_path: Path) -> None:
    (tmp_path / "coordroomsd").mkdir()
    for place, variable in (
        (tmp_path / "config.toml", "CONFIGURATION_DIRECTORY"),
        (tmp_path / "coordroomsd" / "config.toml", "XDG_CONFIG_HOME"),
    ):
        who = Account(12345, {"HOME": "/home/ann", variable: str(tmp_path)})
        assert load(account=who).limits.max_waiters == 20_000
        place.write_text("[limits]\nmax_waiters = 7")
        config = load(account=who)
        assert config.limits.max_waiters == 7
        assert config.sources["limits.max_waiters"] == str(place)
    assert account(0).config_file() == Path("/etc/coordroomsd/config.toml")


def test_a_configuration_that_may_not_be_read_is_not_passed_over(tmp_path: Path) -> None:
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(ConfigurationError, match="cannot be read: Is a directory"):
        load(account=account(HOME="/home/ann", CONFIGURATION_DIRECTORY=str(tmp_path)))
