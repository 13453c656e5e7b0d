from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coordroomsd.addresses import Listen
from coordroomsd.config import ConfigurationError, load
from coordroomsd.locations import SOCKET_PATH_LIMIT, Account

NOBODY = Account(uid=12345, environment={"HOME": "/home/ann"})
WriteFile = Callable[[str], Path]


@pytest.fixture
def file(tmp_path: Path) -> WriteFile:
    def write(text: str) -> Path:
        path = tmp_path / "config.toml"
        path.write_text(text)
        return path

    return write


def faults(path: Path, **options: Any) -> list[str]:
    with pytest.raises(ConfigurationError) as raised:
        load(path, account=NOBODY, **options)
    return [fault.removeprefix(f"{path}: ") for fault in raised.value.faults]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("colour = 1", "colour: there is no such key; there are cluster, "),
        ("socket = '/s'", "socket: there is no such key; did you mean [server] socket?"),
        ("[databse]", "[databse]: there is no such key; did you mean [database]?"),
        ("state_dir = '/x'", "state_dir: there is no such key; there are "),
        ("limits = 3", "limits: should be a table, [limits]"),
        (
            "[limits]\nmesage_burst = 1",
            "[limits] mesage_burst: there is no such key; did you mean [limits] message_burst?",
        ),
        (
            "[server]\nmax_waiters = 1",
            "[server] max_waiters: there is no such key; did you mean [limits] max_waiters?",
        ),
        ("[cluster]\nzzz = 1", "[cluster] zzz: there is no such key; [cluster] has bus"),
        ("[limits]\nmessage_burst = '9'", "[limits] message_burst: should be a valid integer"),
        ("[limits]\nmessage_burst = true", "[limits] message_burst: should be a valid integer"),
        ("[limits]\nmessage_burst = -1", "[limits] message_burst: should be greater than or equal"),
        ("[limits]\nmessage_per_s = 0", "[limits] message_per_s: should be greater than or equal"),
        ("[limits]\nmessage_per_s = nan", "[limits] message_per_s: should be a finite number"),
        ("[limits]\nmax_waiters = 0", "[limits] max_waiters: should be greater than or equal to 1"),
        ("[retention]\nmax_age_s = 1.5", "[retention] max_age_s: should be a valid integer"),
        ("[server]\nsocket = 's.sock'", "[server] socket: should be an absolute path"),
        ("[server]\nsocket = 3", "[server] socket: should be"),
        ("[server]\nlisten = 80", "[server] listen: should be"),
        ("[server]\nlisten = 'here'", "[server] listen: should be HOST:PORT, like"),
        ("[cluster]\nbus = 'kafka'", "[cluster] bus: should be 'none' or 'postgres' (it is "),
        ("[cluster]\nbus = 'postgres'", "[cluster] bus: needs [database] url"),
        ("[conversations]\npeer_policy = 'no'", "[conversations] peer_policy: should be 'open' or"),
        ("[conversations]\npeers = [['a']]", "[conversations] peers: should be a list of pairs"),
        ("[conversations]\npeers = [['a', 'a']]", "[conversations] peers: should be a list of"),
        ("[conversations]\npeers = [['a', 1]]", "[conversations] peers: should be a list of pairs"),
        (
            "[conversations]\npeers = [['a', 'b']]",
            '[conversations]: peers counts only with peer_policy = "listed"',
        ),
        (
            "[server]\nsocket = '/s'\nmcp_socket = '/s'",
            "[server]: socket and mcp_socket should be two different paths",
        ),
        ("[limits", "not TOML: "),
    ],
)
def test_a_fault_names_its_key_and_the_file(file: WriteFile, text: str, fault: str) -> None:
    [found] = faults(file(text))
    assert found.startswith(fault)


def test_all_faults_are_named_at_once(file: WriteFile) -> None:
    path = file("[limits]\nclaim_burst = -1\nroom_burst = 'x'\n[server]\nlisten = ':1'\nudp = 1")
    found = faults(path)
    named = [fault.partition(":")[0] for fault in found]
    assert named == [
        "[server] listen",
        "[server] udp",
        "[limits] claim_burst",
        "[limits] room_burst",
    ]


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    assert faults(path) == ["cannot be read: No such file or directory"]


def test_a_file_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"[limits]\n\xff")
    assert faults(path) == ["not UTF-8 at byte 9"]


