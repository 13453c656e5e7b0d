"""/openapi.json: the table of operations and the models that validate, written as OpenAPI 3.1."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from pydantic.json_schema import models_json_schema

from coordroomsd import __version__
from coordroomsd.api import answers
from coordroomsd.api.call import Operation
from coordroomsd.api.callers import CONVERSATION_HEADER
from coordroomsd.api.fields import Fields
from coordroomsd.api.pipeline import KEY_HEADER
from coordroomsd.api.routes import BASE
from coordroomsd.domain.errors import CODES

Json = dict[str, Any]

# Refusals that any call may meet.
_EVERYWHERE = ("invalid_arguments", "unauthorized", "internal_error", "store_unavailable")
_NAMING = ("conversation_not_yours",)
_WITH_BODY = ("payload_too_large", "unsupported_media_type")
_PATH_VALUE = {
    "room": "A room: its id, its slug, its exact name, or @active.",
    "conversation": "The id of a conversation.",
    "message": "A message's number.",
    "reaction": "ack, agree, decline, like, love, fire or ok.",
    "name": "The name of an enrolled participant.",
}


def description(operations: Iterable[Operation]) -> Json:
    """The whole document."""
    operations = list(operations)
    schemas = _schemas(operations)
    paths: Json = {}
    for operation in operations:
        path = paths.setdefault(BASE + operation.path, {})
        path[operation.method.lower()] = _operation(operation)
    for path, item in _PROBES.items():
        paths[path] = item
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "coordroomsd",
            "version": __version__,
            "description": "Rooms in which AI coding agents and their people coordinate.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "parameters": _PARAMETERS,
        },
        # On the Unix socket the peer's user is the credential; over TCP a token is.
        "security": [{}, {"token": []}],
    }


_PARAMETERS: Json = {
    "Conversation": {
        "name": CONVERSATION_HEADER,
        "in": "header",
        "description": "The acting participant, percent-encoded where it is not visible ASCII.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 200},
    },
    "Key": {
        "name": KEY_HEADER,
        "in": "header",
        "description": "A retry under the same key repeats the first answer and not the deed.",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    },
}

_ALIVE: Json = {
    "type": "object",
    "properties": {"status": {"type": "string"}},
    "required": ["status"],
}


def _probe(name: str, summary: str, schema: Json, *, may_fail: bool = False) -> Json:
    responses: Json = {"200": _content("As it should be", "application/json", schema)}
    if may_fail:
        responses["503"] = _problem(["store_unavailable"])
    return {
        "get": {
            "operationId": name,
            "summary": summary,
            "security": [{}],
            "responses": responses,
        }
    }


def _content(text: str, media_type: str, schema: Json) -> Json:
    return {"description": text, "content": {media_type: {"schema": schema}}}


def _problem(codes: Iterable[str]) -> Json:
    text = ", ".join(dict.fromkeys(codes))
    return _content(text, "application/problem+json", _reference(answers.Problem))


def _reference(model: type[Any]) -> Json:
    return {"$ref": f"#/components/schemas/{_name(model)}"}


def _name(model: type[Any]) -> str:
    """Requests and answers have models of the same name: a request's ends in `Request`."""
    return f"{model.__name__}Request" if issubclass(model, Fields) else model.__name__


_PROBES: Json = {
    "/healthz": _probe("getHealth", "Whether the process is alive", _ALIVE),
    "/readyz": _probe("getReadiness", "Whether it can serve", _ALIVE, may_fail=True),
    "/metrics": {
        "get": {
            "operationId": "getMetrics",
            "summary": "Numbers about the daemon, for Prometheus",
            "responses": {
                "200": _content("The numbers now", "text/plain", {"type": "string"}),
                "401": _problem(["unauthorized"]),
            },
        }
    },
    "/openapi.json": _probe("getDescription", "This document", {"type": "object"}),
}


def _operation(operation: Operation) -> Json:
    described: Json = {} if operation.by_address is None else {"security": [{}]}
    described |= {
        "operationId": operation.id,
        "summary": operation.summary,
        "parameters": list(_parameters(operation)),
        "responses": _responses(operation),
    }
    if operation.body:
        schema = _reference(operation.body)
        described["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schema}},
        }
    return described


def _parameters(operation: Operation) -> Iterable[Json]:
    yield {"$ref": "#/components/parameters/Conversation"}
    if operation.takes_key:
        if operation.key_required:
            yield _PARAMETERS["Key"] | {"required": True}
        else:
            yield {"$ref": "#/components/parameters/Key"}
    for name in re.findall(r"{(\w+)}", operation.path):
        yield {
            "name": name,
            "in": "path",
            "required": True,
            "description": _PATH_VALUE[name],
            "schema": {"type": "string"},
        }
    schema = operation.query.model_json_schema(by_alias=True)
    for name, field in schema.get("properties", {}).items():
        yield {
            "name": name,
            "in": "query",
            "required": name in schema.get("required", ()),
            "schema": field,
        }


def _responses(operation: Operation) -> Json:
    shown = _content("Done", "application/json", _reference(operation.answer))
    if operation.streams:
        shown["content"]["text/event-stream"] = {"schema": {"type": "string"}}
    if operation.takes_key:
        replayed = {"schema": {"type": "string", "enum": ["true"]}}
        shown["headers"] = {"Idempotency-Replayed": replayed}
    responses: Json = {str(operation.status): shown}
    if operation.also:
        responses[str(operation.also)] = shown
    codes = [*operation.refusals, *_EVERYWHERE, *_NAMING]
    if operation.needs != "nobody":
        codes.append("conversation_required")
    if operation.needs == "operator":
        codes.append("forbidden")
    if operation.method in ("POST", "PUT"):
        codes += _WITH_BODY
    by_status: dict[int, list[str]] = {}
    for code in codes:
        by_status.setdefault(CODES[code].status, []).append(code)
    for status, named in sorted(by_status.items()):
        responses[str(status)] = _problem(named)
    return responses


def _schemas(operations: list[Operation]) -> Json:
    """The definitions of all models, under the names that `_reference` uses."""
    bodies = {operation.body for operation in operations if operation.body}
    given = {operation.answer for operation in operations} | {answers.Problem}
    definitions: Json = {}
    for models, mode in ((bodies, "validation"), (given, "serialization")):
        ordered = sorted(models, key=lambda model: model.__name__)
        _, schema = models_json_schema(
            [(model, mode) for model in ordered],  # type: ignore[misc]
            ref_template="#/components/schemas/{model}",
        )
        found = schema.get("$defs", {})
        if mode == "validation":
            found = _renamed(found)
        definitions |= found
    return definitions


def _renamed(definitions: Json) -> Json:
    """Request models under names of their own."""

    def renamed(node: Any) -> Any:
        if isinstance(node, dict):
            return {
                key: f"{value}Request" if key == "$ref" else renamed(value)
                for key, value in node.items()
            }
        return [renamed(item) for item in node] if isinstance(node, list) else node

    return {f"{name}Request": renamed(schema) for name, schema in definitions.items()}
