"""Asking the daemon that runs here, as its operator, for a one-time code that lets somebody in."""

from __future__ import annotations

import http.client
import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# The daemon answers within milliseconds; a busy machine and a slow disk take longer.
_WITHIN_S = 30.0

_WHO_MAY = "Run this as root or as the user that the daemon runs as."


class UnreachableError(Exception):
    """No daemon answers on the socket."""


class RefusedError(Exception):
    """The daemon refused; the message is its own, with what to do next."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a code will make of whoever takes it up. None leaves it to the daemon."""

    name: str
    kind: str
    role: str
    expires_in_s: int | None = None
    project: str | None = None


@dataclass(frozen=True, slots=True)
class Offered:
    """A code that can be taken up once until `expires_at` (RFC 3339, UTC)."""

    code: str
    expires_at: str


def offered(offer: Offer, daemon: Path) -> Offered:
    """Make the offer on the daemon's socket. Raises UnreachableError or RefusedError."""
    fields = {
        "name": offer.name,
        "kind": offer.kind,
        "role": offer.role,
        "expires_in_s": offer.expires_in_s,
        "project": offer.project,
    }
    body = {name: value for name, value in fields.items() if value is not None}
    try:
        status, answer = _post(daemon, "/api/v1/enrollments", body)
    except PermissionError as error:
        raise UnreachableError(f"{daemon} may not be opened. {_WHO_MAY}") from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise UnreachableError(
            f"no daemon can be reached at {daemon}: {error}. Start it with coordroomsd serve, or "
            "give the --socket, --config or --state-dir that it was started with."
        ) from error
    if status != http.client.CREATED:
        raise RefusedError(" ".join(_explanation(answer)))
    return Offered(answer["code"], answer["expires_at"])


def _post(daemon: Path, path: str, body: Mapping[str, Any]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("localhost")
    with socket.socket(socket.AF_UNIX) as connection.sock:
        connection.sock.settimeout(_WITHIN_S)
        connection.sock.connect(str(daemon))
        # No participant is named: the operator is who acts as nobody.
        headers = {"Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, json.load(answer)


def _explanation(problem: Mapping[str, Any]) -> list[str]:
    faults = problem.get("errors") or []
    if faults:
        return [f"{fault['field']} {fault['problem']}." for fault in faults]
    if problem.get("code") == "forbidden":
        return [problem["detail"], _WHO_MAY]
    return [problem.get("detail", ""), problem.get("recovery", "")]
