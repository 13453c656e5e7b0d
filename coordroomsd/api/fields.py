"""Kinds of field, and the check that names every fault of a call at once."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from coordroomsd.domain import text
from coordroomsd.domain.errors import invalid, invalid_fields

MAX_SEQ = 2**63 - 1
# A call of the right shape has fewer; naming all that fit into a request would keep every other
# caller waiting for a second.
MOST_FAULTS = 2000
# What float() takes beside it, spaces, underscores and other scripts' digits, JSON does not.
_NUMBER = re.compile(r"-?[0-9]{1,30}(\.[0-9]{1,30})?([eE][-+]?[0-9]{1,3})?")


class Fields(BaseModel):
    """What a call takes. A field it does not know is refused: no misspelling goes unnoticed."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _whole_number(value: object) -> object:
    """A number in an address: digits and nothing else."""
    if not isinstance(value, str):
        return value
    if not (value.isascii() and value.removeprefix("-").isdigit()) or len(value) > 20:
        raise ValueError("should be a whole number")
    return int(value)


def _number(value: object) -> object:
    if not isinstance(value, str):
        return value
    if not _NUMBER.fullmatch(value):
        raise ValueError("should be a number")
    return float(value)


# A number in an address. It comes behind `Field`, whose bounds would else not be in /openapi.json.
Whole = BeforeValidator(_whole_number)
Line = Annotated[str, AfterValidator(text.one_line)]
RoomName = Annotated[str, AfterValidator(text.room_name)]
# Any text; one that no room, participant or generation has is found nowhere.
Text = Annotated[str, AfterValidator(text.storable)]
BodyText = Annotated[str, AfterValidator(text.readable_body)]
Seq = Annotated[int, Field(ge=0, le=MAX_SEQ), Whole]
EventSeq = Annotated[int, Field(ge=1, le=MAX_SEQ), Whole]
# In a JSON body a number is a number.
SeqNumber = Annotated[int, Field(ge=0, le=MAX_SEQ)]
EventNumber = Annotated[int, Field(ge=1, le=MAX_SEQ)]
TimeoutSeconds = Annotated[
    float, Field(ge=0, le=300, allow_inf_nan=False), BeforeValidator(_number)
]
Generation = Annotated[Text, Field(min_length=1, max_length=200)]


def query_values(model: type[Fields], pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """The arguments of an address as `model` takes them: a list if it wants one, else the last."""
    lists = _lists_of(model)
    values: dict[str, Any] = {}
    for name, value in pairs:
        if name in lists:
            values.setdefault(name, []).append(value)
        else:
            values[name] = value
    return values


@functools.cache
def _lists_of(model: type[Fields]) -> frozenset[str]:
    """The fields that take several values."""
    return frozenset(
        name for name, field in model.model_fields.items() if "list" in str(field.annotation)
    )


@functools.cache
def _without_arguments(model: type[Fields]) -> Fields:
    """What most calls send; values are frozen and can be shared."""
    return model.model_validate({})


def checked(
    body_model: type[Fields] | None,
    body: Mapping[str, Any],
    query_model: type[Fields],
    query: Sequence[tuple[str, str]],
    headers: Sequence[tuple[str, str]] = (),
) -> tuple[Any, Any]:
    """Body and query as values. Raises `invalid_arguments` with every fault of both, or, where
    there are too many to be of use, with their number.

    `headers` are faults that were found before, as (field, problem).
    """
    faults = list(headers)
    values: list[Fields | None] = []
    for model, given in (
        (body_model or Fields, body),
        (query_model, query_values(query_model, query)),
    ):
        try:
            values.append(model.model_validate(given) if given else _without_arguments(model))
        except ValidationError as error:
            if error.error_count() > MOST_FAULTS:
                raise invalid("", f"has {error.error_count()} faults") from None
            faults += [(_path(fault), _problem(fault)) for fault in error.errors()]
            values.append(None)
    if faults:
        raise invalid_fields(faults)
    return values[0], values[1]


def _path(fault: ErrorDetails) -> str:
    path = ""
    for step in fault["loc"]:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step not in ("[key]", "dict", "list"):
            path += f".{step}" if path else str(step)
    return path


def _problem(fault: ErrorDetails) -> str:
    """The fault in words that follow the field's name."""
    context = fault.get("ctx", {})
    match fault["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is not a field of this call"
        case "value_error":
            return str(context["error"])
        case "too_short":
            return f"needs at least {context['min_length']}"
        case "too_long":
            return f"has {context['actual_length']}; at most {context['max_length']} are allowed"
        case _:
            message = fault["msg"].removeprefix("Value error, ")
            return message.replace("Input should be", "should be")
