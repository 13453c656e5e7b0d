"""That an answer is one of those that the description of the calls promises."""

from __future__ import annotations

from typing import Any

from coordroomsd.api.answers import Problem
from coordroomsd.api.call import Operation
from coordroomsd.api.operations import OPERATIONS
from coordroomsd.domain.errors import CODES
from coordroomsd.http.openapi import description

_RESPONSES = {
    call["operationId"]: call["responses"]
    for path in description(OPERATIONS)["paths"].values()
    for call in path.values()
}


def check_documented(operation: Operation, status: int, body: Any) -> None:
    """Raises AssertionError or pydantic's ValidationError."""
    if status < 400:
        assert status in (operation.status, operation.also), (operation.id, status)
        operation.answer.model_validate(body, strict=True)
        return
    problem = Problem.model_validate(body, strict=True)
    assert problem.status == status == CODES[problem.code].status
    described = _RESPONSES[operation.id].get(str(status), {"description": ""})["description"]
    assert problem.code in described.split(", "), f"{operation.id} may not answer {problem.code}"
