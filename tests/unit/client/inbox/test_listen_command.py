"""What `coordrooms listen` does about a daemon that is away."""

from __future__ import annotations

from typing import Any

import pytest

from coordrooms.cli.commands import listen
from coordrooms.cli.outputs import Output
from coordrooms.errors import DaemonUnreachableError
from coordrooms.inbox.listeners import LOOK_EVERY_S, Looked
from coordrooms.refusals import UnauthorizedError, refusal

NOTHING = Looked([], has_more=False)
MORE = Looked([], has_more=True)


class Looks:
    """A client and a listener whose looks end as told."""

    def __init__(self, *ends: Looked | Exception) -> None:
        self._ends = list(ends)

    def look(self) -> Any:
        return self._ends.pop(0)

    def run(self, end: Any) -> Looked:
        if isinstance(end, Exception):
            raise end
        assert isinstance(end, Looked)
        return end


def refused(code: str, status: int) -> Exception:
    return refusal({"code": code, "detail": f"It is {code}"}, status)


def listened(*ends: Looked | Exception) -> None:
    looks = Looks(*ends)
    output = Output("coordrooms listen", as_json=False)
    listen._listen(looks, looks, output, has_more=False)  # type: ignore[arg-type]


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    pauses: list[float] = []
    monkeypatch.setattr(listen.time, "sleep", pauses.append)  # type: ignore[attr-defined]
    return pauses


def test_it_says_once_that_the_daemon_is_away(
    pauses: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UnauthorizedError):
        listened(
            NOTHING,
            DaemonUnreachableError("It cannot be reached.", "unix:/s"),
            refused("store_unavailable", 503),
            refused("internal_error", 500),
            NOTHING,
            refused("unauthorized", 401),
        )
    assert capsys.readouterr() == (
        "",
        "It cannot be reached. Listening goes on when it is back.\nThe daemon is back.\n",
    )
    assert len(pauses) == 6


def test_it_pauses_when_there_is_nothing_more(pauses: list[float]) -> None:
    with pytest.raises(UnauthorizedError):
        listened(MORE, MORE, NOTHING, refused("unauthorized", 401))
    assert len(pauses) == 2
    assert all(LOOK_EVERY_S / 2 <= pause <= LOOK_EVERY_S for pause in pauses)
