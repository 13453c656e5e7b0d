"""What the two fronts have in common: how a client is made, and what a room handle knows."""

from __future__ import annotations

from .addresses import acting_conversation, daemon_addresses, token
from .answers import Joined
from .sessions import Session


class ClientBase:
    """A daemon, called as one participant.

    `as_` is the acting participant, else `COORDROOMS_CONVERSATION`; `url` is where the daemon is
    (`unix:/path`, `http://host:port`), else `COORDROOMS_URL`, else this user's default socket;
    `token_file` holds the token, else the file that `COORDROOMS_TOKEN_FILE` names.

    A URL may name several daemons on one database, with commas between them. The first is called
    while it is there, else the next; nothing is lost or repeated by that.

    A call that gets no answer within `timeout_s` (a wait: within ten seconds of its own time), or
    finds the daemon away, is repeated for up to `patience_s` with the same idempotency key, so
    that nothing is done twice. Being asked to slow down raises RateLimitedError, unless
    `wait_out_rate_limits` is set: then that is waited for, within `patience_s` as well.
    """

    def __init__(
        self,
        as_: str | None = None,
        *,
        url: str | None = None,
        token_file: str | None = None,
        timeout_s: float = 30.0,
        patience_s: float = 30.0,
        wait_out_rate_limits: bool = False,
    ) -> None:
        self.session = Session(
            daemon_addresses(url),
            acting_conversation(as_),
            token(token_file),
            timeout_s=timeout_s,
            patience_s=patience_s,
            wait_out_rate_limits=wait_out_rate_limits,
        )

    def close(self) -> None:
        """Close the connections that are not in use; those in use close after their answer."""
        self.session.close()

    @property
    def address(self) -> str:
        """Where the daemon is, as a URL."""
        return str(self.session.address)

    @property
    def conversation(self) -> str | None:
        """Who acts, if anybody is named."""
        return self.session.conversation


class RoomBase:
    """A room or a conversation, by its slug, id or exact name, or `@active`.

    `joined` is the answer to `join` or `create_room` when the handle came from there; following
    the room begins where that says.
    """

    def __init__(self, ref: str, joined: Joined | None = None) -> None:
        self.ref = ref
        self.joined = joined

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ref}>"
