from __future__ import annotations

from tests.bench.rounds import Measure, alternating


async def test_everybody_has_a_turn_in_each_round_and_another_one_begins() -> None:
    turns: list[str] = []

    def contestant(name: str) -> Measure:
        async def measure() -> list[float]:
            turns.append(name)
            return [float(len(turns))]

        return measure

    found = await alternating(3, {name: contestant(name) for name in ("a", "b", "c")})
    assert "".join(turns) == "abc" + "bca" + "cab"
    assert found["b"].samples == [[2.0], [4.0], [9.0]]
