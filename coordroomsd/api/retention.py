"""The call that gives a room a retention policy."""

from __future__ import annotations

from coordroomsd.api import schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.domain.commands import Decision
from coordroomsd.domain.retention import SetPolicy
from coordroomsd.domain.rooms import Room
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer


async def set_policy(call: Call) -> Answer:
    body: schemas.RetentionPolicy = call.body
    command = SetPolicy(call.room.state.id, body.max_age_s, body.max_events)

    def respond(decision: Decision, draft: Draft) -> Answer:
        room: Room = decision.result
        policy = {"max_age_s": room.max_age_s, "max_events": room.max_events}
        return json_answer(200, {"retention": policy, "first_seq": room.first_seq})

    answer = await call.store(command, respond)
    call.services.hasten_sweep()
    return answer
