"""Run by the generator's Python beside the client that it made: `posts_and_reads.py SOCKET`."""

import sys

import httpx  # type: ignore[import-not-found]
from rooms_api import Client  # type: ignore[import-not-found]
from rooms_api.api.default import (  # type: ignore[import-not-found]
    add_reaction,
    claim,
    create_room,
    list_messages,
    list_unread,
    post_messages,
    set_status,
    wait_in_room,
)
from rooms_api.models import NewClaim, NewMessages, NewRoom, NewStatus  # type: ignore[import-not-found]

NAME = "generated"

socket = {"transport": httpx.HTTPTransport(uds=sys.argv[1])}
client = Client("http://localhost", raise_on_unexpected_status=True, httpx_args=socket)
me = {"client": client, "coordrooms_conversation": NAME}

made = create_room.sync(body=NewRoom(name=NAME), **me)
said = NewMessages.from_dict({"messages": [{"kind": "question", "body": "Who made this client?"}]})
posted = post_messages.sync(NAME, body=said, idempotency_key="once", **me)
again = post_messages.sync(NAME, body=said, idempotency_key="once", **me)
assert posted == again, "a retry under the same key is answered as the first time"
page = list_messages.sync(made.room.id, **me)
assert [message.body for message in page.messages] == ["Who made this client?"], page
assert page.messages[0].author.conversation_id == NAME, page

waited = wait_in_room.sync(NAME, after_seq=page.latest_seq, timeout_s=0, **me)
assert (waited.reason, waited.events) == ("timeout", []), waited
status = set_status.sync(NAME, body=NewStatus(status="reading"), **me)
assert status.status.status == "reading", status
held = claim.sync(NAME, body=NewClaim(key="the-client"), **me)
assert held.claim.fence == held.latest_seq, held
assert list_unread.sync(**me).unread[0].messages == [], "one's own messages are not unread"

refused = add_reaction.sync(NAME, page.messages[0].id, "agree", **me)
assert refused.code == "own_message", refused
refused = post_messages.sync("nowhere", body=said, **me)
assert refused.code == "room_not_found", refused
