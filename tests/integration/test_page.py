"""The page over HTTP: links, sessions, what is served where, and the overview's stream."""

from __future__ import annotations

import http.client
import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest

from coordroomsd.page.assets import FOLDER
from tests.acceptance.daemons import running
from tests.integration.callers import Caller, ListeningDaemon, Reply
from tests.polling import GIVE_UP_AFTER_S, block_until

PROXY = "rooms.example.org"

Unique = Callable[[str], str]

_numbers = itertools.count()


class SocketDaemon(ListeningDaemon):
    """Without a TCP listener: people enrol, and call, over the socket."""

    def __init__(self) -> None:
        super().__init__()
        self.options = self.options[:2]

    def enrol(self, name: str, role: str, project: str | None = None) -> Caller:
        offer = {"name": name, "kind": "human", "role": role}
        code = self.operator.ok("POST", "/enrollments", offer)["code"]
        return Caller(self, token=self.operator.ok("POST", "/enroll", {"code": code})["token"])


@pytest.fixture(scope="module")
def daemon() -> Iterator[SocketDaemon]:
    with running(SocketDaemon()) as daemon:
        yield daemon


class Browser:
    """What a browser keeps of one origin, and sends of itself."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.address = urlsplit(origin).netloc
        self.cookie = self.key = "none"

    def call(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Reply:
        connection = http.client.HTTPConnection(self.address, timeout=GIVE_UP_AFTER_S)
        try:
            self.send(connection, method, path, body, headers)
            response = connection.getresponse()
            return Reply(response.status, dict(response.headers), response.read())
        finally:
            connection.close()

    def send(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
    ) -> None:
        own = {
            "Origin": self.origin,
            "Sec-Fetch-Site": "same-origin",
            "Cookie": self.cookie,
            "Coordrooms-Page": self.key,
            "Content-Type": "application/json",
        }
        content = None if body is None else json.dumps(body)
        connection.request(method, path, content, own | (headers or {}))

    def sign_in(self, path: str) -> Reply:
        reply = self.call("POST", "/page/api/session", {"code": path.partition("#")[2]})
        if reply.status == 201:
            self.key = reply.body["key"]
            self.cookie = reply.headers["set-cookie"].partition(";")[0]
        return reply

    @contextmanager
    def overview(self, seen: dict[str, int] | None = None) -> Iterator[Iterator[tuple[str, Any]]]:
        """Events as they come, by name."""
        with self.stream("/page/api/overview", {"seen": seen or {}}) as events:
            yield events

    @contextmanager
    def stream(self, path: str, body: Any = None) -> Iterator[Iterator[tuple[str, Any]]]:
        connection = http.client.HTTPConnection(self.address, timeout=GIVE_UP_AFTER_S)
        method = "GET" if body is None else "POST"
        self.send(connection, method, path, body, {"Accept": "text/event-stream"})
        response = connection.getresponse()
        assert response.status == 200, response.read()

        def events() -> Iterator[tuple[str, Any]]:
            name = ""
            while raw := response.readline():
                line = raw.decode().rstrip()
                if line.startswith("event: "):
                    name = line.removeprefix("event: ")
                elif line.startswith("data: "):
                    yield name, json.loads(line.removeprefix("data: "))

        try:
            yield events()
        finally:
            connection.close()


def link(person: Caller) -> dict[str, Any]:
    return person.ok("POST", "/links", {}, base="/page/api")


def signed_in(person: Caller) -> Browser:
    made = link(person)
    browser = Browser(made["origin"])
    assert browser.sign_in(made["path"]).status == 201
    return browser


@pytest.fixture
def unique() -> Unique:
    """A name that no other test uses."""
    return lambda name: f"{name}-{next(_numbers)}"


# Enrolling has a bucket for each user of the host: these are for all tests.


@pytest.fixture(scope="module")
def ann(daemon: SocketDaemon) -> Caller:
    return daemon.enrol("ann", "human")


@pytest.fixture(scope="module")
def bob(daemon: SocketDaemon) -> Caller:
    return daemon.enrol("bob", "human")


@pytest.fixture(scope="module")
def boss(daemon: SocketDaemon) -> Caller:
    return daemon.enrol("boss", "operator")


def test_a_person_comes_in_by_a_link_and_makes_calls_as_oneself(
    daemon: SocketDaemon, ann: Caller
) -> None:
    made = link(ann)
    browser = Browser(made["origin"])
    assert browser.call("GET", "/api/v1/me").outcome == "unauthorized"
    reply = browser.sign_in(made["path"])
    kept = reply.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(kept.split("; "))
    me = browser.call("GET", "/api/v1/me").body["participant"]
    assert (me["name"], me["kind"]) == (reply.body["name"], "human")
    assert Browser(made["origin"]).sign_in(made["path"]).outcome == "unauthorized"
    assert browser.call("DELETE", "/page/api/session").status == 200
    assert browser.call("GET", "/api/v1/me").outcome == "unauthorized"


def test_signing_out_ends_what_is_open_in_that_browser_alone(ann: Caller) -> None:
    leaving, staying = signed_in(ann), signed_in(ann)
    room = ann.ok("POST", "/rooms", {"name": f"left-{next(_numbers)}"})["room"]["id"]
    with leaving.overview() as events, staying.overview() as others:
        assert next(events)[0] == "card"
        assert next(others)[0] == "card"
        with leaving.stream(f"/api/v1/rooms/{room}/events") as log:
            assert leaving.call("DELETE", "/page/api/session").status == 200
            for ended in (events, log):
                closing = [data for name, data in ended if name == "closing"]
                assert closing == [{"reason": "revoked"}]
        ann.ok("POST", f"/rooms/{room}/leave")
        assert next(data for name, data in others if name == "card" and not data["members"])


def test_agents_and_who_names_nobody_get_no_link(daemon: SocketDaemon) -> None:
    for caller in (daemon.agent("cody"), daemon.operator):
        reply = caller.call("POST", "/links", {}, base="/page/api")
        assert reply.outcome == "forbidden"
        assert "coordrooms me" in reply.body["recovery"]


def test_a_cookie_counts_nowhere_but_on_the_page(daemon: SocketDaemon, ann: Caller) -> None:
    browser = signed_in(ann)
    own = {"Cookie": browser.cookie, "Coordrooms-Page": browser.key}
    own["Sec-Fetch-Site"] = "same-origin"
    # On the socket it is the connection that counts, as without a cookie.
    assert daemon.operator.call("GET", "/me", headers=own).outcome == "conversation_required"
    assert daemon.operator.call("POST", "/links", {}, base="/page/api", headers=own).outcome == (
        "forbidden"
    )


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"Host": "evil.test"}, "host_not_allowed"),
        ({"Host": "127.0.0.1"}, "host_not_allowed"),
        ({"Origin": "http://evil.test"}, "origin_not_allowed"),
        ({"Origin": "http://127.0.0.1:1"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "cross-site"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "same-site"}, "origin_not_allowed"),
        ({"Sec-Fetch-Site": "none"}, "origin_not_allowed"),
        ({"Coordrooms-Page": "1"}, "unauthorized"),
        ({"Cookie": "a=b"}, "unauthorized"),
        ({}, 200),
    ],
)
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [("GET", "/api/v1/rooms", None), ("DELETE", "/page/api/session", None)],
)
def test_what_another_site_sends_is_refused(
    ann: Caller, method: str, path: str, body: Any, headers: dict[str, str], expected: int | str
) -> None:
    assert signed_in(ann).call(method, path, body, headers).outcome == expected


def test_the_page_s_own_address_serves_nothing_else(ann: Caller) -> None:
    browser = signed_in(ann)
    token = {"Authorization": f"Bearer {ann.token}"}
    plain = Browser(browser.origin)
    connection = http.client.HTTPConnection(plain.address, timeout=GIVE_UP_AFTER_S)
    for path in ("/api/v1/me", "/metrics", "/mcp", "/healthz", "/openapi.json", "/page/api/links"):
        connection.request("GET", path, headers=token)
        response = connection.getresponse()
        assert response.status in (401, 404), (path, response.read())
        response.read()
    connection.close()
    for path in ("/api/v1/enroll", "/api/v1/enrollments"):
        assert browser.call("POST", path, {"code": "x"}).outcome == "not_found"


def test_a_link_from_anywhere_may_lead_to_the_shell_and_no_further(ann: Caller) -> None:
    browser = signed_in(ann)
    visit = {
        "Sec-Fetch-Site": "cross-site",
        "Sec-Fetch-Mode": "navigate",
        "Sec-Fetch-Dest": "document",
        "Referer": "https://chat.example.org/",
    }
    assert browser.call("GET", "/page/rooms/kitchen/7", headers=visit).status == 200
    for path in ("/page/api/overview", "/api/v1/rooms"):
        framed = browser.call("GET", path, headers=visit)
        assert framed.outcome in ("origin_not_allowed", "not_found"), path
    frame = visit | {"Sec-Fetch-Dest": "iframe"}
    assert browser.call("GET", "/page/", headers=frame).outcome == "origin_not_allowed"


def test_every_file_is_served_with_a_policy_and_an_etag(ann: Caller) -> None:
    browser = signed_in(ann)
    names = [str(path.relative_to(FOLDER)) for path in FOLDER.rglob("*") if path.is_file()]
    assert {"index.html", "main.js", "base.css"} <= set(names)
    for name in names:
        path = f"/page/assets/{name}"
        reply = browser.call("GET", path)
        assert reply.content == (FOLDER / name).read_bytes()
        assert "script-src 'self'" in reply.headers["content-security-policy"]
        assert "unsafe" not in reply.headers["content-security-policy"]
        tag = {"If-None-Match": reply.headers["etag"]}
        assert browser.call("GET", path, headers=tag).status == 304
    for name in ("none.js", "../routes.py", "%2e%2e/routes.py", "/etc/passwd"):
        assert browser.call("GET", f"/page/assets/{name}").outcome == "not_found"
    assert browser.call("GET", "/").headers["location"] == "/page/"


def test_a_session_and_its_address_outlive_a_restart_and_end_with_the_token() -> None:
    with running(SocketDaemon()) as daemon:
        ann = daemon.enrol("ann", "human")
        browser = signed_in(ann)
        daemon.kill()
        daemon.start()
        assert browser.call("GET", "/api/v1/me").status == 200
        with browser.overview() as events:
            assert next(events)[0] == "ready"
            daemon.operator.ok("DELETE", "/participants/ann/tokens")
            assert [data for name, data in events if name == "closing"] == [{"reason": "revoked"}]
        assert browser.call("GET", "/api/v1/me").outcome == "unauthorized"


def test_behind_tls_the_cookie_is_for_tls_alone() -> None:
    with running(ListeningDaemon(config=f'[server]\nhosts = ["{PROXY}"]\n')) as daemon:
        ann = daemon.enrol("ann", "human")
        made = link(ann)
        assert made["origin"] is None
        browser = Browser(f"http://127.0.0.1:{daemon.port}")
        proxied = {"Host": PROXY, "Origin": f"https://{PROXY}"}
        code = {"code": made["path"].partition("#")[2]}
        reply = browser.call("POST", "/page/api/session", code, proxied)
        assert "Secure" in reply.headers["set-cookie"].split("; ")
        # On the host itself the link is for the listener that there is.
        assert link(ann.over_socket())["origin"] == f"http://127.0.0.1:{daemon.port}"


def test_the_overview_has_each_room_and_what_becomes_of_it(
    daemon: SocketDaemon, ann: Caller, unique: Unique
) -> None:
    name = unique("kitchen")
    cody = daemon.agent(unique("cody"))
    room = cody.ok("POST", "/rooms", {"name": name})["room"]
    question = {"messages": [{"kind": "question", "body": "Gas or induction?"}]}
    cody.ok("POST", f"/rooms/{name}/messages", question)
    cody.ok("PUT", f"/rooms/{name}/status", {"status": "measuring"})
    cody.ok("POST", f"/rooms/{name}/claims", {"key": "the stove"})
    with signed_in(ann).overview() as events:

        def card(wanted: Any) -> Any:
            return next(
                data
                for kind, data in events
                if kind == "card" and data["room"]["id"] == room["id"] and wanted(data)
            )

        first = card(lambda _: True)
        assert [one["body"] for one in first["questions"]] == ["Gas or induction?"]
        assert (first["open_questions"], first["unread"]) == (1, 1)
        assert first["last_message"]["author"]["name"] == cody.name
        assert [one["key"] for one in first["claims"]] == ["the stove"]
        [member] = first["members"]
        assert member["status"]["status"] == "measuring"

        person = ann.over_socket()
        person.ok("POST", f"/rooms/{name}/join")
        answer = {"messages": [{"kind": "answer", "body": "Gas.", "reply_to": 2}]}
        person.ok("POST", f"/rooms/{name}/messages", answer)
        answered = card(lambda data: data["open_questions"] == 0)
        # What one wrote oneself is not unread, and joining has shown all that was before.
        assert (answered["unread"], len(answered["members"])) == (0, 2)
        cody.ok("POST", f"/rooms/{name}/leave")
        assert card(lambda data: len(data["members"]) == 1)["claims"] == []


def test_the_overview_counts_what_this_browser_has_not_shown(
    daemon: SocketDaemon, ann: Caller, unique: Unique
) -> None:
    cody = daemon.agent(unique("cody"))
    room = cody.ok("POST", "/rooms", {"name": unique("room")})["room"]
    said = [{"kind": "status", "body": str(number)} for number in range(5)]
    cody.ok("POST", f"/rooms/{room['id']}/messages", {"messages": said})
    browser = signed_in(ann)
    for seen, unread in ((0, 5), (4, 2), (6, 0), (10**6, 0)):
        with browser.overview({room["id"]: seen}) as events:
            card = next(d for k, d in events if k == "card" and d["room"]["id"] == room["id"])
            assert (seen, card["unread"]) == (seen, unread)


def test_conversations_are_shown_to_their_two_and_the_operator(
    daemon: SocketDaemon, ann: Caller, bob: Caller, boss: Caller, unique: Unique
) -> None:
    cody = daemon.agent(unique("cody"))
    cody.ok("GET", "/rooms")
    cody.ok("POST", "/rooms", {"name": unique("room")})
    thread = ann.ok("POST", "/conversations", {"with": cody.name})["conversation"]["id"]
    shown = {}
    for person in (ann, bob, boss):
        with signed_in(person).overview() as events:
            seen = []
            for kind, data in events:
                if kind == "ready":
                    break
                seen.append(data["room"]["id"])
            shown[person.token] = thread in seen
    assert list(shown.values()) == [True, False, True]


def test_an_overview_is_one_stream_whatever_it_shows(daemon: SocketDaemon, ann: Caller) -> None:
    def streams() -> float:
        text = daemon.operator.call("GET", "/metrics", base="").content.decode()
        [line] = [line for line in text.splitlines() if line.startswith("coordrooms_streams ")]
        return float(line.split()[1])

    # Those of earlier tests end when the daemon hears that nobody reads them.
    block_until(lambda: streams() == 0)
    with signed_in(ann).overview() as events:
        while next(events)[0] != "ready":
            pass
        assert streams() == 1
    block_until(lambda: streams() == 0)


@pytest.mark.parametrize("seen", [[], {"r": -1}, {"r": "1"}, {"r": True}, {"r": 1.5}])
def test_numbers_that_are_none_are_refused(ann: Caller, seen: Any) -> None:
    reply = signed_in(ann).call("POST", "/page/api/overview", {"seen": seen})
    assert reply.outcome == "invalid_arguments"


def test_a_request_that_is_too_large_is_refused(ann: Caller) -> None:
    reply = signed_in(ann).call("POST", "/page/api/overview", {"seen": {"r" * 70_000: 1}})
    assert reply.outcome == "payload_too_large"
