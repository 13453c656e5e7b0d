"""A fuzzer reads the description: every answer is as described, and has nobody else's words.

The environment's FUZZ_REQUESTS says how many requests there are about; `make fuzz` has 100,000.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import orjson
import pytest
from hypothesis import HealthCheck, given, seed, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from coordroomsd.api.operations import OPERATIONS
from coordroomsd.http.openapi import description
from tests.acceptance.daemons import running
from tests.fuzz.requests import Case, cases, leaks, operations, send
from tests.fuzz.worlds import World
from tests.integration.callers import ListeningDaemon

REQUESTS = int(os.environ.get("FUZZ_REQUESTS", "2000"))
# The small run is the same each time, so that it fails for a change and not by chance.
IS_SMALL = "FUZZ_REQUESTS" not in os.environ
IDENTITIES = 8
DESCRIBED = operations(orjson.loads(orjson.dumps(description(OPERATIONS))))
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with running(ListeningDaemon()) as daemon:
        world = World(daemon)
        before = world.witnesses()
        yield world
        after = world.witnesses()
        assert all(after[label] >= found > 0 for label, found in before.items()), "nothing to leak"
        assert "internal error" not in daemon.log()
        assert "Traceback" not in daemon.log()


@pytest.mark.parametrize("who", range(IDENTITIES))
@pytest.mark.parametrize("operation", DESCRIBED)
def test_answers(world: World, operation: str, who: int) -> None:
    identity = world.identities[who]
    identity.go_home()

    @settings(
        max_examples=max(1, REQUESTS // IDENTITIES // len(DESCRIBED)),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(cases(DESCRIBED[operation], world))
    def answers(case: Case) -> None:
        response = send(identity, case)
        assert response.status_code < 500, (identity.label, response.content)
        assert not leaks(identity, response), (identity.label, response.content)
        case.validate_response(response, checks=CHECKS)

    if IS_SMALL:
        answers = seed(f"{operation} by {who}")(answers)
    answers()
