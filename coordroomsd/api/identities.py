"""Calls about who may come in: offering a code, taking it up, revoking."""

from __future__ import annotations

from coordroomsd.api import schemas
from coordroomsd.api.call import Call, json_answer
from coordroomsd.api.views import participant_view
from coordroomsd.domain.commands import Decision
from coordroomsd.domain.enrolling import Offer, Revoke, TakeUp
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled, Enrollment, secret_hash
from coordroomsd.domain.participants import Actor
from coordroomsd.domain.text import instant
from coordroomsd.journal.draft import Draft
from coordroomsd.journal.submissions import Answer


async def offer(call: Call) -> Answer:
    body: schemas.NewEnrollment = call.body
    caller = call.request.caller
    project = body.project or caller.project
    if project != caller.project and caller.name is not None:
        raise Refusal("forbidden", f"A token of {caller.project} enrols nobody in {project}.")
    code = call.services.new_secret()
    command = Offer(project, body.name, body.kind, body.role, body.expires_in_s, secret_hash(code))

    def respond(decision: Decision, draft: Draft) -> Answer:
        offered: Enrollment = decision.result
        return json_answer(201, {"code": code, "expires_at": instant(offered.expires_at)})

    return await call.store(command, respond)


async def take_up(call: Call) -> Answer:
    body: schemas.Enroll = call.body
    token = call.services.new_secret()
    command = TakeUp(secret_hash(body.code), secret_hash(token))

    def respond(decision: Decision, draft: Draft) -> Answer:
        enrolled: Enrolled = decision.result
        actor = Actor(enrolled.project, enrolled.name, enrolled.kind, enrolled.role)
        return json_answer(201, {"token": token, "participant": participant_view(actor)})

    return await call.store(command, respond)


async def revoke(call: Call) -> Answer:
    command = Revoke(call.request.caller.project, call.request.parameters["name"])

    def respond(decision: Decision, draft: Draft) -> Answer:
        return json_answer(200, {"revoked": decision.result})

    return await call.store(command, respond)
