"""One-time codes, and the sessions that they become."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import count
from pathlib import Path
from typing import NamedTuple

import pytest

from coordroomsd.api.callers import Caller
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled, secret_hash
from coordroomsd.live.people import People
from coordroomsd.live.waiters import Hub
from coordroomsd.page.keeping import FILE, Keeper
from coordroomsd.page.sessions import (
    CODE_LASTS,
    SESSION_LASTS,
    SESSIONS_EACH,
    Opened,
    Sessions,
    cookie_name,
)
from tests.clocks import FakeClock

ANN = Enrolled("default", "ann", "human", "human", secret_hash("ann's"))
BOT = Enrolled("default", "bot", "agent", "agent", secret_hash("bot's"))
HOST = "127.0.0.1:4711"


def caller_of(one: Enrolled) -> Caller:
    return Caller(one.project, one.kind, one.role, one.name)


class RevokedHub(Hub):
    """Keeps what was revoked."""

    def __init__(self) -> None:
        super().__init__(1)
        self.revoked: list[Hashable] = []

    def revoke(self, credential: Hashable, refusal: Exception) -> None:
        self.revoked.append(credential)


class Page(NamedTuple):
    sessions: Sessions
    hub: RevokedHub
    people: People
    clock: FakeClock
    state_dir: Path

    def signed_in(self) -> Opened:
        return self.sessions.take_up(self.sessions.offer(caller_of(ANN)).code)

    def after_a_restart(self) -> Page:
        return page_at(self.state_dir, self.people, self.clock)


def page_at(state_dir: Path, people: People, clock: FakeClock) -> Page:
    numbers, hub = count(), RevokedHub()
    sessions = Sessions(
        people, clock, lambda: f"secret-{id(numbers)}-{next(numbers)}", Keeper(state_dir), hub
    )
    return Page(sessions, hub, people, clock, state_dir)


@pytest.fixture
def page(tmp_path: Path) -> Page:
    return page_at(tmp_path / "state", People([ANN, BOT]), FakeClock())


def request(opened: Opened, **changed: str | None) -> Callable[[bytes], str | None]:
    headers = {
        "host": HOST,
        "sec-fetch-site": "same-origin",
        "cookie": f"other=1; {cookie_name(HOST)}={opened.cookie}",
        "coordrooms-page": opened.key,
    } | {name.replace("_", "-"): value for name, value in changed.items()}
    return lambda name: headers.get(name.decode())


def outcome(call: Callable[..., object], *arguments: object) -> str:
    try:
        call(*arguments)
    except Refusal as refusal:
        return refusal.code
    return "ok"


def test_a_code_lets_its_person_in_once(page: Page) -> None:
    code = page.sessions.offer(caller_of(ANN)).code
    opened = page.sessions.take_up(code)
    caller = page.sessions.caller(request(opened))
    assert (caller.name, caller.kind, caller.role) == ("ann", "human", "human")
    assert outcome(page.sessions.take_up, code) == "unauthorized"
    assert outcome(page.sessions.take_up, "no such code") == "unauthorized"


def test_a_code_is_good_for_a_minute(page: Page) -> None:
    code = page.sessions.offer(caller_of(ANN)).code
    page.clock.pass_seconds(CODE_LASTS.total_seconds())
    assert outcome(page.sessions.take_up, code) == "unauthorized"


@pytest.mark.parametrize(
    "caller", [caller_of(BOT), Caller("default", "agent", "operator", None), caller_of(ANN)]
)
def test_only_people_with_a_token_get_one(page: Page, caller: Caller) -> None:
    expected = "ok" if caller.name == "ann" else "forbidden"
    assert outcome(page.sessions.offer, caller) == expected


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"cookie": None}, "unauthorized"),
        ({"cookie": "coordrooms-4711=guessed"}, "unauthorized"),
        ({"cookie": "coordrooms-4711"}, "unauthorized"),
        ({"host": "127.0.0.1:4712"}, "unauthorized"),
        # What a server at another port of this host gets to see is the cookie, and no more.
        ({"coordrooms_page": "guessed"}, "unauthorized"),
        ({"coordrooms_page": ""}, "unauthorized"),
        ({"coordrooms_page": None}, "origin_not_allowed"),
        ({"sec_fetch_site": None}, "origin_not_allowed"),
        ({"sec_fetch_site": "none"}, "origin_not_allowed"),
        ({"sec_fetch_site": "same-site"}, "origin_not_allowed"),
        ({"sec_fetch_site": "cross-site"}, "origin_not_allowed"),
        ({}, "ok"),
    ],
)
def test_a_session_is_a_cookie_and_a_key_from_its_own_page(
    page: Page, changed: dict[str, str | None], expected: str
) -> None:
    opened = page.signed_in()
    assert outcome(page.sessions.caller, request(opened, **changed)) == expected


def test_the_parts_of_two_sessions_do_not_fit(page: Page) -> None:
    one, other = page.signed_in(), page.signed_in()
    mixed = request(one, coordrooms_page=other.key)
    assert outcome(page.sessions.caller, mixed) == "unauthorized"


def test_a_session_outlives_a_restart_and_ends_in_time(page: Page) -> None:
    opened = page.signed_in()
    again = page.after_a_restart()
    assert outcome(again.sessions.caller, request(opened)) == "ok"
    page.clock.pass_seconds(SESSION_LASTS.total_seconds())
    assert outcome(again.sessions.caller, request(opened)) == "unauthorized"


def test_signing_out_ends_the_session_for_good(page: Page) -> None:
    opened, other = page.signed_in(), page.signed_in()
    session = page.sessions.caller(request(opened)).session
    page.sessions.end(request(opened))
    assert page.hub.revoked == [session]
    for now in (page, page.after_a_restart()):
        assert outcome(now.sessions.caller, request(opened)) == "unauthorized"
        assert outcome(now.sessions.caller, request(other)) == "ok"


@pytest.mark.parametrize("token_hash", [None, secret_hash("newer")])
def test_a_session_ends_with_the_token_that_began_it(page: Page, token_hash: bytes | None) -> None:
    opened, code = page.signed_in(), page.sessions.offer(caller_of(ANN)).code
    page.people.put(ANN._replace(token_hash=token_hash))
    assert outcome(page.sessions.caller, request(opened)) == "unauthorized"
    assert outcome(page.sessions.take_up, code) == "unauthorized"


def test_a_person_has_so_many_sessions_and_the_oldest_makes_room(page: Page) -> None:
    opened = [page.signed_in() for _ in range(SESSIONS_EACH)]
    oldest = page.sessions.caller(request(opened[0])).session
    assert page.hub.revoked == []
    opened.append(page.signed_in())
    assert page.hub.revoked == [oldest]
    outcomes = [outcome(page.sessions.caller, request(one)) for one in opened]
    assert outcomes == ["unauthorized", *["ok"] * SESSIONS_EACH]


def test_the_file_holds_no_secret_and_is_for_its_owner(page: Page) -> None:
    opened = page.signed_in()
    file = page.state_dir / FILE
    assert file.stat().st_mode & 0o777 == 0o600
    assert not [secret for secret in (opened.cookie, opened.key) if secret in file.read_text()]
    assert list(page.state_dir.iterdir()) == [file]


@pytest.mark.parametrize("content", [b"", b"[]", b"{}", b'{"sessions": [{}]}', b"\xff"])
def test_a_broken_file_signs_everybody_out_and_stops_nothing(page: Page, content: bytes) -> None:
    opened = page.signed_in()
    (page.state_dir / FILE).write_bytes(content)
    again = page.after_a_restart()
    assert outcome(again.sessions.caller, request(opened)) == "unauthorized"
    assert outcome(again.sessions.caller, request(again.signed_in())) == "ok"


def test_a_directory_that_cannot_be_written_costs_the_restart_alone(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    page = page_at(blocked / "state", People([ANN]), FakeClock())
    assert outcome(page.sessions.caller, request(page.signed_in())) == "ok"
