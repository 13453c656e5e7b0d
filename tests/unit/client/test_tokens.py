"""Token files: one for each daemon and participant, for their owner alone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from coordrooms.addresses import TcpAddress, UnixAddress, token
from coordrooms.errors import ConfigurationError
from coordrooms.operations.enrolments import offer, take_up
from coordrooms.private_files import file_name, make_private_directory, write_private_file
from coordrooms.tokens import keep_token, kept_token_file, make_room_for_tokens, token_path

HERE = UnixAddress("/run/d.sock")


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    before = os.umask(0)
    yield tmp_path
    os.umask(before)


def kept(name: str = "ann", secret: str = "secret") -> Path:
    make_room_for_tokens(HERE)
    return Path(keep_token(HERE, name, secret))


def test_a_token_is_for_its_owner_alone(home: Path) -> None:
    path = kept()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    for directory in path.parents:
        if directory == home:
            break
        assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    assert token(str(path)) == "secret"
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("conversation", ["ann", "ann/helper", "ann/a/b"])
def test_it_serves_the_name_and_what_is_below(conversation: str) -> None:
    path = kept()
    assert kept_token_file(HERE, conversation) == str(path)


@pytest.mark.parametrize("conversation", [None, "bob", "Ann", "ann-1", "an", "/ann", ""])
def test_it_serves_nobody_else(conversation: str | None) -> None:
    kept()
    assert kept_token_file(HERE, conversation) is None


def test_it_is_not_shown_to_another_daemon() -> None:
    kept()
    assert kept_token_file(UnixAddress("/run/e.sock"), "ann") is None
    assert kept_token_file(TcpAddress("127.0.0.1", 80), "ann") is None


def test_without_a_home_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative")
    monkeypatch.setenv("HOME", "")
    assert kept_token_file(HERE, "ann") is None
    with pytest.raises(ConfigurationError, match="neither XDG_CONFIG_HOME nor HOME"):
        make_room_for_tokens(HERE)
    monkeypatch.setenv("HOME", "/home/ann")
    assert token_path(HERE, "ann").startswith("/home/ann/.config/coordrooms/tokens/")


@pytest.mark.parametrize(
    ("wrong", "mode"), [("file", 0o640), ("file", 0o604), ("directory", 0o750)]
)
def test_open_to_others_it_is_refused_with_the_remedy(wrong: str, mode: int) -> None:
    path = kept()
    place = path if wrong == "file" else path.parent
    place.chmod(mode)
    with pytest.raises(ConfigurationError) as refused:
        kept_token_file(HERE, "ann")
    assert f"(mode {mode:04o})" in str(refused.value)
    assert str(refused.value).endswith(f"chmod {600 if wrong == 'file' else 700} {place}")
    assert "secret" not in str(refused.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_another_users_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    path = kept()
    os.chown(path, 12_345, -1)
    # Root may read it all; somebody else could not.
    assert kept_token_file(HERE, "ann") == str(path)
    monkeypatch.setattr(os, "geteuid", lambda: 54_321)
    with pytest.raises(ConfigurationError, match="belongs to another user"):
        kept_token_file(HERE, "ann")


def test_a_new_token_replaces_the_old_one_as_a_whole() -> None:
    path = kept(secret="the first one, and longer")
    assert kept(secret="second") == path
    assert path.read_text() == "second\n"
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_written_leaves_the_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    path = kept(secret="first")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ConfigurationError, match="cannot be written: No space left"):
        write_private_file(str(path), "second")
    assert path.read_text() == "first\n"
    assert list(path.parent.iterdir()) == [path]


def test_a_directory_that_cannot_be_made(home: Path) -> None:
    (home / "file").touch()
    with pytest.raises(ConfigurationError, match="cannot be made: File exists"):
        make_private_directory(str(home / "file" / "below"))


def test_names_of_files() -> None:
    assert file_name("ann") == "ann"
    assert file_name("claude-6f.1@host") == "claude-6f.1@host"
    names = ["", ".", "..", "/", "a/b", "a-b", "A-b", "a\0", "é", "ä", "-a", "a.", " a", "a" * 81]
    made = [file_name(name) for name in names]
    assert len({name.lower() for name in made}) == len(names)
    for name in made:
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789._@-")
        assert name.strip(".-") == name
        assert len(name) <= 100


def test_secrets_are_not_in_what_a_debugger_shows() -> None:
    participant = {"conversation_id": "ann", "name": "ann", "kind": "human", "role": "human"}
    enrolled = take_up("the-code").parse({"token": "the-token", "participant": participant})
    offered = offer("ann", "human", "human", expires_in_s=60).parse(
        {"code": "the-code", "expires_at": "2026-01-02T03:04:05.678Z"}
    )
    assert (enrolled.token, offered.code) == ("the-token", "the-code")
    assert "the-" not in f"{enrolled!r} {offered!r}"
