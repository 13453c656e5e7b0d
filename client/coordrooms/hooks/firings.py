"""One hook from beginning to end: read, ask, print, confirm.

The order is what keeps messages: they are confirmed once the host has all of the output. A hook
that dies before that has confirmed nothing, and the next one hands the same over again.
"""

from __future__ import annotations

import json
import os

from .. import __version__
from ..errors import ConfigurationError
from ..hosts.facts import QUEUED, SESSION, STOP, SUBAGENT, WAKE
from .daemons import UNREAD, AwayError, Daemon, RefusedError
from .inputs import InputError, conversation_of, read_document, session_of
from .traces import Trace, forget_old_sessions, log, now

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ..hosts.facts import Event, Host, Json

# The active room of someone who has none.
_IN_NO_ROOM = ("active_membership_not_found", "membership_not_found", "room_not_found")


def fire(host: Host, options: dict[str, str]) -> int:
    """Run the hook of an event; returns the exit code, which is 0 but for a wake."""
    name = options["EVENT"]
    try:
        event = host.event(name)
        if event is None:
            raise InputError(f"{host.title} has no event of that name that is of use here")
        document = {} if "--session" in options else read_document()
        document = _with_session(host, document, options.get("--session"))
        conversation = conversation_of(host, document)
        if event.moment == WAKE:
            from .wakers import keep_watch

            return keep_watch(host, session_of(host, document), conversation, options)
        with Trace(conversation) as trace:
            firing = Firing(host, event, conversation, options.get("--url"))
            firing.run(trace)
        if event.moment == STOP and firing.outcome == NOTHING and host.waker == QUEUED:
            from .wakers import start_watch

            start_watch(host, session_of(host, document), conversation, options)
    except (AwayError, ConfigurationError, InputError, OSError, RefusedError) as fault:
        log(host, name, str(fault))
    return 0


NOTHING = "nothing unread"


class Firing:
    """A hook that has found out whose it is."""

    def __init__(self, host: Host, event: Event, conversation: str, url: str | None) -> None:
        self.host = host
        self.event = event
        self.conversation = conversation
        self.outcome = ""
        self._url = url
        # Of the daemon's database: as the hook before this one met it, and as it is now.
        self._generation_before: str | None = None
        self._generation: str | None = None

    def run(self, trace: Trace) -> None:
        """Do it, and note in the session's file how it went."""
        if trace.elsewhere:
            return  # another hook of this session is handing over what there is
        self._generation = self._generation_before = trace.last.get("generation")
        try:
            with Daemon(self.conversation, self._url, self.host.wake) as daemon:
                if self.event.moment in (SESSION, SUBAGENT):
                    self._tell(daemon)
                else:
                    self._hand_over(daemon)
        except (AwayError, ConfigurationError, OSError, RefusedError) as fault:
            self.outcome = str(fault)
            raise
        finally:
            trace.note(self._noted())

    def _noted(self) -> Json:
        return {
            "host": self.host.name,
            "conversation": self.conversation,
            "event": self.event.name,
            "at": now(),
            "outcome": self.outcome,
            # A turn that was kept from ending goes on.
            "generation": self._generation,
            "idle": self.event.moment == STOP and self.outcome == NOTHING,
            "version": __version__,
        }

    def _tell(self, daemon: Daemon) -> None:
        """The session's id, and where things stand in its room."""
        if self.event.moment == SESSION:
            forget_old_sessions()
        try:
            shown = daemon.get("/rooms/@active")
        except RefusedError as refused:
            if refused.code not in _IN_NO_ROOM:
                raise
            shown = None
        unread = [] if shown is None else daemon.get(UNREAD)["unread"]
        from .contexts import session_text

        if shown is not None:
            self._generation = shown["room"]["generation"]
        self._print(session_text(self.conversation, shown, unread, restored=self._is_restored()))
        self.outcome = "told where things stand"

    def _hand_over(self, daemon: Daemon) -> None:
        unread = daemon.get(UNREAD)["unread"]
        if unread:
            self._generation = unread[0]["generation"]
        if not any(portion["messages"] for portion in unread):
            self.outcome = NOTHING
            if self._is_restored():
                from .contexts import RESTORED

                self._print(RESTORED)
                self.outcome = "told that the database was restored"
            return
        from .contexts import batch

        found = batch(unread, restored=self._is_restored())
        self._print(found.text)
        self.outcome = f"handed over {found.count}"
        # The numbers are of this database, and of no older one that comes back just now.
        daemon.post(f"/cursor?generation={self._generation}", {"cursors": found.cursors})

    def _is_restored(self) -> bool:
        return self._generation_before not in (None, self._generation)

    def _print(self, text: str) -> None:
        data = json.dumps(self.event.answer(text)).encode() + b"\n"
        while data:
            data = data[os.write(1, data) :]


def _with_session(host: Host, document: Json, session: str | None) -> Json:
    return document if session is None else {**document, host.session_keys[0]: session}
