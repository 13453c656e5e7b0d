"""Letting people and agents in: `coordroomsd enroll`, `coordrooms me`, and their tokens."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from coordrooms import Client, ConversationNotYoursError
from coordrooms.calls import Call
from tests.acceptance.daemons import Daemon, TcpDaemon, running
from tests.polling import GIVE_UP_AFTER_S

Unique = Callable[[str], str]


class Seat:
    """A home directory, from which commands go to one address. `shown` is all that they printed."""

    def __init__(self, home: Path, url: str) -> None:
        self.home = home
        self.url = url
        self.shown: list[str] = []
        kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
        self.environment = kept | {"COORDROOMS_URL": url, "HOME": str(home)}

    def run(self, *arguments: str, code: int = 0, stdin: str = "", **more: str) -> str:
        """What a command prints, whose exit code must be `code`; of one that fails, its error."""
        done = subprocess.run(
            [sys.executable, "-m", "coordrooms", *arguments],
            env=self.environment | more,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=GIVE_UP_AFTER_S,
        )
        self.shown += [done.stdout, done.stderr]
        assert done.returncode == code, done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done.stderr if code else done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))

    def token_files(self) -> list[Path]:
        return [path for path in Path(self.home, ".config").rglob("*") if path.is_file()]


@pytest.fixture(scope="module")
def tcp_daemon() -> Iterator[TcpDaemon]:
    with running(TcpDaemon()) as daemon:
        yield daemon


@pytest.fixture
def here(tcp_daemon: Daemon, tmp_path: Path) -> Seat:
    """On the daemon's host, as its user."""
    return Seat(tmp_path / "here", tcp_daemon.url)


@pytest.fixture
def there(tcp_daemon: TcpDaemon, tmp_path: Path) -> Seat:
    """Somewhere else, without the socket."""
    return Seat(tmp_path / "there", tcp_daemon.tcp_url)


