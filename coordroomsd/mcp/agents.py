"""Who uses the tools, and how a tool asks the daemon for something in that agent's name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol
from urllib.parse import quote

import orjson

from coordroomsd.api.callers import Caller
from coordroomsd.domain import ids
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.journal.submissions import Answer

Json = dict[str, Any]

_OF_EVERY_REFUSAL: Final = ("type", "title", "status", "code", "detail", "recovery")
# Of the visible ASCII characters, a header needs only the sign of an escape escaped.
_VISIBLE: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) != "%")


class Api(Protocol):
    """The daemon's calls, as `api.pipeline.Api` has them."""

    async def call(
        self,
        caller: Caller,
        method: str,
        path: str,
        *,
        conversation: str | None,
        query: Mapping[str, str | list[str]] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Agent:
    """A session of a host, as one call sees it.

    `conversation` is the id it was started with, or the call's own; `max_wait_s` is the user's word
    on how long one wait may take with this host; `generation` is the one that the numbers are of
    which the agent has, as far as its relay knows.
    """

    api: Api
    caller: Caller
    conversation: str | None = None
    max_wait_s: float | None = None
    generation: str | None = None

    def named(self, conversation: str | None) -> Agent:
        """This agent under the `conversationId` of a call. Raises for an id of a thread."""
        if conversation is None:
            return self
        if ids.room_number(conversation) is not None:
            raise invalid(
                "conversationId",
                "is the id of a room or a thread; it should be your own, given by your host",
            )
        return replace(self, conversation=conversation)

    @property
    def name(self) -> str:
        """The acting participant. Raises `conversation_required` when there is none."""
        name = self.conversation or self.caller.name
        if name is None:
            raise Refusal("conversation_required", "The call names no acting participant.")
        return name

    def check_named(self) -> None:
        """Raises `conversation_required` when nobody is named, by the call or by its credential."""
        _ = self.name

    async def ask(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        key: str | None = None,
    ) -> Json:
        """The answer of the API; of `query`, members that are None are left out. Raises Refusal."""
        answer = await self.api.call(
            self.caller,
            method,
            path,
            conversation=None
            if self.conversation is None
            else quote(self.conversation, safe=_VISIBLE),
            query={name: _texts(value) for name, value in present(query or {}).items()},
            body=body,
            key=key,
        )
        value: Json = orjson.loads(answer.body)
        if answer.status >= 400:
            raise _refusal(value)
        return value


def _refusal(problem: Json) -> Refusal:
    """The refusal that a problem document tells of."""
    extra = {name: value for name, value in problem.items() if name not in _OF_EVERY_REFUSAL}
    return Refusal(problem["code"], problem["detail"], recovery=problem["recovery"], **extra)


def segment(name: object) -> str:
    """A name or a number as one segment of a path."""
    return quote(str(name), safe="@")


def present(members: Mapping[str, Any]) -> Json:
    """Without the members that are None."""
    return {name: value for name, value in members.items() if value is not None}


def _texts(value: Any) -> str | list[str]:
    return [str(item) for item in value] if isinstance(value, list) else str(value)