def test_no_message_and_no_repr_shows_the_databases_password(file: WriteFile) -> None:
    good = load(file("[database]\nurl = 'postgresql://ann:secret@db/rooms'"), account=NOBODY)
    assert "secret" not in repr(good)
    for url in (
        "mysql://ann:secret@db/rooms",
        "postgresql://ann:secret#1@db/rooms",
        "postgresql://ann:secret/1@db/rooms",
        "postgresql://[secret/rooms",
    ):
        [fault] = faults(file(f"[database]\nurl = '{url}'"))
        assert fault.startswith("[database] url: should ")
        assert "secret" not in fault
    [fault] = faults(file("[database]\npasswrd = 'secret'"))
    assert "secret" not in fault


def test_a_databases_url_may_be_a_credential(file: WriteFile, tmp_path: Path) -> None:
    url = "postgresql://ann:secret@db/rooms"
    account = Account(uid=12345, environment={"CREDENTIALS_DIRECTORY": str(tmp_path), "HOME": "/h"})
    assert load(account=account).database.url is None
    (tmp_path / "database_url").write_text("\n")
    assert load(account=account).database.url is None
    (tmp_path / "database_url").write_text(f"{url}\n")
    config = load(account=account)
    assert config.database.url == url
    assert config.sources["database.url"] == "the credential database_url"
    other = "postgresql://db/other"
    assert load(file(f"[database]\nurl = '{other}'"), account=account).database.url == other
    for wrong in (b"mysql://ann:secret@db", b"\xff"):
        (tmp_path / "database_url").write_bytes(wrong)
        with pytest.raises(ConfigurationError, match="the credential database_url") as raised:
            load(account=account)
        assert "secret" not in str(raised.value)


def test_a_socket_path_that_no_kernel_takes(file: WriteFile) -> None:
    longest = "/" + "s" * (SOCKET_PATH_LIMIT - 1)
    other = "\nmcp_socket = '/m'"
    assert load(file(f"[server]\nsocket = '{longest}'{other}"), account=NOBODY)
    [fault] = faults(file(f"[server]\nsocket = '{longest}s'{other}"))
    assert f"has {SOCKET_PATH_LIMIT + 1} bytes" in fault
    assert "--socket" in fault


def test_the_limit_of_a_socket_path_counts_bytes(file: WriteFile) -> None:
    path = "/" + "é" * (SOCKET_PATH_LIMIT // 2 + 1)
    [fault] = faults(file(f"[server]\nsocket = '{path}'\nmcp_socket = '/m'"))
    assert fault.startswith("[server] socket: the path has ")


@pytest.mark.parametrize(
    ("socket", "mcp_socket"),
    [("/run/a.sock", "/run/a-mcp.sock"), ("/run/a.sock/b", "/run/a.sock/b-mcp"), ("/s", "/s-mcp")],
)
def test_the_mcp_socket_is_beside_the_socket(socket: str, mcp_socket: str) -> None:
    config = load(socket=Path(socket), account=NOBODY)
    assert config.server.mcp_socket == Path(mcp_socket)


def test_options_go_before_the_file_and_the_sources_tell(file: WriteFile) -> None:
    path = file(
        "[server]\nsocket = '/f.sock'\nlisten = 'f:1'\n[database]\nurl = 'postgresql://f/f'"
    )
    config = load(
        path,
        state_dir=Path("/o"),
        socket=Path("/o.sock"),
        listen=Listen("o", 1),
        database_url="postgresql://o/o",
        account=NOBODY,
    )
    assert config.server.socket == Path("/o.sock")
    assert config.server.mcp_socket == Path("/o-mcp.sock")
    assert config.server.listen == ("o", 1)
    assert config.database.url == "postgresql://o/o"
    told = {key: source for key, source in config.sources.items() if source != "default"}
    assert told == {
        "state_dir": "--state-dir",
        "server.socket": "--socket",
        "server.listen": "--listen",
        "database.url": "--database-url",
    }


def test_pairs_of_peers(file: WriteFile) -> None:
    text = "[conversations]\npeer_policy = 'listed'\npeers = [['a', 'b'], ['a', 'c']]"
    config = load(file(text), account=NOBODY)
    assert config.conversations.peers == (("a", "b"), ("a", "c"))


def test_a_relative_option_is_relative_to_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = load(state_dir=Path("state"), socket=Path("s"), account=NOBODY)
    assert config.state_dir == tmp_path / "state"
    assert config.server.socket == tmp_path / "s"
