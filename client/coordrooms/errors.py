"""What can go wrong, as classes. Every message says what happened, to what, and what to do next.

CoordroomsError
  ConfigurationError          a setting cannot be used
  DaemonUnreachableError      nobody answered, for as long as the caller was ready to try
  UnexpectedAnswerError       somebody answered who does not speak this protocol
  LeaseLostError              a claim that was held as a lock is held no more
  RefusedError                the daemon said no; one subclass for each code, see `refusals`
"""

from __future__ import annotations


class CoordroomsError(Exception):
    """The base of every error that this package raises by itself."""


class ConfigurationError(CoordroomsError):
    """A setting (an environment variable, a token file, an argument) cannot be used as it is."""


class DaemonUnreachableError(CoordroomsError):
    """No answer came within the time for retries. `address` is where the daemon was sought.

    What was asked may or may not have been done: asking again with the same idempotency key
    (`idempotency_key`, when the call had one) finds out without doing it twice.
    """

    def __init__(self, message: str, address: str, idempotency_key: str | None = None) -> None:
        super().__init__(message)
        self.address = address
        self.idempotency_key = idempotency_key


class UnexpectedAnswerError(CoordroomsError):
    """The answer is not one of this protocol: the address may be another program's."""


class LeaseLostError(CoordroomsError):
    """The claim `key` is no longer held, so the work under it must stop.

    `fence` was its fence; posting with `if_claim` and that fence is refused from now on.
    """

    def __init__(self, key: str, fence: int, why: str) -> None:
        super().__init__(
            f"The claim {key!r} (fence {fence}) was lost: {why}. Stop the work under it; claim "
            "the key again and look at the room before going on."
        )
        self.key = key
        self.fence = fence
