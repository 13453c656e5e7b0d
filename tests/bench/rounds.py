"""Rounds: the contestants take turns, so that a disturbance of the machine meets them all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from tests.bench.figures import Rounds

# One round of one contestant: its samples.
Measure = Callable[[], Awaitable[list[float]]]


async def alternating(rounds: int, contestants: Mapping[str, Measure]) -> dict[str, Rounds]:
    """In each round everybody once, beginning with another one each time."""
    found: dict[str, list[list[float]]] = {name: [] for name in contestants}
    names = list(contestants)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            found[name].append(await contestants[name]())
    return {name: Rounds(name, samples) for name, samples in found.items()}
