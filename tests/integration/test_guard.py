"""What the TCP listener lets in: Host, Origin and media type against each other, byte by byte."""

from __future__ import annotations

import itertools
import socket
from collections.abc import Iterator

import pytest

from tests.acceptance.daemons import running
from tests.integration.callers import Caller, ListeningDaemon
from tests.integration.wires import Headers, Reply, Wire

PROXY = "rooms.example.org"
BODY = b'{"cursors": {}}'

# What a browser or program may say, by whether it is ours. `{port}` is the listener's, {other} not.
HOSTS: dict[str, list[list[str]]] = {
    "ours": [
        ["127.0.0.1:{port}"],
        ["localhost:{port}"],
        ["LocalHost:{port}"],
        ["[::1]:{port}"],
        [PROXY],
        [PROXY.upper()],
    ],
    "foreign": [
        [],
        [""],
        ["127.0.0.1"],
        ["127.0.0.1:{other}"],
        ["localhost.:{port}"],
        ["localhost.evil.test:{port}"],
        ["127.0.0.1.evil.test:{port}"],
        ["evil.test"],
        ["evil.test:{port}"],
        ["127.1:{port}"],
        ["0.0.0.0:{port}"],
        ["[::1]"],
        ["::1:{port}"],
        ["[::ffff:127.0.0.1]:{port}"],
        ["evil.test@127.0.0.1:{port}"],
        ["127.0.0.1:{port}, evil.test"],
        [f"{PROXY}."],
        [f"{PROXY}:443"],
        [f"x.{PROXY}"],
        ["127.0.0.1:{port}", "127.0.0.1:{port}"],
        ["127.0.0.1:{port}", "evil.test"],
        ["evil.test", "127.0.0.1:{port}"],
    ],
}
ORIGINS: dict[str, list[list[str]]] = {
    "ours": [[], ["http://127.0.0.1:{port}"], ["HTTP://Localhost:{port}"], [f"https://{PROXY}"]],
    "foreign": [
        ["null"],
        [""],
        ["http://evil.test"],
        ["http://localhost.evil.test:{port}"],
        ["http://localhost:{other}"],
        ["http://localhost"],
        ["http://localhost.:{port}"],
        ["http://evil.test@localhost:{port}"],
        ["http://localhost:{port}@evil.test"],
        ["ftp://localhost:{port}"],
        ["//localhost:{port}"],
        ["localhost:{port}"],
        ["http://[::1"],
        ["moz-extension://0b1c"],
        ["http://localhost:{port}", "http://evil.test"],
    ],
}
REFERERS: dict[str, list[list[str]]] = {
    "ours": [[], ["http://localhost:{port}/rooms?x=1"], [f"https://{PROXY}/"]],
    "foreign": [
        ["http://evil.test/"],
        ["http://evil.test/http://localhost:{port}/"],
        ["http://evil.test?http://localhost:{port}"],
        ["http://localhost:{port}.evil.test/"],
        ["about:blank"],
        [""],
    ],
}
FETCH_SITES: dict[str, list[list[str]]] = {
    "ours": [[], ["same-origin"], ["none"]],
    "foreign": [["cross-site"], ["same-site"], [""], ["Cross-Site"], ["none", "cross-site"]],
}
MEDIA_TYPES: dict[str, list[list[str]]] = {
    "ours": [["application/json"], ["Application/JSON; charset=utf-8"], ["application/x+json"]],
    "foreign": [
        [],
        [""],
        ["text/plain"],
        ["text/plain; application/json"],
        ["application/x-www-form-urlencoded"],
        ["multipart/form-data; boundary=application/json"],
        ["application/jsonp"],
        ["text/plain, application/json"],
    ],
}
TABLES = {
    "Host": (HOSTS, "host_not_allowed"),
    "Origin": (ORIGINS, "origin_not_allowed"),
    "Referer": (REFERERS, "origin_not_allowed"),
    "Sec-Fetch-Site": (FETCH_SITES, "origin_not_allowed"),
    "Content-Type": (MEDIA_TYPES, "unsupported_media_type"),
}


@pytest.fixture(scope="module")
def daemon() -> Iterator[ListeningDaemon]:
    with running(ListeningDaemon(config=f'[server]\nhosts = ["{PROXY}"]\n')) as daemon:
        yield daemon


@pytest.fixture(scope="module")
def caller(daemon: ListeningDaemon) -> Caller:
    return daemon.enrol("ann", "agent")


def _lines(daemon: ListeningDaemon, name: str, values: list[str]) -> Headers:
    ports = {"port": daemon.port, "other": daemon.port + 1}
    return [(name, value.format(**ports)) for value in values]


