"""Requests that a fuzzer draws from the daemon's description, aimed at what is really there."""

from __future__ import annotations

from http.client import HTTPException
from typing import Any
from urllib.parse import unquote

import requests
import schemathesis
from hypothesis import reject
from hypothesis import strategies as st
from schemathesis import Response
from schemathesis.core.errors import SerializationError
from schemathesis.core.result import Ok
from schemathesis.schemas import APIOperation

from tests.fuzz.worlds import COMMON, OWN_ROOM, USED_KEY, Identity, World

Operation = APIOperation[Any, Any, Any, Any]
Case = schemathesis.Case[Any]
CONVERSATION, KEY = "Coordrooms-Conversation", "Idempotency-Key"
# A wait may take minutes by its own wish, which tells nothing here.
SHORTLY = 0.001
# So that nobody's retention takes away what the others look for.
KEEP_ALL = 1_000_000


def operations(document: dict[str, Any]) -> dict[str, Operation]:
    """By their ids."""
    schema = schemathesis.openapi.from_dict(document)
    found = [result.ok() for result in schema.get_all_operations() if isinstance(result, Ok)]
    return {str(one.definition.raw["operationId"]): one for one in found}


def cases(operation: Operation, world: World) -> st.SearchStrategy[Case]:
    """Three of four as described, one not; values that name something are often real ones."""
    good = operation.as_strategy(generation_mode=schemathesis.GenerationMode.POSITIVE)
    if not operation.definition.raw.get("parameters"):
        return good
    bad = operation.as_strategy(generation_mode=schemathesis.GenerationMode.NEGATIVE)
    drawn = st.one_of(good, good, good, bad)
    return st.builds(_aimed, st.just(world), drawn, st.randoms(use_true_random=False))


def _aimed(world: World, case: Case, random: Any) -> Case:
    pools: dict[str, list[Any]] = {
        "room": world.rooms,
        "conversation": world.conversations,
        "message": ["1", "2", "3", "4"],
        "reaction": ["ack", "agree", "like"],
        "name": [f"fuzzed-{number}" for number in range(5)],
        "body": [COMMON],
        "key": ["the-draft"],
        "status": ["at work", None],
        "after": world.rooms + world.participants,
        "q": [COMMON],
        "with": world.participants,
        "code": world.codes,
        "kind": ["question", "note", "decision"],
        "reply_to": [1, 2, 3],
        "after_seq": [0, 1, 2],
        "project": ["elsewhere"],
        "wake_on": [["message"], ["status", "expiry"], ["free:the-draft"]],
    }

    def aim(values: Any) -> None:
        if not isinstance(values, dict):
            return
        for name in list(values):
            if name in pools and random.random() < 0.75:
                values[name] = random.choice(pools[name])
            elif name == "cursors" and isinstance(values[name], dict) and random.random() < 0.75:
                values[name] = {random.choice(world.rooms): random.choice([0, 1, 2])}
            elif name == "messages" and isinstance(values[name], list):
                for message in values[name]:
                    aim(message)

    for part in (case.path_parameters, case.query, case.body):
        aim(part)
    if case.operation.path.endswith("/wait"):
        part = case.query if case.operation.method.upper() == "GET" else case.body
        if isinstance(part, dict):
            part["timeout_s"] = SHORTLY
    if case.operation.path.endswith("/retention"):
        case.path_parameters = {"room": OWN_ROOM}
        if isinstance(case.body, dict):
            for name, value in case.body.items():
                if isinstance(value, (int, float)):
                    case.body[name] = KEEP_ALL
    if case.operation.path.endswith("/tokens"):
        # Revoking those who call would end the run.
        case.path_parameters = {"name": "no-such-participant"}
    if case.headers and KEY in case.headers and random.random() < 0.5:
        case.headers[KEY] = USED_KEY
    return case


def send(identity: Identity, case: Case) -> Response:
    """Over the identity's own transport, with its own credential and name."""
    for name in (CONVERSATION, "Authorization", "Host"):
        case.headers.pop(name, None)
    case.headers.update(identity.caller.headers())
    daemon = identity.caller.daemon
    try:
        arguments = case.as_transport_kwargs(base_url=f"http://{daemon.host}:{daemon.port}")
        prepared = requests.Request(
            **{name: value for name, value in arguments.items() if name in _OF_A_REQUEST}
        ).prepare()
        if case.operation.path.endswith("/enroll"):
            # Its bucket is per address, and every connection comes from another.
            identity.caller.kept_connection().close()
        connection = identity.caller.kept_connection()
        sent = {name: str(value) for name, value in prepared.headers.items()}
        connection.request(str(prepared.method), prepared.path_url, _body(prepared), sent)
    except (SerializationError, ValueError):
        # What cannot be written as HTTP is no case for the daemon.
        reject()
    try:
        reply = connection.getresponse()
        content = reply.read()
    except HTTPException:
        connection.close()
        raise
    fields: dict[str, list[str]] = {}
    for name, value in reply.getheaders():
        fields.setdefault(name.lower(), []).append(value)
    return Response(
        status_code=reply.status,
        headers=fields,
        content=content,
        request=prepared,
        elapsed=0.0,
        verify=False,
    )


_OF_A_REQUEST = ("method", "url", "headers", "params", "data", "json", "files", "cookies")


def said(response: Response) -> str:
    """Everything that the request held, as it was meant."""
    text = _body(response.request).decode(errors="replace")
    return unquote(str(response.request.url)) + str(response.request.headers) + text


def _body(request: requests.PreparedRequest) -> bytes:
    body = request.body or b""
    if isinstance(body, str):
        return body.encode()
    assert isinstance(body, bytes), "a body that is made bit by bit"
    return body


def leaks(identity: Identity, response: Response) -> list[str]:
    """Marks of others in an answer, which the request did not hold itself."""
    shown = response.content.decode(errors="replace") + str(response.headers)
    found = [mark for mark in identity.foreign if mark in shown]
    return [mark for mark in found if mark not in said(response)] if found else []
