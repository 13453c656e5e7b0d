"""Failures as agents read them: what went wrong in the words of the tool that they called."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Iterator
from typing import Any, Final

from coordroomsd.domain.errors import Refusal, invalid_fields
from coordroomsd.mcp.arguments import ArgumentsError, meaning
from coordroomsd.mcp.catalogues import Schema

Json = dict[str, Any]

logger = logging.getLogger(__name__)

# Where the API's advice speaks of headers and calls that an agent does not make.
RECOVERIES: Final = {
    "conversation_required": "Pass conversationId: the id that your host gave this session.",
    "cursor_ahead": "Carry next_cursor from your last wait, or wait without cursor and after_seq.",
    "generation_changed": "The database was restored: read list_room_messages again, then wait "
    "without cursor and after_seq.",
    "not_found": "Call one of the tools that tools/list names.",
}
# Names that the API has and no tool.
FIELDS: Final = {
    "Coordrooms-Conversation": "conversationId",
    "Idempotency-Key": "idempotency_key",
    "name": "roomName",
    "with": "to",
}


def failure(error: Exception, schema: Schema) -> Json:
    """What a tool's exception is told as; `schema` is what the tool takes.

    A bug is logged under an id, and only the id is told.
    """
    refusal = error if isinstance(error, Refusal) else _internal_error(error)
    if "errors" in refusal.extra and not isinstance(refusal, ArgumentsError):
        refusal = _renamed(refusal.extra["errors"], schema)
    return {
        "code": refusal.code,
        "message": refusal.detail,
        "recovery": RECOVERIES.get(refusal.code, refusal.recovery),
        **refusal.extra,
    }


def _internal_error(error: Exception) -> Refusal:
    error_id = secrets.token_hex(6)
    about = {"fields": {"error_id": error_id}, "like": "internal error"}
    logger.error("internal error %s", error_id, exc_info=error, extra=about)
    return Refusal("internal_error", f"The daemon failed; error {error_id}.", error_id=error_id)


def _renamed(errors: list[dict[str, str]], schema: Schema) -> Refusal:
    """`invalid_arguments` with its fields under the names of the tool's arguments."""
    names = {meaning(name): name for name in _names(schema)}
    faults = []
    for fault in errors:
        path, dot, field = fault["field"].rpartition(".")
        field = FIELDS.get(field, field)
        faults.append((path + dot + names.get(meaning(field), field), fault["problem"]))
    return invalid_fields(faults)


def _names(schema: Schema) -> Iterator[str]:
    for name, member in schema.get("properties", {}).items():
        yield name
        yield from _names(member.get("items", {}))
