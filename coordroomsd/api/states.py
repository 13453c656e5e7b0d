"""Calls about statuses, reactions and claims."""

from __future__ import annotations

from coordroomsd.api import schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.messages import existing, message_id
from coordroomsd.api.views import Json, claim_view, claims_view, status_view
from coordroomsd.domain.claims import Claimed, ClaimKey, Release, Released
from coordroomsd.domain.commands import Decision
from coordroomsd.domain.errors import invalid
from coordroomsd.domain.events import REACTIONS, author_wire
from coordroomsd.domain.reactions import React, Reacted
from coordroomsd.domain.statuses import SetStatus, StatusSet
from coordroomsd.domain.text import instant
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer
from coordroomsd.store import history


async def set_status(call: Call) -> Answer:
    body: schemas.NewStatus = call.body
    command = SetStatus(call.acting, call.room.state.id, body.status, body.expires_in_s)

    def respond(decision: Decision, draft: Draft) -> Answer:
        done: StatusSet = decision.result
        answer = {
            "status": status_view(done.status),
            "changed": done.changed,
            "latest_seq": done.room.head,
        }
        return json_answer(200, answer)

    return await call.store(command, respond)


async def add_reaction(call: Call) -> Answer:
    return await _react(call, remove=False)


async def remove_reaction(call: Call) -> Answer:
    return await _react(call, remove=True)


async def _react(call: Call, *, remove: bool) -> Answer:
    reaction = call.request.parameters["reaction"]
    if reaction not in REACTIONS:
        raise invalid("reaction", f"is none of {', '.join(REACTIONS)}: {reaction!r}")
    return await react(call, reaction, remove=remove)


async def react(call: Call, reaction: str, *, remove: bool) -> Answer:
    """Add or take back a reaction to the message in the path."""
    command = React(
        call.acting,
        call.room.state.id,
        message_id(call),
        reaction,
        remove,
        call.cursor,
        await call.counted(call.cursor.after_seq),
    )

    def respond(decision: Decision, draft: Draft) -> Answer:
        done: Reacted = decision.result
        answer: Json = {
            "changed": done.changed,
            "counts": done.counts,
            "latest_seq": done.room.head,
        }
        if done.unseen is not None:
            answer["unseen_before_send"] = done.unseen
        return json_answer(200, answer)

    return await call.store(command, respond)


async def reactions(call: Call) -> Answer:
    await call.reader()
    event = await existing(call)
    state = call.room.state
    held = await history.reactions(call.services.reads, state, [event.seq])
    rows = [
        {
            "reaction": one.reaction,
            "author": author_wire(state.memberships[one.membership_id].author),
            "at": instant(one.at),
        }
        for one in held
    ]
    return json_answer(200, {"reactions": rows})


async def claim(call: Call) -> Answer:
    body: schemas.NewClaim = call.body
    command = ClaimKey(
        call.acting, call.room.state.id, body.key, body.lease_s, body.proposed_by_seq, body.fence
    )

    def respond(decision: Decision, draft: Draft) -> Answer:
        done: Claimed = decision.result
        answer = {
            "claim": claim_view(done.claim),
            "renewed": done.renewed,
            "latest_seq": done.room.head,
        }
        return json_answer(200, answer)

    return await call.store(command, respond)


async def release(call: Call) -> Answer:
    asked: schemas.ReleaseQuery = call.arguments
    command = Release(call.acting, call.room.state.id, asked.key, asked.fence)

    def respond(decision: Decision, draft: Draft) -> Answer:
        done: Released = decision.result
        return json_answer(200, {"released": done.released, "latest_seq": done.room.head})

    return await call.store(command, respond)


async def claims(call: Call) -> Answer:
    await call.reader()
    now = call.services.clock.now()
    held = [claim for claim in call.room.state.claims.values() if claim.expires_at > now]
    return json_answer(200, {"claims": claims_view(held)})
