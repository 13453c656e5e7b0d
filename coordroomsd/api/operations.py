"""The table of calls: where each is, who may make it, what it takes and gives."""

from __future__ import annotations

from coordroomsd.api import (
    answers,
    conversations,
    delivery,
    identities,
    messages,
    retention,
    rooms,
    schemas,
    search,
    states,
    waiting,
)
from coordroomsd.api.call import Operation

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
        refusals=(
            *_ROOM, "active_membership_conflict", "active_membership_not_found", "forbidden",
            *_WRITE,
        ),
        takes_key=True,
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
        (
            *_MEMBER, *_CURSOR, "reply_target_invalid", "unseen_messages", "not_claim_holder",
            "forbidden", *_WRITE,
        ),
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
            *_MEMBER, "message_not_found", "claim_conflict", "not_claim_holder", "forbidden",
            *_WRITE,
        ),
        takes_key=True,
    ),
    Operation(
        "releaseClaim", "DELETE", "/rooms/{room}/claims", "Give a claim back",
        states.release, "participant", answers.Released, query=schemas.ReleaseQuery,
        refusals=(*_MEMBER, "not_claim_holder", "forbidden", *_WRITE),
    ),
    Operation(
        "setRetention", "PUT", "/rooms/{room}/retention", "Say how much of a room is kept",
        retention.set_policy, "operator", answers.PolicySet, body=schemas.RetentionPolicy,
        refusals=(*_ROOM, "store_unavailable"),
    ),
    Operation(
        "search", "GET", "/search", "Messages that have all the words",
        search.search, "participant_or_operator", answers.Results, query=schemas.SearchQuery,
        refusals=_MEMBER,
    ),
    Operation(
        "openConversation", "POST", "/conversations", "The conversation with another participant",
        conversations.open_conversation, "participant", answers.OneConversation, 201,
        schemas.NewConversation, also=200,
        refusals=("participant_not_found", "forbidden", *_WRITE), takes_key=True,
    ),
    Operation(
        "listConversations", "GET", "/conversations", "One's conversations",
        conversations.list_conversations, "participant_or_operator", answers.ConversationList,
        query=schemas.ListPage,
    ),
    Operation(
        "listConversationMessages", "GET", "/conversations/{conversation}/messages",
        "The messages of a conversation",
        conversations.page, "participant_or_operator", answers.ConversationPage,
        query=schemas.ConversationPage, refusals=(*_MEMBER, *_CURSOR),
    ),
    Operation(
        "sendMessage", "POST", "/conversations/{conversation}/messages",
        "Send a message to a conversation",
        conversations.send, "participant", answers.Sent, 201, schemas.NewConversationMessage,
        refusals=(*_MEMBER, "reply_target_invalid", "idempotency_key_required", *_WRITE),
        takes_key=True, key_required=True,
    ),
    Operation(
        "acknowledge", "POST", "/conversations/{conversation}/messages/{message}/ack",
        "Acknowledge a message",
        conversations.acknowledge, "participant", answers.Reacted,
        refusals=(*_MEMBER, "message_not_found", "own_message", *_WRITE), takes_key=True,
    ),
    Operation(
        "offerEnrollment", "POST", "/enrollments", "Make a one-time code for a participant",
        identities.offer, "operator", answers.Offered, 201, schemas.NewEnrollment,
        refusals=("participant_conflict", "store_unavailable"),
    ),
    Operation(
        "enroll", "POST", "/enroll", "Use a code, and get a token",
        identities.take_up, "nobody", answers.EnrolledParticipant, 201, schemas.Enroll,
        refusals=(
            "enrollment_invalid", "participant_conflict", "rate_limited", "store_unavailable",
        ),
        by_address="enroll",
    ),
    Operation(
        "revokeTokens", "DELETE", "/participants/{name}/tokens", "End a participant's token",
        identities.revoke, "operator", answers.Revoked, refusals=("store_unavailable",),
    ),
)  # fmt: skip
