from pathlib import Path

import pytest

from coordroomsd.config import load
from coordroomsd.greeting import greeting
from coordroomsd.locations import Account

ANN = Account(uid=12345, environment={"HOME": "/home/ann"})


def told(state_dir: str | None = None, socket: str | None = None) -> tuple[list[str], str]:
    """What a shell is told to export, and the command that starts an agent's tools."""
    config = load(
        state_dir=Path(state_dir) if state_dir else None,
        socket=Path(socket) if socket else None,
        account=ANN,
    )
    lines = [line.strip() for line in greeting(config, ANN).splitlines()]
    command = lines[lines.index("An agent's host starts its tools with:") + 1]
    return [line for line in lines if line.startswith("export ")], command.partition("/bin/")[2]


def test_where_clients_look_by_themselves_they_are_told_nothing() -> None:
    assert told() == ([], "coordrooms mcp")


@pytest.mark.parametrize(
    ("places", "url"),
    [
        ({"state_dir": "/home/ann/st2"}, "unix:/home/ann/st2/coordroomsd.sock"),
        ({"socket": "/run/ann/x.sock"}, "unix:/run/ann/x.sock"),
        ({"socket": "/run/a n/x.sock"}, "'unix:/run/a n/x.sock'"),
    ],
)
def test_elsewhere_both_are_told_of_it(places: dict[str, str], url: str) -> None:
    assert told(**places) == ([f"export COORDROOMS_URL={url}"], f"coordrooms mcp --url {url}")
