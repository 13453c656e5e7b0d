"""Keeping browsers of other sites out of the TCP listener.

A page anywhere can make a browser send requests to a loopback address, and a name that it controls
can be made to point there (DNS rebinding: CVE-2022-41924, CVE-2025-66416). So the Host must be ours
exactly, and where a browser tells whence a request comes, that must be us too. The Unix socket is
out of a browser's reach.
"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from coordroomsd.domain.errors import Refusal
from coordroomsd.http.peers import Peer
from coordroomsd.http.replies import Header

_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_ANY_ADDRESS = ("0.0.0.0", "[::]")  # noqa: S104 (compared with, not listened on)
_LOOPBACK_OF = dict(zip(_ANY_ADDRESS, _LOOPBACK[1:], strict=True))
_OWN_FETCH_SITES = ("same-origin", "none")


class Guard:
    """`hosts` are the values of Host that are ours, in lower case."""

    def __init__(self, hosts: Iterable[str]) -> None:
        self.let_in(hosts)

    def let_in(self, hosts: Iterable[str]) -> None:
        """These from now on, and no others."""
        self._hosts = frozenset(hosts)
        self._origins = frozenset(
            f"{scheme}://{host}" for scheme in ("http", "https") for host in self._hosts
        )

    def check(self, peer: Peer, raw_headers: list[Header]) -> None:
        """Raises `host_not_allowed` or `origin_not_allowed`."""
        if peer.uid is not None:
            return
        headers = Headers(raw=raw_headers)
        self._check_host(headers)
        self._check_origin(headers)

    def check_visit(self, peer: Peer, raw_headers: list[Header]) -> None:
        """For what a link on any site may lead to. Raises `host_not_allowed`."""
        if peer.uid is None:
            self._check_host(Headers(raw=raw_headers))

    def _check_host(self, headers: Headers) -> None:
        hosts = [host.lower() for host in headers.getlist("host")]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            named = ", ".join(hosts)[:200] or "nothing"
            raise Refusal("host_not_allowed", f"The request is for {named}, which is not us.")

    def _check_origin(self, headers: Headers) -> None:
        for name in ("origin", "referer"):
            for value in headers.getlist(name):
                if origin_of(value) not in self._origins:
                    raise Refusal(
                        "origin_not_allowed", f"The request comes from another site ({name})."
                    )
        for value in headers.getlist("sec-fetch-site"):
            if value not in _OWN_FETCH_SITES:
                raise Refusal(
                    "origin_not_allowed", "The request comes from another site (sec-fetch-site)."
                )


def origin_of(url: str) -> str | None:
    """Scheme, host and port of a URL or origin; None where there are none, as for `null`."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return None
    if not parts.scheme or not parts.netloc or "@" in parts.netloc:
        return None
    return f"{parts.scheme}://{parts.netloc}".lower()


def local_host(listening: str) -> str | None:
    """The loopback address at which a listener is reached from its host, if it is."""
    if listening in _LOOPBACK:
        return listening
    return _LOOPBACK_OF.get(listening)


def own_hosts(host: str, port: int, further: Iterable[str]) -> list[str]:
    """What Host may say for a listener: its address, loopback by any name, what is configured.

    `host` is an address in the form of a URL, `further` names as a proxy passes them on.
    """
    names = [host]
    if host in _LOOPBACK or host in _ANY_ADDRESS:
        names = [name for name in (host, *_LOOPBACK) if name not in _ANY_ADDRESS]
    own = [f"{name}:{port}" for name in names]
    if port == 80:
        own += names
    return [name.lower() for name in (*own, *further)]
