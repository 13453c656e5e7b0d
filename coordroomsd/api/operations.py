"""The table of calls: where each is, who may make it, what it takes and gives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from coordroomsd.api import answers, delivery, messages, rooms, schemas, states, waiting
from coordroomsd.api.call import Call
from coordroomsd.api.fields import Fields
from coordroomsd.journal.submissions import Answer

# Who may call: anybody with a credential; one who acts for a participant; that or the operator; a reader of the room.
Needs = Literal["nobody", "participant", "participant_or_operator", "operator"]


@dataclass(frozen=True, slots=True)
class Operation:
    """One call. `path` is what follows /api/v1; its `{room}` is resolved before the handler runs."""

    id: str
    method: str
    path: str
    summary: str
    handler: Callable[[Call], Awaitable[Answer]]
    needs: Needs
    answer: type[answers.AnswerModel]
    status: int = 200
    body: type[Fields] | None = None
    query: type[Fields] = schemas.Nothing
    # The codes that it may be refused with, beside those of every call.
    refusals: tuple[str, ...] = ()
    takes_key: bool = False
    key_required: bool = False
    # It may stay for minutes, and ends when its caller goes away.
    parks: bool = False
    # With Accept: text/event-stream it is a stream.
    streams: bool = False

    @property
    def has_room(self) -> bool:
        return "{room}" in self.path or "{conversation}" in self.path


_ROOM = ("room_not_found",)
_MEMBER = (*_ROOM, "membership_not_found", "active_membership_not_found")
_CURSOR = ("cursor_ahead", "generation_changed")
_WRITE = ("rate_limited", "idempotency_key_reused", "store_unavailable")

OPERATIONS: tuple[Operation, ...] = (
    Operation(
        "getMe", "GET", "/me", "Who I am, the room I am active in, my conversations",
        rooms.me, "participant", answers.Me,
    ),
    Operation(
        "listParticipants", "GET", "/participants", "The participants of the project",
        rooms.participants, "participant_or_operator", answers.ParticipantList,
        query=schemas.ListPage,
    ),
    Operation(
        "createRoom", "POST", "/rooms", "Make a room and join it",
        rooms.create, "participant", answers.Entered, 201, schemas.NewRoom,
        refusals=("room_name_conflict", "active_membership_conflict", *_WRITE), takes_key=True,
    ),
    Operation(
        "listRooms", "GET", "/rooms", "The rooms of the project",
        rooms.list_rooms, "nobody", answers.RoomList, query=schemas.ListRooms,
    ),
    Operation(
        "getRoom", "GET", "/rooms/{room}", "A room, its members and its claims",
        rooms.show, "participant_or_operator", answers.RoomPage, refusals=_MEMBER,
    ),
    Operation(
        "joinRoom", "POST", "/rooms/{room}/join", "Join a room",
        rooms.join, "participant", answers.Entered,
        refusals=(*_ROOM, "active_membership_conflict", "forbidden", *_WRITE), takes_key=True,
    ),
    Operation(
        "leaveRoom", "POST", "/rooms/{room}/leave", "Leave a room",
        rooms.leave, "participant", answers.Left,
        refusals=(*_MEMBER, "forbidden", *_WRITE), takes_key=True,
    ),
    Operation(
        "listMembers", "GET", "/rooms/{room}/members", "Who is, or was, in a room",
        rooms.members, "participant_or_operator", answers.MemberList, refusals=_MEMBER,
    ),
    Operation(
        "postMessages", "POST", "/rooms/{room}/messages", "Post messages, all or none",
        messages.post, "participant", answers.Posted, 201, schemas.NewMessages,
        schemas.WithGeneration,
        (*_MEMBER, *_CURSOR, "reply_target_invalid", "unseen_messages", "not_claim_holder", "forbidden", *_WRITE),
        takes_key=True,
    ),
    Operation(
        "listMessages", "GET", "/rooms/{room}/messages", "The history of messages",
        messages.page, "participant_or_operator", answers.MessagePage,
        query=schemas.MessagesPage, refusals=(*_MEMBER, *_CURSOR),
    ),
    Operation(
        "getMessage", "GET", "/rooms/{room}/messages/{message}", "One message",
        messages.show, "participant_or_operator", answers.OneMessage,
        refusals=(*_MEMBER, "message_not_found"),
    ),
    Operation(
        "listReceipts", "GET", "/rooms/{room}/messages/{message}/receipts",
        "How far a message has come with each member",
        messages.receipts, "participant_or_operator", answers.ReceiptList,
        refusals=(*_MEMBER, "message_not_found"),
    ),
    Operation(
        "listReactions", "GET", "/rooms/{room}/messages/{message}/reactions",
        "Who holds which reaction to a message",
        states.reactions, "participant_or_operator", answers.ReactionList,
        refusals=(*_MEMBER, "message_not_found"),
    ),
    Operation(
        "addReaction", "PUT", "/rooms/{room}/messages/{message}/reactions/{reaction}",
        "React to a message",
        states.add_reaction, "participant", answers.Reacted, query=schemas.ReactionQuery,
        refusals=(*_MEMBER, *_CURSOR, "message_not_found", "own_message", *_WRITE),
    ),
    Operation(
        "removeReaction", "DELETE", "/rooms/{room}/messages/{message}/reactions/{reaction}",
        "Take a reaction back",
        states.remove_reaction, "participant", answers.Reacted, query=schemas.ReactionQuery,
        refusals=(*_MEMBER, *_CURSOR, "message_not_found", *_WRITE),
    ),
    Operation(
        "listEvents", "GET", "/rooms/{room}/events",
        "The log, as a page or, with Accept: text/event-stream, as a stream",
        messages.events, "participant_or_operator", answers.EventPage,
        query=schemas.EventsPage, refusals=(*_MEMBER, *_CURSOR, "too_many_waiters"), streams=True,
    ),
    Operation(
        "waitInRoom", "GET", "/rooms/{room}/wait", "Park until something happens in a room",
        waiting.wait, "participant", answers.WaitAnswer, query=schemas.Wait, parks=True,
        refusals=(*_MEMBER, *_CURSOR, "message_not_found", "too_many_waiters"),
    ),
    Operation(
        "wait", "POST", "/wait", "Park until something happens in one of several rooms",
        waiting.wait_on_many, "participant", answers.WaitOnManyAnswer,
        body=schemas.WaitOnMany, query=schemas.WithGeneration, parks=True,
        refusals=(*_MEMBER, *_CURSOR, "message_not_found", "too_many_waiters"),
    ),
    Operation(
        "listUnread", "GET", "/unread", "Messages after one's cursors",
        delivery.unread, "participant", answers.UnreadList, query=schemas.Unread,
    ),
    Operation(
        "moveCursors", "POST", "/cursor", "Confirm what was delivered",
        delivery.confirm, "participant", answers.Cursors, body=schemas.Confirm,
        query=schemas.WithGeneration, refusals=(*_MEMBER, *_CURSOR, "store_unavailable"),
    ),
    Operation(
        "setStatus", "PUT", "/rooms/{room}/status", "Set or clear one's status",
        states.set_status, "participant", answers.StatusSet, body=schemas.NewStatus,
        refusals=(*_MEMBER, "forbidden", *_WRITE),
    ),
    Operation(
        "listClaims", "GET", "/rooms/{room}/claims", "The claims held now",
        states.claims, "participant_or_operator", answers.ClaimList, refusals=_MEMBER,
    ),
    Operation(
        "claim", "POST", "/rooms/{room}/claims", "Claim a piece of work, or renew one's claim",
        states.claim, "participant", answers.Claimed, body=schemas.NewClaim,
        refusals=(
            *_MEMBER, "message_not_found", "claim_conflict", "not_claim_holder", "forbidden", *_WRITE,
        ),
        takes_key=True,
    ),
    Operation(
        "releaseClaim", "DELETE", "/rooms/{room}/claims", "Give a claim back",
        states.release, "participant", answers.Released, query=schemas.ReleaseQuery,
        refusals=(*_MEMBER, "not_claim_holder", "forbidden", *_WRITE),
    ),
)  # fmt: skip
