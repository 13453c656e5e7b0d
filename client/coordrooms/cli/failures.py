"""How a command ends: exit codes, and errors without a traceback."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable

from ..errors import ConfigurationError, CoordroomsError, DaemonUnreachableError
from ..models import Json
from ..refusals import RefusedError
from .outputs import Output, UnwritableError, write

DONE, FAILED, USAGE, REFUSED, UNREACHABLE = range(5)

# Instead of advice of the daemon's that speaks of what a command's user does not see.
ADVICE = {
    "the header Coordrooms-Conversation": (
        "Say who acts with --as ID, or set COORDROOMS_CONVERSATION."
    ),
    "Authorization: Bearer": (
        "Act with --as NAME as somebody with a token: `coordrooms me NAME` keeps one, with --code "
        "for a code from the operator."
    ),
    "named in `errors`": "",
}

# What a shell shows for a process that a signal ended.
INTERRUPTED = 128 + signal.SIGINT
BROKEN_PIPE = 128 + signal.SIGPIPE


class FailedError(CoordroomsError):
    """A command did not do what it was for, for a reason that is not the daemon's."""


class WrongUsageError(CoordroomsError):
    """The arguments cannot be understood together."""


def guarded(output: Output, run: Callable[[], int]) -> int:
    """The exit code of `run`, or that of the error it raised, which is then shown."""
    try:
        code = run()
        write("", end="")
    except UnwritableError as error:
        _drop_what_is_unwritten()
        output.fail(text_of(error), document_of(error))
        return exit_code(error)
    except CoordroomsError as error:
        output.fail(text_of(error), document_of(error))
        return exit_code(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        # Whoever reads has seen enough.
        _drop_what_is_unwritten()
        return BROKEN_PIPE
    return code


def _drop_what_is_unwritten() -> None:
    # Nothing may be left for the interpreter to flush: it would complain.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def exit_code(error: CoordroomsError) -> int:
    match error:
        case RefusedError():
            return REFUSED
        case DaemonUnreachableError():
            return UNREACHABLE
        case WrongUsageError() | ConfigurationError():
            return USAGE
        case _:
            return FAILED


def text_of(error: CoordroomsError) -> str:
    """The error as a person wants it: with the next step in the words of the command line."""
    text = str(error)
    if isinstance(error, RefusedError):
        for foreign, advice in ADVICE.items():
            if foreign in error.recovery:
                return f"{text.removesuffix(error.recovery)}{advice}".rstrip()
    return text


def document_of(error: CoordroomsError) -> Json:
    """The error as a program wants it: the daemon's own document, or one that is like it."""
    match error:
        case RefusedError():
            return error.problem
        case DaemonUnreachableError():
            code = "daemon_unreachable"
        case WrongUsageError():
            code = "wrong_usage"
        case ConfigurationError():
            code = "configuration_invalid"
        case _:
            code = "failed"
    return {"code": code, "detail": str(error)}
