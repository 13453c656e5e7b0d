"""The page that the daemon serves to people."""

from __future__ import annotations

from datetime import datetime

from ..calls import Call
from ..models import Json, moment
from ..records import Record


class PageLink(Record):
    """A link that signs a browser in, once, until `expires_at`.

    `origin` is None when the daemon does not know under which address it was reached.
    """

    origin: str | None
    path: str
    expires_at: datetime

    def __repr__(self) -> str:
        return f"PageLink(origin={self.origin!r}, path=…, expires_at={self.expires_at!r})"


def page_link() -> Call[PageLink]:
    """Make a link for oneself. For people and operators, by their token (ForbiddenError)."""
    return Call(method="POST", path="/links", parse=_link, body={}, base="/page/api")


def _link(data: Json) -> PageLink:
    return PageLink(origin=data["origin"], path=data["path"], expires_at=moment(data["expires_at"]))
