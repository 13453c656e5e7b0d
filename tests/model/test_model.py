"""Random histories: the daemon does what the model does.

More of them: COORDROOMS_MODEL_EXAMPLES=1000 make test ARGS="tests/model -o faulthandler_timeout=0"
"""

from __future__ import annotations

import asyncio
import os
from typing import Any
from weakref import WeakSet

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test

from coordroomsd.live.timers import Timers
from tests.model.harness import Harness
from tests.model.rules import Rooms

EXAMPLES = int(os.environ.get("COORDROOMS_MODEL_EXAMPLES", "30"))
STEPS = 50

started: WeakSet[Timers] = WeakSet()


async def due_at_the_start(timers: Timers) -> set[int]:
    """What ran out before the start ends then; later the machine says when the clock strikes."""
    if timers not in started:
        started.add(timers)
        if due := timers.take_due():
            return due
    never: asyncio.Future[set[int]] = asyncio.get_running_loop().create_future()
    return await never


async def test_rooms_do_what_the_model_does(
    connect_arguments: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Timers, "due", due_at_the_start)
    # Rules are plain functions: they have a thread and a loop of their own.
    await asyncio.to_thread(run_examples, connect_arguments)


def run_examples(arguments: dict[str, Any]) -> None:
    harness = Harness(arguments)
    harness.start()
    try:
        run_state_machine_as_test(
            type("RoomsHere", (Rooms,), {"harness": harness}),
            settings=settings(
                max_examples=EXAMPLES,
                stateful_step_count=STEPS,
                deadline=None,
                database=None,
                suppress_health_check=list(HealthCheck),
                print_blob=True,
            ),
        )
    finally:
        harness.stop()
        harness.close()
