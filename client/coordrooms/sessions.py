"""How a call becomes exchanges with the daemon: what is sent, what is repeated, what is raised.

Nothing here does I/O: everything is a program (see `calls`) that one of the fronts drives.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from .addresses import Address, caller_headers
from .calls import Call, Pause, Program, Query, Step, Work
from .clocks import seconds
from .errors import DaemonUnreachableError, UnexpectedAnswerError
from .escapes import query_value
from .exchanges import Answer, Exchanges, LostAnswerError
from .models import Json
from .outages import Outage
from .refusals import RateLimitedError, RefusedError, StoreUnavailableError, TooManyWaitersError
from .refusals import refusal as refusal_of
from .wire import WireError, request_bytes

T = TypeVar("T")

# On top of the daemon's own end of a wait: the way back, and a busy machine.
WAIT_GRACE_S = 10.0

# A wait that was lost after this long was parked, so the daemon had been there.
PARKED_AFTER_S = 1.0

# The first of several daemons is tried again: it may be the nearest.
COME_BACK_AFTER_S = 30.0

# What a proxy says when the daemon behind it is away.
_GATEWAY_STATUSES = frozenset({502, 503, 504})

# What `ssl.SSLCertVerificationError` is, of all the OSErrors alone; `ssl` is loaded with a reason.
_UntrustedError = ValueError

Failure = OSError | WireError | RefusedError


class Session:
    """One daemon, or several on one database, called as one participant.

    Of several `addresses` the first is called; when that fails the next, and the first again after
    a while. `address` is the first, by which what is kept on this host is named.

    `timeout_s` is for one attempt at a call, `patience_s` for how long to repeat it while the
    daemon is away; with `wait_out_rate_limits` a 429 is repeated too.
    """

    def __init__(
        self,
        addresses: Address | Sequence[Address],
        conversation: str | None = None,
        token: str | None = None,
        *,
        timeout_s: float = 30.0,
        patience_s: float = 30.0,
        wait_out_rate_limits: bool = False,
        clock: Callable[[], float] = seconds,
    ) -> None:
        several = [addresses] if isinstance(addresses, Address) else list(addresses)
        self.address = several[0]
        self.conversation = conversation
        self.clock = clock
        self.timeout_s = timeout_s
        self.has_token = token is not None
        self._daemons = [Exchanges(address, clock) for address in several]
        self._at = 0
        # When the first was left, and how many have failed since one answered.
        self._left_at = clock()
        self._failed = 0
        self._patience_s = patience_s
        self._wait_out_rate_limits = wait_out_rate_limits
        self._headers = [
            ("User-Agent", "coordrooms"),
            *caller_headers(conversation, token),
        ]

    def close(self) -> None:
        """Close the connections that are not in use; those in use close after their answer."""
        for daemon in self._daemons:
            daemon.close()

    @property
    def exchanges(self) -> Exchanges:
        """Those with the daemon that is called now."""
        return self._daemons[self._at]

    def run(self, work: Work[T]) -> Program[T]:
        """Reduce a call or a program to steps that a front can take."""
        if not isinstance(work, Call):
            return (yield from self._reduce(work))
        call: Call[T] = work
        return self.parsed(call, (yield from self.document(call)))

    def parsed(self, call: Call[T], document: Json) -> T:
        """What a document means as the answer to `call`."""
        try:
            return call.parse(document)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._unexpected(f"a member is missing or wrong ({error!r})") from error

    def document(self, call: Call[Any]) -> Program[Json]:
        """The JSON document that answers a call, which is repeated while the daemon is away."""
        return (yield from self._answered(call, self._document))

    def text(self, call: Call[Any]) -> Program[str]:
        """The same for an answer that is plain text."""
        return (yield from self._answered(call, self._text))

    def _answered(self, call: Call[Any], read: Callable[[Answer], T]) -> Program[T]:
        started = self.clock()
        outage = Outage(
            self._patience_s if call.patience_s is None else call.patience_s,
            self.clock,
            None if call.within_s is None else started + call.within_s,
        )
        while True:
            began = self.clock()
            timeout_s, wait_s = self._attempt_times(call, began - started)
            try:
                self._come_back()
                request = self.request(call, wait_s)
                answer = yield from self.exchanges.exchange(request, timeout_s)
                result = read(answer)
                self._failed = 0
                return result
            except (OSError, WireError, RefusedError) as failure:
                if wait_s is not None:
                    parked_s = self.clock() - began
                    if isinstance(failure, LostAnswerError) and PARKED_AFTER_S < parked_s < wait_s:
                        outage.over()
                    # The time for which it was parked was no outage.
                    began += parked_s
                yield self.pause(outage, failure, began, call.key)

    def pause(
        self, outage: Outage, failure: Failure, began: float, key: str | None = None
    ) -> Pause:
        """The pause before an attempt is repeated, if that makes sense; else raises."""
        if isinstance(failure, WireError):
            raise self._unexpected(str(failure)) from failure
        pause_s = None
        if self._may_pass(failure):
            pause_s = outage.pause_s(began, getattr(failure, "retry_after_s", None) or 0.0)
        if pause_s is not None:
            # Another daemon's bucket is no answer to being asked to slow down.
            is_away = not isinstance(failure, RateLimitedError)
            return Pause(0.0 if is_away and self._go_on() else pause_s)
        if isinstance(failure, RefusedError):
            raise failure
        raise self._unreachable(failure, key) from failure

    def _go_on(self) -> bool:
        """Turn to the next daemon; whether it has not failed yet."""
        if len(self._daemons) == 1:
            return False
        if self._at == 0:
            self._left_at = self.clock()
        self._at = (self._at + 1) % len(self._daemons)
        self._failed += 1
        return self._failed % len(self._daemons) != 0

    def _come_back(self) -> None:
        """To the first daemon, which may be there again."""
        if self._at and self.clock() - self._left_at > COME_BACK_AFTER_S:
            self._at = 0

    def request(
        self, call: Call[Any], wait_s: float | None = None, *, accept: str = "application/json"
    ) -> bytes:
        """The bytes of a call which, if it is a wait, may be parked for `wait_s`."""
        query, fields = dict(call.query or {}), call.body
        if wait_s is not None:
            timeout = {"timeout_s": round(wait_s, 3)}
            if fields is None:
                query |= timeout
            else:
                fields = {**fields, **timeout}
        host = self.exchanges.address.host_header
        headers = [("Host", host), *self._headers, ("Accept", accept)]
        if call.key is not None:
            headers.append(("Idempotency-Key", call.key))
        body = None
        if fields is not None:
            headers.append(("Content-Type", "application/json"))
            body = _json_bytes(fields)
        target = f"{call.base}{call.path}{_query_string(query)}"
        return request_bytes(call.method, target, headers, body)

    def refusal(self, answer: Answer) -> Exception:
        """What to raise for an answer that is no success."""
        try:
            problem = json.loads(answer.body)
            retry_after = answer.headers.get("retry-after", "")
            retry_after_s = float(retry_after) if retry_after.isdecimal() else None
            return refusal_of(problem, answer.status, retry_after_s)
        except (ValueError, KeyError, TypeError):
            if answer.status in _GATEWAY_STATUSES:
                return ConnectionError(f"a proxy in between answered {answer.status}")
            return self._unexpected(f"status {answer.status} without a problem document")

    def _reduce(self, program: Program[T]) -> Program[T]:
        try:
            step: Step = next(program)
            while True:
                try:
                    result = (yield from self.run(step)) if isinstance(step, Call) else (yield step)
                except Exception as error:
                    step = program.throw(error)
                else:
                    step = program.send(result)
        except StopIteration as stop:
            value: T = stop.value
            return value
        finally:
            program.close()

    def _attempt_times(self, call: Call[Any], elapsed_s: float) -> tuple[float, float | None]:
        """How long an attempt may take, and for how much of that the daemon may park it."""
        wait_s = None if call.wait_s is None else max(0.0, call.wait_s - elapsed_s)
        timeout_s = self.timeout_s if wait_s is None else wait_s + WAIT_GRACE_S
        if call.within_s is not None:
            timeout_s = max(0.0, min(timeout_s, call.within_s - elapsed_s))
        return timeout_s, wait_s

    def _text(self, answer: Answer) -> str:
        if not 200 <= answer.status < 300:
            raise self.refusal(answer)
        return answer.body.decode(errors="replace")

    def _document(self, answer: Answer) -> Json:
        if not 200 <= answer.status < 300:
            raise self.refusal(answer)
        try:
            document = json.loads(answer.body)
        except ValueError as error:
            raise self._unexpected("its body is not JSON") from error
        if not isinstance(document, dict):
            raise self._unexpected("its body is no JSON object")
        return document

    def _may_pass(self, failure: OSError | RefusedError) -> bool:
        """Whether the same call may succeed in a moment."""
        if isinstance(failure, RateLimitedError):
            return self._wait_out_rate_limits
        if isinstance(failure, RefusedError):
            return isinstance(failure, StoreUnavailableError | TooManyWaitersError)
        return not isinstance(failure, PermissionError | _UntrustedError)

    def _unexpected(self, what: str) -> UnexpectedAnswerError:
        return UnexpectedAnswerError(
            f"What answers at {self.address} is not a coordroomsd that this client understands: "
            f"{what}. Check the address, and that client and daemon are of about the same age."
        )

    def _unreachable(self, failure: OSError, key: str | None) -> DaemonUnreachableError:
        why = failure.strerror or str(failure) or type(failure).__name__
        if isinstance(failure, TimeoutError):
            why = "no answer came in time"
        advice = "Start it with `coordroomsd serve`, or set COORDROOMS_URL to where it listens."
        if isinstance(failure, PermissionError):
            advice = "Call as a user that may open it, or set COORDROOMS_URL to another daemon."
        elif isinstance(failure, _UntrustedError):
            advice = "If you trust who signed its certificate, name their own in SSL_CERT_FILE."
        return DaemonUnreachableError(
            f"The daemon at {self.address} cannot be reached: {why}. {advice}",
            str(self.address),
            key,
        )


def _json_bytes(fields: Json) -> bytes:
    try:
        # Unescaped, so that the daemon's limit on a request's size is one of its text.
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        # Half a surrogate pair: escaped it arrives, and the daemon says where it is.
        return json.dumps(fields, separators=(",", ":")).encode()


def _query_string(query: Query) -> str:
    pairs = [
        f"{name}={query_value(str(item))}"
        for name, value in query.items()
        for item in (value if isinstance(value, list) else [value])
        if item is not None
    ]
    return f"?{'&'.join(pairs)}" if pairs else ""