def enroll(daemon: Daemon, *arguments: str, code: int = 0) -> tuple[str, str]:
    """The code that `coordroomsd enroll` makes, and what it says beside it."""
    places = ["--state-dir", str(daemon.state_dir), "--socket", str(daemon.socket)]
    done = subprocess.run(
        [sys.executable, "-m", "coordroomsd", "enroll", *arguments, *places, *daemon.options],
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    return done.stdout.strip(), done.stderr


def revoke(daemon: Daemon, name: str) -> None:
    with Client(url=daemon.url) as operator:
        call: Call[int] = Call(
            "DELETE", f"/participants/{name}/tokens", parse=lambda data: int(data["revoked"])
        )
        assert operator.run(call) == 1


# --- the person at the keyboard --------------------------------------------------------------


def test_what_a_person_says_counts_as_human(here: Seat, unique: Unique) -> None:
    ann, room = unique("ann"), unique("room")
    enrolled = here.json("me", ann)
    assert enrolled["participant"] == {
        "conversation_id": ann,
        "name": ann,
        "kind": "human",
        "role": "human",
    }
    here.run("join", room, "--create", "--as", "agent")
    here.run("say", room, "Shall we?", "--kind", "question", "--as", "agent")
    here.run("join", room, "--as", f"{ann}/desk")
    here.run("react", room, "2", "agree", "--as", f"{ann}/desk")
    with Client("agent", url=here.url) as agent:
        [message] = agent.room(room).history().messages
        assert (message.reactions["agree"].total, message.reactions["agree"].human) == (1, 1)
        # Nobody else is ann, also not on the socket.
        with pytest.raises(ConversationNotYoursError), Client(ann, url=here.url) as impostor:
            impostor.me()
    here.run("leave", room, "--as", "agent")


def test_enrolling_again_changes_nothing(here: Seat, unique: Unique) -> None:
    ann = unique("ann")
    first = here.json("me", ann)
    [path] = here.token_files()
    token = path.read_text()
    assert first == {**first, "is_new": True, "token_file": str(path)}
    assert here.json("me", ann) == {**first, "is_new": False}
    assert f"{ann} is enrolled already: kind human, role human." in here.run("me", f" {ann} ")
    assert path.read_text() == token


def test_only_its_owner_can_read_the_token(here: Seat, unique: Unique) -> None:
    ann = unique("ann")
    here.run("me", ann)
    [path] = here.token_files()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    path.chmod(0o644)
    for arguments in (["me", ann], ["rooms", "--as", ann], ["listen", "--as", f"{ann}/x"]):
        assert f"chmod 600 {path}" in here.run(*arguments, code=2)
    path.chmod(0o600)
    here.run("rooms", "--as", ann)


def test_a_revoked_person_can_enrol_again(here: Seat, tcp_daemon: Daemon, unique: Unique) -> None:
    ann = unique("ann")
    here.run("me", ann)
    revoke(tcp_daemon, ann)
    assert "unauthorized" in here.run("leave", "anywhere", "--as", ann, code=3)
    assert here.json("me", ann)["is_new"]
    assert here.json("rooms", "--as", ann)["rooms"] is not None


def test_a_name_that_is_taken(here: Seat, unique: Unique) -> None:
    room = unique("room")
    here.run("join", room, "--create", "--as", unique("bob"))
    assert "participant_conflict" in here.run("me", unique("bob"), code=3)
    here.run("me", unique("ann"))
    [path] = here.token_files()
    token = path.read_text()
    assert "participant_conflict" in here.run("me", unique("ann"), "--operator", code=3)
    assert path.read_text() == token
    assert "invalid_arguments" in here.run("me", "a/b", code=3)


def test_an_operator(here: Seat, unique: Unique) -> None:
    boss = unique("boss")
    assert here.json("me", boss, "--operator")["participant"]["role"] == "operator"
    # Without the option it is no other enrolment.
    assert not here.json("me", boss)["is_new"]
    assert not here.json("me", boss, "--operator")["is_new"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, to become somebody else")
def test_only_the_daemons_user_enrols_on_the_socket(
    here: Seat, tcp_daemon: Daemon, unique: Unique, state_dir: Path
) -> None:
    tcp_daemon.socket.chmod(0o666)
    # The interpreter may be root's own, so all is loaded before it becomes somebody else.
    code = (
        "import contextlib, hashlib, os, random, sys; import coordrooms.cli as cli\n"
        "with contextlib.suppress(SystemExit): cli.main(['me', '--help'])\n"
        "os.setgid(65534); os.setuid(65534)\n"
        f"sys.exit(cli.main(['me', '{unique('eve')}']))"
    )
    home = state_dir / "eve"
    home.mkdir()
    os.chown(home, 65534, 65534)
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=here.environment | {"HOME": str(home)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 3, done.stderr
    assert "forbidden" in done.stderr
    assert "let them run `coordroomsd enroll" in done.stderr


# --- from elsewhere --------------------------------------------------------------------------


def test_an_agent_elsewhere(here: Seat, there: Seat, tcp_daemon: Daemon, unique: Unique) -> None:
    cody, room = unique("cody"), unique("room")
    code, said = enroll(tcp_daemon, cody)
    assert said.endswith(f"\n    coordrooms me {cody} --code --url {there.url}\n")
    there.run("me", cody, "--code", stdin=f"{code}\n")
    there.run("join", room, "--create", "--as", cody)
    there.run("say", room, "I am in.", "--as", cody)
    there.run("rooms", "--as", f"{cody}/helper")
    with Client("agent", url=here.url) as agent:
        agent.join(room)
        events = agent.room(room).events().events
        authors = [event.author for event in events if event.author]
        assert {(author.name, author.kind) for author in authors} == {
            (cody, "agent"),
            ("agent", "agent"),
        }
        agent.room(room).leave()
    # Its own token opens nothing else.
    assert "unauthorized" in there.run("rooms", "--as", "agent", code=3)
    [path] = there.token_files()
    assert "conversation_not_yours" in there.run(
        "rooms", "--as", "agent", code=3, COORDROOMS_TOKEN_FILE=str(path)
    )


def test_a_conversation_between_here_and_there(
    here: Seat, there: Seat, tcp_daemon: Daemon, unique: Unique
) -> None:
    """An agent elsewhere is asked by the operator, and answers from its inbox."""
    cody = unique("cody")
    code, _ = enroll(tcp_daemon, cody)
    there.run("me", cody, "--code", stdin=code)
    boss = here.json("me", unique("boss"), "--operator")
    operator = Client(boss["participant"]["name"], url=here.url, token_file=boss["token_file"])
    with operator:
        thread = operator.open_conversation(cody)
        thread.send("Done?", "question")
        listening = subprocess.Popen(
            [sys.executable, "-m", "coordrooms", "listen", "--json", "--as", cody],
            env=there.environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert listening.stdout is not None
        heard = json.loads(listening.stdout.readline())
        # Its command line and its surroundings are anybody's to read, or its user's.
        process = Path("/proc", str(listening.pid))
        token = there.token_files()[0].read_text().strip()
        for file in ("cmdline", "environ"):
            assert token not in (process / file).read_text()
        revoke(tcp_daemon, cody)
        assert listening.wait(GIVE_UP_AFTER_S) == 3
        listening.stdout.close()
        code, _ = enroll(tcp_daemon, cody)
        there.run("me", cody, "--code", stdin=code)
        target = f"{heard['conversation']}/{heard['message']['seq']}"
        there.run("reply", target, "Done.", "--as", cody)
        _, answer = thread.thread().messages
        assert (answer.body, answer.reply_to) == ("Done.", 1)


def test_a_code_is_good_once(there: Seat, tcp_daemon: Daemon, unique: Unique) -> None:
    code, _ = enroll(tcp_daemon, unique("cody"))
    there.run("me", unique("cody"), "--code", stdin=code)
    kept = there.token_files()[0].read_text()
    assert "enrollment_invalid" in there.run("me", unique("cody"), "--code", stdin=code, code=3)
    assert there.token_files()[0].read_text() == kept


def test_a_code_for_another_name_is_kept_for_that_one(
    there: Seat, tcp_daemon: Daemon, unique: Unique
) -> None:
    code, _ = enroll(tcp_daemon, unique("cody"), "--kind", "human")
    assert there.run("me", "somebody", "--code", stdin=code).startswith(
        f"{unique('cody')} is enrolled: kind human"
    )
    there.run("rooms", "--as", unique("cody"))


def test_without_a_code_nobody_comes_in_from_elsewhere(there: Seat, unique: Unique) -> None:
    refusal = there.run("me", unique("cody"), code=3)
    assert "unauthorized" in refusal
    assert f"let them run `coordroomsd enroll {unique('cody')} --kind human`" in refusal
    assert "no code on standard input" in there.run("me", "cody", "--code", code=2)
    assert "--operator does not go with --code" in there.run(
        "me", "cody", "--code", "--operator", code=2
    )
    assert there.token_files() == []


def test_an_operator_elsewhere_enrols_others(
    there: Seat, tcp_daemon: Daemon, unique: Unique
) -> None:
    boss = unique("boss")
    code, _ = enroll(tcp_daemon, boss, "--role", "operator")
    there.run("me", boss, "--code", stdin=code)
    [path] = there.token_files()
    there.run("me", unique("ann"), COORDROOMS_TOKEN_FILE=str(path))
    there.run("rooms", "--as", unique("ann"))


def test_enroll_refuses_what_the_daemon_refuses(tcp_daemon: Daemon, unique: Unique) -> None:
    enroll(tcp_daemon, unique("ann"), "--expires-in", "0", code=3)
    code, said = enroll(tcp_daemon, "a/b", code=3)
    assert (code, said) == ("", "coordroomsd: name must not contain a slash.\n")


# --- secrets ---------------------------------------------------------------------------------


def test_no_token_and_no_code_is_shown_anywhere(
    here: Seat, there: Seat, tcp_daemon: Daemon, unique: Unique
) -> None:
    """Not by a command that works, not by one that fails, not in a log, not in an inbox."""
    secrets: list[str] = []
    cody, ann = unique("cody"), unique("ann")
    code, said = enroll(tcp_daemon, cody)
    secrets.append(code)
    assert code not in said
    there.run("me", cody, "--code", stdin=code)
    there.run("me", cody, "--code", stdin=code, code=3)
    there.run("me", cody, "--code", stdin=f"{code}x", code=3)
    here.run("me", ann)
    secrets += [path.read_text().strip() for seat in (here, there) for path in seat.token_files()]
    assert len(secrets) == 3
    assert all(len(secret) >= 43 for secret in secrets)

    here.run("rooms", "--as", ann)
    with Client("agent", url=here.url) as agent:
        agent.create_room(unique("room")).leave()
        agent.open_conversation(ann).send("hello")
    listening = subprocess.Popen(
        [sys.executable, "-m", "coordrooms", "listen", "--as", ann],
        env=here.environment,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert listening.stdout is not None
    here.shown.append(listening.stdout.readline())
    listening.send_signal(signal.SIGINT)
    here.shown.append(listening.communicate(timeout=GIVE_UP_AFTER_S)[0])
    here.run("inbox", "--as", ann)
    there.run("inbox", "--as", cody)
    revoke(tcp_daemon, cody)
    there.run("leave", "anywhere", "--as", cody, code=3)
    [path] = there.token_files()
    # A token that is no token, and one that stands where something else is asked for.
    path.write_text(f"{secrets[1]} and more\n")
    there.run("rooms", "--as", cody, code=2)
    path.write_text(f"{secrets[1]}\n")
    url = f"http://{secrets[1]}@127.0.0.1:1"
    assert "cannot be used" in there.run("rooms", "--url", url, code=2)

    places = [*here.shown, *there.shown, tcp_daemon.log()]
    for seat in (here, there):
        tokens = seat.token_files()
        places += [
            file.read_text(errors="replace")
            for file in seat.home.rglob("*")
            if file.is_file() and file not in tokens
        ]
    for secret in secrets:
        assert not any(secret in place for place in places)