def _combinations(*names: str) -> Iterator[tuple[list[tuple[str, list[str]]], int | str]]:
    """Every choice of values for these headers, in the order of checks, and its outcome."""
    choices = [
        [(name, value, ours) for ours, values in TABLES[name][0].items() for value in values]
        for name in names
    ]
    for combination in itertools.product(*choices):
        outcome: int | str = 200
        for name, _, ours in reversed(combination):
            if ours == "foreign":
                outcome = TABLES[name][1]
        yield [(name, value) for name, value, _ in combination], outcome


@pytest.mark.parametrize(
    "names",
    [
        ("Host", "Origin", "Content-Type"),
        ("Host", "Referer", "Sec-Fetch-Site"),
        ("Origin", "Referer", "Sec-Fetch-Site"),
    ],
)
def test_every_combination(caller: Caller, names: tuple[str, ...]) -> None:
    daemon = caller.daemon
    own: Headers = [("Authorization", caller.headers()["Authorization"])]
    if "Host" not in names:
        own.append(("Host", f"127.0.0.1:{daemon.port}"))
    if "Content-Type" not in names:
        own.append(("Content-Type", "application/json"))
    wrong = []
    with Wire(caller) as wire:
        for chosen, outcome in _combinations(*names):
            sent = [line for name, values in chosen for line in _lines(daemon, name, values)]
            reply = wire.ask("POST", "/api/v1/cursor", own + sent, BODY)
            assert "access-control" not in reply.head.lower()
            if reply.outcome != outcome:
                wrong.append((sent, outcome, reply.outcome))
    assert wrong == []


@pytest.mark.parametrize(
    "target",
    ["/", "/healthz", "/readyz", "/metrics", "/openapi.json", "/mcp", "/api/v1/rooms", "/api/v1/x"],
)
def test_the_guard_stands_before_everything(caller: Caller, target: str) -> None:
    own = ("Host", f"127.0.0.1:{caller.daemon.port}")
    with Wire(caller) as wire:
        assert wire.ask("GET", target, [("Host", "evil.test")]).outcome == "host_not_allowed"
        foreign = [own, ("Origin", "http://evil.test")]
        assert wire.ask("GET", target, foreign).outcome == "origin_not_allowed"
        preflight = [*foreign, ("Access-Control-Request-Method", "POST")]
        assert wire.ask("OPTIONS", target, preflight).outcome == "origin_not_allowed"


def test_what_a_proxy_says_about_others_is_not_believed(caller: Caller) -> None:
    own: Headers = [("Authorization", caller.headers()["Authorization"])]
    forwarded = [
        ("X-Forwarded-Host", "127.0.0.1:{port}"),
        ("Forwarded", "host=127.0.0.1:{port};for=127.0.0.1"),
        ("X-Forwarded-For", "127.0.0.1"),
        ("X-Original-URL", "/healthz"),
    ]
    lines = [line for name, value in forwarded for line in _lines(caller.daemon, name, [value])]
    with Wire(caller) as wire:
        reply = wire.ask("GET", "/api/v1/rooms", [*own, ("Host", "evil.test"), *lines])
        assert reply.outcome == "host_not_allowed"
        ours = ("Host", f"127.0.0.1:{caller.daemon.port}")
        assert wire.ask("GET", "/api/v1/rooms", [ours, *lines]).outcome == "unauthorized"


@pytest.mark.parametrize("host", [[], ["evil.test"], ["127.0.0.1:1"]])
def test_the_socket_needs_no_guard(daemon: ListeningDaemon, host: list[str]) -> None:
    """No browser reaches it, and no name points to it."""
    lines = [("Host", one) for one in host] + [("Origin", "http://evil.test")]
    with Wire(daemon.operator) as wire:
        assert wire.ask("GET", "/api/v1/rooms", lines).status == 200


def test_an_address_of_ip_version_6() -> None:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        pytest.skip("this machine has no ::1")
    with running(ListeningDaemon("[::1]")) as daemon:

        def outcome(host: str) -> int | str:
            with Wire(daemon.operator) as wire:
                lines = [("Host", host)]
                wire.connect_to(("::1", daemon.port))
                reply: Reply = wire.ask("GET", "/healthz", lines)
                return reply.outcome

        for host in ("[::1]", "localhost", "127.0.0.1"):
            assert outcome(f"{host}:{daemon.port}") == 200
        for host in ("::1", "[::2]", "[0:0:0:0:0:0:0:1]", "[::1%25lo]", "ip6-localhost"):
            assert outcome(f"{host}:{daemon.port}") == "host_not_allowed"
