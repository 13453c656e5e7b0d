"""The order of checks: every call goes this way, whether it came over HTTP or from an MCP tool.

Host and Origin, credential, route, size and media type come before and are the transport's. Then:
participant, room, kept answer, required key, fields, and last what the handler and the rules find.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from coordroomsd.api import places
from coordroomsd.api.call import Call, Operation, Request, fingerprint
from coordroomsd.api.callers import Caller, acting
from coordroomsd.api.fields import checked
from coordroomsd.api.operations import OPERATIONS
from coordroomsd.api.routes import Routes
from coordroomsd.api.services import Services
from coordroomsd.domain.errors import Refusal, invalid
from coordroomsd.domain.members import reference
from coordroomsd.domain.participants import Actor
from coordroomsd.journal.submissions import Answer, KeyedCall
from coordroomsd.live.tracing import CURRENT
from coordroomsd.store import faults, reads

logger = logging.getLogger(__name__)

KEY_HEADER = "Idempotency-Key"
_MAX_KEY = 255


class Api:
    """All calls of the contract. `call` is for callers in this process, `run` for transports."""

    def __init__(self, services: Services, operations: Sequence[Operation] = OPERATIONS) -> None:
        self.services = services
        self.routes = Routes(operations)

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
    ) -> Answer:
        """One call, as over HTTP: `path` is what follows /api/v1, its segments percent-encoded.

        `conversation` is as in the header. Never raises for a refusal: that is an answer too.
        """
        pairs = [
            (name, value)
            for name, values in (query or {}).items()
            for value in ([values] if isinstance(values, str) else values)
        ]
        name = method
        with self.services.tracing.span(method) as span:
            try:
                operation, parameters = self.routes.match(method, path)
                name = operation.id
                request = Request(caller, parameters, pairs, body, conversation, key)
                answer = await self.run(await self.opened(operation, request))
                code = None
            except Exception as error:
                refusal = refusal_of(error)
                origin = caller.name or f"uid {caller.uid}"
                self.services.refusals.note(refusal, f"{name}, a tool's", origin, conversation)
                answer = Answer(refusal.status, orjson.dumps(refusal.problem()))
                code = refusal.code
            if span:
                span.answered(answer.status, code)
            return answer

    async def run(self, call: Call) -> Answer:
        """Raises Refusal; anything else that it raises is a bug or a lost database."""
        try:
            self.check_fields(call)
            return await call.operation.handler(call)
        except Refusal:
            kept = None if call.handed_over else await self._kept(call)
            if kept is None:
                raise
            return kept

    async def opened(self, operation: Operation, request: Request) -> Call:
        """The call with its participant and its room."""
        self.services.metrics.calls.add(operation.id)
        span = CURRENT.get()
        if span:
            span.rename(f"{operation.method} {operation.path}")
            span.note("coordrooms.operation", operation.id)
        call = Call(self.services, operation, request)
        call.actor = await self._acting(request)
        if call.actor and request.wake is not None:
            actor = call.actor
            self.services.wakes.note(actor.project, actor.conversation_id, request.wake)
        if span and call.actor:
            span.note("coordrooms.participant", call.actor.conversation_id)
        _refuse_who_may_not(call)
        if operation.has_room:
            call.live = await places.of_path(call)
            if span:
                span.note("coordrooms.room", reference(call.live.state))
        if operation.takes_key and request.key is not None and call.actor:
            room_id = call.live.state.id if call.live else 0
            content = fingerprint(request.body, request.query)
            call.keyed = KeyedCall(call.actor, room_id, operation.id, request.key, content)
        return call

    async def _acting(self, request: Request) -> Actor | None:
        people = self.services.people
        actor = acting(request.caller, request.conversation, people)
        before = people.version
        await self.services.following.caller(actor)
        if people.version == before:
            return actor
        if self.services.hub.is_revoked(request.caller.credential):
            raise Refusal("unauthorized", "The token was revoked.")
        return acting(request.caller, request.conversation, people)

    async def knows_more_people(self) -> bool:
        """Whether a token may be known that was not a moment ago."""
        before = self.services.people.version
        await self.services.following.caller(None)
        return self.services.people.version != before

    def check_fields(self, call: Call) -> None:
        """Raises `idempotency_key_required`, or `invalid_arguments` with every fault."""
        operation, request = call.operation, call.request
        if operation.key_required and request.key is None:
            raise Refusal("idempotency_key_required", f"{operation.summary} needs a key.")
        if operation.body is not None and not isinstance(request.body, dict):
            raise invalid("", "the request's body should be a JSON object")
        if operation.body is None and not isinstance(request.body, (dict, type(None))):
            raise invalid("", "the request's body should be a JSON object, or be left out")
        call.body, call.arguments = checked(
            operation.body, request.body or {}, operation.query, request.query, _key_faults(call)
        )

    async def _kept(self, call: Call) -> Answer | None:
        """The answer kept under the call's key, if any. Raises `idempotency_key_reused`."""
        if call.keyed is None or _key_faults(call):
            return None
        participant = await self.services.participants.get(call.keyed.actor)
        if participant is None:
            return None
        key = call.keyed.of(participant)
        kept = await reads.kept_answers(self.services.reads, [key])
        return call.keyed.check(kept[key]) if key in kept else None


def _refuse_who_may_not(call: Call) -> None:
    """Raises `conversation_required` or `forbidden`."""
    needs, actor = call.operation.needs, call.actor
    role = actor.role if actor else call.request.caller.role
    match needs:
        case "participant":
            _ = call.acting
        case "participant_or_operator" if role != "operator":
            _ = call.acting
        case "operator" if role != "operator":
            raise Refusal("forbidden", f"{call.operation.summary}: only the operator may do that.")


def _key_faults(call: Call) -> list[tuple[str, str]]:
    key = call.request.key
    if not call.operation.takes_key or key is None:
        return []
    if 1 <= len(key) <= _MAX_KEY and all("!" <= sign <= "~" for sign in key):
        return []
    return [(KEY_HEADER, f"should be 1 to {_MAX_KEY} visible ASCII characters")]


def refusal_of(error: Exception) -> Refusal:
    """What an exception is told as. A bug is logged under an id; only the id is told."""
    if isinstance(error, Refusal):
        return error
    if faults.fault_of(error) is not faults.Fault.REFUSED:
        logger.warning("the database is away: %s", error)
        return Refusal("store_unavailable", "The database cannot be reached now.")
    error_id = secrets.token_hex(6)
    about = {"fields": {"error_id": error_id}, "like": "internal error"}
    logger.error("internal error %s", error_id, exc_info=error, extra=about)
    return Refusal("internal_error", f"The daemon failed; error {error_id}.", error_id=error_id)
