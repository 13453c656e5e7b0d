"""Who looks at the page: one-time codes, and the sessions that they are exchanged for.

A session is two secrets, and a request must have both. The cookie is out of reach of scripts, but a
browser sends it to every port of a host (RFC 6265, 8.5), so to another user's server too. The key
is kept by the page for its origin, port included, and sent in a header, which no foreign page can
set.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from datetime import datetime, timedelta
from http.cookies import CookieError, SimpleCookie
from typing import NamedTuple

from coordroomsd.api.callers import Caller
from coordroomsd.clock import Clock
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled, credential_of, secret_hash
from coordroomsd.http.credentials import PAGE_HEADER
from coordroomsd.live.people import People
from coordroomsd.live.waiters import Hub
from coordroomsd.page.keeping import Keeper, Session

# A browser takes a second or two to start; whoever finds the link later finds nothing.
CODE_LASTS = timedelta(seconds=60)
SESSION_LASTS = timedelta(days=14)
# Each browser and profile has one; the oldest makes room.
SESSIONS_EACH = 20

AGAIN = "Run `coordrooms dashboard` again, and use the link that it opens."

Header = Callable[[bytes], str | None]


class Offered(NamedTuple):
    code: str
    expires_at: datetime


class Opened(NamedTuple):
    """The two secrets of a new session, and whose it is."""

    cookie: str
    key: str
    person: Enrolled


class _Offer(NamedTuple):
    project: str
    name: str
    token_hash: bytes
    expires_at: datetime


class Sessions:
    """`new_secret` gives one that nobody can guess; `hub` has what goes on in a session."""

    def __init__(
        self,
        people: People,
        clock: Clock,
        new_secret: Callable[[], str],
        keeper: Keeper,
        hub: Hub,
    ) -> None:
        self._people = people
        self._clock = clock
        self._new_secret = new_secret
        self._keeper = keeper
        self._hub = hub
        self._offers: dict[bytes, _Offer] = {}

    def offer(self, caller: Caller) -> Offered:
        """A code for a person or operator with a token. Raises `forbidden`."""
        person = self._people.get(caller.project, caller.name) if caller.name else None
        if person is None or person.token_hash is None or person.role == "agent":
            raise Refusal(
                "forbidden",
                "The page is for people and operators, who call with their token.",
                recovery="Run `coordrooms me NAME` once, then `coordrooms dashboard --as NAME`.",
            )
        now = self._clock.now()
        self._offers = {code: one for code, one in self._offers.items() if one.expires_at > now}
        code, expires_at = self._new_secret(), now + CODE_LASTS
        self._offers[secret_hash(code)] = _Offer(
            person.project, person.name, person.token_hash, expires_at
        )
        return Offered(code, expires_at)

    def take_up(self, code: str) -> Opened:
        """Exchange a code, once. Raises `unauthorized`."""
        offer, now = self._offers.pop(secret_hash(code), None), self._clock.now()
        person = self._people.get(offer.project, offer.name) if offer else None
        if (
            offer is None
            or person is None
            or offer.expires_at <= now
            or person.token_hash != offer.token_hash
        ):
            raise Refusal(
                "unauthorized", "This link was used before, or is too old.", recovery=AGAIN
            )
        cookie, key = self._new_secret(), self._new_secret()
        session = Session(
            secret_hash(cookie),
            secret_hash(key),
            person.project,
            person.name,
            offer.token_hash,
            now + SESSION_LASTS,
        )
        self._keep(session, now)
        return Opened(cookie, key, person)

    def caller(self, header: Header) -> Caller:
        """Who sent a request of the page's. Raises `origin_not_allowed` or `unauthorized`."""
        check_is_own(header)
        session = self._keeper.sessions.get(secret_hash(_cookie(header)))
        key = secret_hash(header(PAGE_HEADER) or "")
        person = None
        if session and hmac.compare_digest(session.key_hash, key):
            person = self._people.get(session.project, session.name)
        if (
            session is None
            or person is None
            or session.expires_at <= self._clock.now()
            or person.token_hash != session.token_hash
        ):
            raise Refusal(
                "unauthorized", "You are signed out, or were never signed in.", recovery=AGAIN
            )
        return Caller(
            person.project,
            person.kind,
            person.role,
            person.name,
            credential_of(person),
            session=session.cookie_hash,
        )

    def end(self, header: Header) -> None:
        """Sign out. Raises as `caller` does."""
        ended = self.caller(header).session
        self._keeper.forget(secret_hash(_cookie(header)))
        self._hub.revoke(ended, Refusal("unauthorized", "You signed out.", recovery=AGAIN))

    def _keep(self, session: Session, now: datetime) -> None:
        others = [one for one in self._keeper.sessions.values() if one.expires_at > now]
        of_person = [one for one in others if one[2:4] == session[2:4]]
        too_many = of_person[: max(0, len(of_person) + 1 - SESSIONS_EACH)]
        self._keeper.replace([*(one for one in others if one not in too_many), session])
        for one in too_many:
            displaced = "You signed in to this page in many other browsers since."
            self._hub.revoke(one.cookie_hash, Refusal("unauthorized", displaced, recovery=AGAIN))


def check_is_own(header: Header) -> None:
    """Raises `origin_not_allowed` for what the page itself did not send.

    Browsers tell (Fetch Metadata), and no script can set this header.
    """
    if header(b"sec-fetch-site") != "same-origin" or header(PAGE_HEADER) is None:
        raise Refusal(
            "origin_not_allowed",
            "A session is for the page alone, in a browser that says where a request comes from, "
            "over HTTPS or at a loopback address.",
        )


def cookie_name(host: str) -> str:
    """Of its own for each port, since ports of a host share their cookies."""
    port = host.rpartition(":")[2]
    return f"coordrooms-{port}" if port.isascii() and port.isdigit() else "coordrooms"


def _cookie(header: Header) -> str:
    try:
        found = SimpleCookie(header(b"cookie") or "").get(cookie_name(header(b"host") or ""))
    except CookieError:
        return ""
    return found.value if found else ""
