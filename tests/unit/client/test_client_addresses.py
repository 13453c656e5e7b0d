"""Where the daemon is, and who is calling."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from coordrooms.addresses import (
    SYSTEM_SOCKET,
    TcpAddress,
    UnixAddress,
    acting_conversation,
    caller_headers,
    daemon_address,
    daemon_addresses,
    default_sockets,
    parse_url,
    token,
)
from coordrooms.errors import ConfigurationError


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (
        "COORDROOMS_URL",
        "COORDROOMS_CONVERSATION",
        "COORDROOMS_TOKEN_FILE",
        "XDG_RUNTIME_DIR",
        "XDG_STATE_HOME",
    ):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ordinary_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A user who is not root, whose home is the directory."""
    owner = tmp_path.stat().st_uid or 4711
    os.chown(tmp_path, owner, -1)
    monkeypatch.setattr("os.geteuid", lambda: owner)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def make_socket(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


# --- URLs ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "address", "host_header"),
    [
        ("unix:/run/x.sock", UnixAddress("/run/x.sock"), "localhost"),
        ("unix:///run/x.sock", UnixAddress("/run/x.sock"), "localhost"),
        ("http://127.0.0.1:8040", TcpAddress("127.0.0.1", 8040), "127.0.0.1:8040"),
        ("http://rooms.example/", TcpAddress("rooms.example", 80), "rooms.example"),
        ("HTTPS://rooms.example", TcpAddress("rooms.example", 443, tls=True), "rooms.example"),
        ("https://[::1]:80", TcpAddress("::1", 80, tls=True), "[::1]:80"),
        ("http://[::1]", TcpAddress("::1", 80), "[::1]"),
    ],
)
def test_urls(url: str, address: object, host_header: str) -> None:
    parsed = parse_url(url)
    assert parsed == address
    assert parsed.host_header == host_header
    assert parse_url(str(parsed)) == parsed


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8040",
        "ftp://host",
        "unix:relative.sock",
        "unix:/with\0nul",
        "unix:/" + "x" * 107,
        "http:host",
        "http://",
        "http://host:0",
        "http://host:65536",
        "http://host:port",
        "http://::1:80",
        "http://host/path",
        "http://host?query",
        "http://ho st",
        "http://[::1",
    ],
)
def test_urls_that_name_no_daemon(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot be used: .*\. Write unix:"):
        parse_url(url)


def test_a_secret_in_a_url_is_not_repeated() -> None:
    with pytest.raises(ConfigurationError) as refused:
        parse_url("http://me:hunter2@host")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("path", "beside"),
    [("/run/a.sock", "/run/a-mcp.sock"), ("/run/a.sock.d/b", "/run/a.sock.d/b-mcp")],
)
def test_the_mcp_socket_is_beside_the_other(path: str, beside: str) -> None:
    assert UnixAddress(path).mcp == UnixAddress(beside)


# --- where nobody says it ------------------------------------------------------------------


def test_the_argument_comes_before_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COORDROOMS_URL", "unix:/variable")
    assert daemon_address() == UnixAddress("/variable")
    assert daemon_address("unix:/argument") == UnixAddress("/argument")


def test_several_have_commas_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COORDROOMS_URL", "unix:/a,b.sock, http://one:8040,https://two")
    assert daemon_addresses() == [
        UnixAddress("/a,b.sock"),
        TcpAddress("one", 8040),
        TcpAddress("two", 443, tls=True),
    ]
    assert daemon_address() == UnixAddress("/a,b.sock")


def test_an_ordinary_users_own_sockets_come_first(
    ordinary_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = str(ordinary_user / ".local/state/coordroomsd/coordroomsd.sock")
    assert default_sockets() == [state, SYSTEM_SOCKET]
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(ordinary_user))
    assert default_sockets() == [str(ordinary_user / "coordroomsd.sock"), state, SYSTEM_SOCKET]


def test_another_users_runtime_directory_is_left_alone(
    ordinary_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(ordinary_user))
    monkeypatch.setattr("os.geteuid", lambda: ordinary_user.stat().st_uid + 1)
    assert str(ordinary_user / "coordroomsd.sock") not in default_sockets()


def test_root_looks_for_the_system_daemon_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert default_sockets()[0] == SYSTEM_SOCKET


def test_a_user_without_a_home_has_the_system_daemon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 4711)
    monkeypatch.delenv("HOME")
    assert default_sockets() == [SYSTEM_SOCKET]


def test_the_first_socket_that_is_there_is_taken(
    ordinary_user: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(ordinary_user))
    own, state = (Path(place) for place in default_sockets()[:2])
    assert daemon_address() == UnixAddress(str(own)), "where a daemon would make it"
    make_socket(state)
    own.write_text("a file is no socket")
    assert daemon_address() == UnixAddress(str(state))
    own.unlink()
    make_socket(own)
    assert daemon_address() == UnixAddress(str(own))


# --- who is calling ------------------------------------------------------------------------


def test_who_acts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert acting_conversation() is None
    monkeypatch.setenv("COORDROOMS_CONVERSATION", "variable")
    assert acting_conversation() == "variable"
    assert acting_conversation("argument") == "argument"


@pytest.mark.parametrize(
    ("conversation", "sent"),
    [
        ("claude-6f/x~!", "claude-6f/x~!"),
        ("100%", "100%25"),
        ("Jörg Ä", "J%C3%B6rg%20%C3%84"),
        ("a\r\nX: y", "a%0D%0AX:%20y"),
    ],
)
def test_the_header_is_visible_ascii(conversation: str, sent: str) -> None:
    assert caller_headers(conversation, None) == [("Coordrooms-Conversation", sent)]


def test_the_token_is_read_from_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    file.chmod(0o600)
    assert token() is None
    assert token(str(file)) == "s3cret"
    monkeypatch.setenv("COORDROOMS_TOKEN_FILE", str(file))
    assert token() == "s3cret"
    assert caller_headers(None, "s3cret") == [("Authorization", "Bearer s3cret")]


def test_a_token_that_others_may_read_is_used_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret")
    file.chmod(0o640)
    with pytest.warns(UserWarning, match=r"mode 0640\): chmod 600"):
        assert token(str(file)) == "s3cret"


@pytest.mark.parametrize("content", ["", "two\nlines", "wörd", "with blank"])
def test_a_file_that_holds_no_token(tmp_path: Path, content: str) -> None:
    file = tmp_path / "token"
    file.write_text(content)
    with pytest.raises(ConfigurationError, match="does not hold a token") as refused:
        token(str(file))
    assert content == "" or content not in str(refused.value)


def test_a_token_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        token(str(tmp_path / "none"))
