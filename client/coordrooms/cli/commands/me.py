"""`coordrooms me`"""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from typing import Literal, TypeVar

from ...addresses import Address, daemon_address, token
from ...calls import Program, Work, do
from ...errors import ConfigurationError
from ...models import Participant
from ...operations.enrolments import Enrolled, offer, take_up
from ...operations.rooms import me
from ...refusals import ForbiddenError, RefusedError, UnauthorizedError, refusal
from ...sessions import Session
from ...sync_connections import drive
from ...tokens import keep_token, kept_token_file, make_room_for_tokens, token_path
from ..clients import PATIENCE_S, add_json, add_url
from ..failures import DONE, WrongUsageError
from ..outputs import Output
from ..texts import safe

T = TypeVar("T")

HELP = "enrol once, so that what you say counts as said by a person"

# The code is taken up at once.
CODE_LASTS_S = 60


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what others will call you")
    parser.add_argument("--operator", action="store_true", help="as an operator of the daemon")
    parser.add_argument(
        "--code",
        action="store_true",
        help="take up a code that `coordroomsd enroll` gave; asked for, or on standard input",
    )
    add_url(parser)
    add_json(parser)


def run(arguments: Namespace, output: Output) -> int:
    if arguments.code and arguments.operator:
        raise WrongUsageError("--operator does not go with --code: a code is for one role.")
    address, name = daemon_address(arguments.url), arguments.name.strip()
    # First, lest there be a token that cannot be kept.
    make_room_for_tokens(address)
    participant = None if arguments.code else _enrolled(address, name)
    is_new = participant is None or (arguments.operator and participant.role != "operator")
    if participant is None or is_new:
        enrolled = (
            _run(address, None, take_up(_code()))
            if arguments.code
            else _run(address, token(), _enrolment(name, as_operator=arguments.operator))
        )
        participant = enrolled.participant
        keep_token(address, participant.conversation_id, enrolled.token)
    path = token_path(address, participant.conversation_id)
    output.answer(
        {
            "participant": {
                "conversation_id": participant.conversation_id,
                "name": participant.name,
                "kind": participant.kind,
                "role": participant.role,
            },
            "token_file": path,
            "is_new": is_new,
        },
        _report(participant, path, is_new=is_new),
    )
    return DONE


def _enrolled(address: Address, name: str) -> Participant | None:
    """Who the token that is kept for this name is for, if it still is for anybody."""
    path = kept_token_file(address, name)
    if path is None:
        return None
    try:
        return _run(address, token(path), me()).participant
    except (UnauthorizedError, ConfigurationError):
        # Revoked, or of a database that is no more, or no token at all.
        return None


def _enrolment(name: str, *, as_operator: bool) -> Program[Enrolled]:
    role: Literal["human", "operator"] = "operator" if as_operator else "human"
    try:
        offered = yield from do(offer(name, "human", role, expires_in_s=CODE_LASTS_S))
    except (UnauthorizedError, ForbiddenError) as error:
        raise _not_the_operator(error, name) from error
    return (yield from do(take_up(offered.code)))


def _not_the_operator(error: RefusedError, name: str) -> RefusedError:
    recovery = (
        "Run this as root or as the daemon's user on its host; or let them run "
        f"`coordroomsd enroll {name} --kind human`, and take up the code with --code."
    )
    return refusal({**error.problem, "recovery": recovery}, error.status)


def _run(address: Address, bearer: str | None, work: Work[T]) -> T:
    """Without a participant: the operator is one who acts as nobody."""
    session = Session(address, None, bearer, patience_s=PATIENCE_S)
    try:
        return drive(session.run(work))
    finally:
        session.close()


def _code() -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        code = getpass("Code: ")
    else:
        code = sys.stdin.readline()
    if not code.strip():
        raise WrongUsageError("There is no code on standard input.")
    return code.strip()


def _report(participant: Participant, path: str, *, is_new: bool) -> str:
    name = safe(participant.conversation_id)
    is_enrolled = "is enrolled" if is_new else "is enrolled already"
    return "\n".join(
        [
            f"{name} {is_enrolled}: kind {safe(participant.kind)}, role {participant.role}.",
            f"Commands act as {name} with --as {name}. The token is in a file for you alone;",
            f"other programs need COORDROOMS_TOKEN_FILE={path}",
        ]
    )
