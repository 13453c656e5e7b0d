"""What a call becomes: bytes, attempts, an answer or an error."""

from __future__ import annotations

import ssl
from itertools import pairwise
from typing import Any

import pytest

from coordrooms.calls import Work
from coordrooms.errors import DaemonUnreachableError, UnexpectedAnswerError
from coordrooms.operations import messages, signals, waits
from coordrooms.refusals import (
    MembershipNotFoundError,
    RateLimitedError,
    StoreUnavailableError,
)
from tests.unit.client import documents
from tests.unit.client.scripted import (
    LOST,
    Pieces,
    Scripted,
    Unreachable,
    problem,
    reply,
    reply_bytes,
)

POSTED = reply(documents.posted(documents.message(5, "hello")), 201)


def hello() -> Work[Any]:
    return messages.post("the room", "hello")


# --- requests ------------------------------------------------------------------------------


def test_a_call_as_the_daemon_sees_it() -> None:
    daemon = Scripted(POSTED)
    call = messages.post(
        "a/b c", "grüß", "answer", reply_to=4, after_seq=9, max_unseen=0, idempotency_key="k"
    )
    posted = daemon.run(daemon.session(), call)
    assert (posted.message.body, posted.latest_seq, posted.unseen_before_send) == ("hello", 5, None)
    [request] = daemon.requests
    assert (request.method, request.path) == ("POST", "/rooms/a%2Fb%20c/messages")
    assert request.body == {
        "messages": [{"kind": "answer", "body": "grüß", "reply_to": 4}],
        "after_seq": 9,
        "max_unseen": 0,
    }
    sent = {name: request.headers[name] for name in ("host", "accept", "content-type")}
    assert sent == {
        "host": "localhost",
        "accept": "application/json",
        "content-type": "application/json",
    }
    assert (request.headers["coordrooms-conversation"], request.key) == ("ann-1", "k")


def test_a_query_leaves_out_what_was_not_said_and_repeats_lists() -> None:
    daemon = Scripted(reply(documents.wait(4)))
    call = waits.wait("r", 4, wake_on=["status", "free:one, two"], timeout_s=0.25)
    daemon.run(daemon.session(), call)
    assert daemon.requests[0].query == [
        ("after_seq", "4"),
        ("wake_on", "status"),
        ("wake_on", "free:one, two"),
        ("limit", "100"),
        ("timeout_s", "0.25"),
    ]


def test_a_wait_on_many_has_its_time_in_its_body() -> None:
    daemon = Scripted(reply({"reason": "timeout", "rooms": {}}))
    daemon.run(daemon.session(), waits.wait_many({"r": 4, "s": None}, timeout_s=5))
    assert daemon.requests[0].body == {
        "cursors": {"r": 4, "s": None},
        "wake_on": ["message"],
        "limit": 100,
        "timeout_s": 5,
    }


def test_text_goes_out_as_it_is_and_half_a_character_escaped() -> None:
    session = Scripted().session()
    assert "grüß".encode() in session.request(messages.post("r", "grüß"))
    assert b"half \\ud800" in session.request(messages.post("r", "half \ud800"))


def test_each_call_has_a_key_of_its_own() -> None:
    daemon = Scripted(POSTED, POSTED)
    session = daemon.session()
    daemon.drive(session.run(hello()))
    daemon.run(session, hello())
    first, second = daemon.requests
    assert first.key
    assert second.key
    assert first.key != second.key


def test_a_claim_to_post_under() -> None:
    daemon = Scripted(reply(documents.claimed(9)), POSTED)
    session = daemon.session()
    claim = daemon.drive(session.run(signals.take("r", "the-draft"))).claim
    daemon.run(session, messages.post("r", "hello", if_claim=claim))
    assert daemon.requests[1].body["if_claim"] == {"key": "the-draft", "fence": 9}


# --- connections ---------------------------------------------------------------------------


def test_a_connection_is_used_again() -> None:
    daemon = Scripted(POSTED, POSTED)
    session = daemon.session()
    daemon.drive(session.run(hello()))
    daemon.run(session, hello())
    assert len(daemon.connections) == 1


def test_a_connection_that_was_closed_meanwhile_is_replaced_at_once() -> None:
    for gone in (LOST, Pieces((ConnectionResetError(104, "reset"),))):
        daemon = Scripted(POSTED, gone, POSTED)
        session = daemon.session()
        daemon.drive(session.run(hello()))
        daemon.run(session, hello())
        assert daemon.pauses == []
        assert [c.closed for c in daemon.connections] == [True, False]
        assert daemon.requests[1].key == daemon.requests[2].key


def test_a_connection_that_ends_with_its_answer_is_closed() -> None:
    last = Pieces((reply_bytes(documents.posted(documents.message(5)), connection="close"),))
    daemon = Scripted(last)
    daemon.run(daemon.session(), hello())
    assert [c.closed for c in daemon.connections] == [True]


def test_closing_a_session_closes_what_is_kept() -> None:
    daemon = Scripted(POSTED)
    session = daemon.session()
    daemon.run(session, hello())
    session.close()
    assert daemon.connections[0].closed


def test_an_answer_in_pieces() -> None:
    whole = reply_bytes(documents.posted(documents.message(5, "hello")), 201)
    daemon = Scripted(Pieces(tuple(whole[n : n + 7] for n in range(0, len(whole), 7))))
    assert daemon.run(daemon.session(), hello()).message.body == "hello"


# --- a daemon that is away -----------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [
        Unreachable(),
        Unreachable(FileNotFoundError(2, "No such file or directory")),
        LOST,
        Pieces((b"HTTP/1.1 201 Created\r\nContent-", b"")),
        Pieces((ConnectionResetError(104, "reset"),)),
        Pieces((b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",)),
        problem("store_unavailable", 503),
        problem("too_many_waiters", 503),
    ],
)
def test_what_passes_is_tried_again_with_the_same_key(failure: Unreachable | Pieces) -> None:
    daemon = Scripted(failure, failure, POSTED)
    posted = daemon.run(daemon.session(), hello())
    assert posted.message.id == 5
    assert len(daemon.pauses) == 2
    assert len({request.key for request in daemon.requests}) == 1


def test_pauses_grow_and_are_never_all_the_same() -> None:
    daemon = Scripted(*[Unreachable()] * 12, POSTED)
    daemon.run(daemon.session(), hello())
    assert all(first < second for first, second in pairwise(daemon.pauses[:6:2]))
    assert 0.02 < daemon.pauses[0] <= 0.05
    assert 1.0 <= max(daemon.pauses) <= 2.0
    assert len(set(daemon.pauses)) == len(daemon.pauses)


def test_patience_ends() -> None:
    daemon = Scripted(*[Unreachable()] * 100)
    with pytest.raises(DaemonUnreachableError) as gone:
        daemon.drive(daemon.session(patience_s=10).run(hello()))
    assert 7 < daemon.now - 1000 <= 10
    assert str(gone.value) == (
        "The daemon at unix:/run/d.sock cannot be reached: Connection refused. "
        "Start it with `coordroomsd serve`, or set COORDROOMS_URL to where it listens."
    )
    assert gone.value.address == "unix:/run/d.sock"
    assert isinstance(gone.value.__cause__, ConnectionRefusedError)


def test_an_unreachable_daemon_may_have_done_it_so_the_key_is_told() -> None:
    daemon = Scripted(*[LOST] * 100)
    with pytest.raises(DaemonUnreachableError) as gone:
        daemon.drive(daemon.session(patience_s=1).run(hello()))
    assert gone.value.idempotency_key == daemon.requests[0].key


def test_a_socket_that_may_not_be_opened_is_not_tried_again() -> None:
    daemon = Scripted(Unreachable(PermissionError(13, "Permission denied")))
    with pytest.raises(
        DaemonUnreachableError, match=r"Permission denied\. Call as a user that may"
    ):
        daemon.run(daemon.session(), hello())
    assert daemon.pauses == []


def test_a_certificate_that_nobody_trusts_is_not_tried_again() -> None:
    daemon = Scripted(Unreachable(ssl.SSLCertVerificationError(1, "certificate verify failed")))
    with pytest.raises(
        DaemonUnreachableError, match=r"verify failed\. If you trust .*SSL_CERT_FILE"
    ):
        daemon.run(daemon.session(), hello())
    assert daemon.pauses == []


def test_a_daemon_that_never_answers_is_given_up() -> None:
    silence = Pieces(())
    daemon = Scripted(silence)
    with pytest.raises(DaemonUnreachableError, match="cannot be reached: no answer came in time"):
        daemon.run(daemon.session(timeout_s=7, patience_s=5), hello())
    assert daemon.now == 1007
    assert daemon.connections[0].closed


def test_the_daemon_says_how_long_to_stay_away() -> None:
    daemon = Scripted(problem("store_unavailable", 503, retry_after=3), POSTED)
    daemon.run(daemon.session(), hello())
    assert 3 < daemon.pauses[0] <= 3.05


def test_the_last_refusal_is_raised_when_patience_ends() -> None:
    daemon = Scripted(problem("store_unavailable", 503, retry_after=3))
    with pytest.raises(StoreUnavailableError):
        daemon.run(daemon.session(patience_s=2), hello())


def test_all_attempts_together_may_have_an_end() -> None:
    daemon = Scripted(LOST, Pieces(()))
    with pytest.raises(DaemonUnreachableError):
        daemon.run(daemon.session(), signals.take("r", "k")._replace(within_s=4.0))
    assert daemon.now == pytest.approx(1004)


# --- refusals ------------------------------------------------------------------------------


def test_a_refusal_is_raised_at_once() -> None:
    daemon = Scripted(problem("membership_not_found", 404))
    with pytest.raises(MembershipNotFoundError, match="membership_not_found: It is"):
        daemon.run(daemon.session(), hello())
    assert daemon.pauses == []


def test_a_rate_limit_is_told_and_not_hidden() -> None:
    daemon = Scripted(problem("rate_limited", 429, retry_after=4))
    with pytest.raises(RateLimitedError) as limited:
        daemon.run(daemon.session(), hello())
    assert limited.value.retry_after_s == 4


def test_a_rate_limit_can_be_waited_out() -> None:
    daemon = Scripted(problem("rate_limited", 429, retry_after=4), POSTED)
    daemon.run(daemon.session(wait_out_rate_limits=True), hello())
    assert 4 < daemon.pauses[0] <= 4.05


@pytest.mark.parametrize(
    "answer",
    [
        Pieces((b"SSH-2.0-OpenSSH_9.2\r\n\r\n",)),
        Pieces((b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno",)),
        Pieces((b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",)),
        reply([1]),
        reply({"messages": "none"}),
        reply({"title": "no code"}, 400),
    ],
)
def test_an_answer_of_another_program(answer: Pieces) -> None:
    daemon = Scripted(answer)
    with pytest.raises(UnexpectedAnswerError, match=r"answers at unix:/run/d\.sock is not a coord"):
        daemon.run(daemon.session(), hello())


# --- several daemons -----------------------------------------------------------------------

ONE, TWO = "http://one", "http://two"


def test_the_next_daemon_is_called_at_once() -> None:
    daemon = Scripted(Unreachable(), POSTED)
    daemon.run(daemon.session_of(ONE, TWO), hello())
    assert (daemon.tried, daemon.pauses) == ([ONE, TWO], [0.0])
    assert daemon.requests[0].headers["host"] == "two"


def test_what_was_lost_at_one_is_repeated_at_the_other_under_its_key() -> None:
    daemon = Scripted(LOST, POSTED)
    daemon.run(daemon.session_of(ONE, TWO), hello())
    assert daemon.tried == [ONE, TWO]
    first, second = daemon.requests
    assert first.key == second.key is not None


def test_there_is_a_pause_when_all_have_failed() -> None:
    daemon = Scripted(*[Unreachable()] * 4, POSTED)
    daemon.run(daemon.session_of(ONE, TWO), hello())
    assert daemon.tried == [ONE, TWO, ONE, TWO, ONE]
    assert [pause > 0 for pause in daemon.pauses] == [False, True, False, True]


def test_it_stays_and_comes_back_to_the_first_after_a_while() -> None:
    daemon = Scripted(Unreachable(), *[POSTED] * 3)
    session = daemon.session_of(ONE, TWO)
    for _ in range(2):
        daemon.drive(session.run(hello()))
    assert daemon.tried == [ONE, TWO]
    daemon.now += 31
    daemon.run(session, hello())
    assert daemon.tried == [ONE, TWO, ONE]


def test_a_bucket_is_not_looked_for_elsewhere() -> None:
    daemon = Scripted(problem("rate_limited", 429, retry_after=1, retry_after_s=1), POSTED)
    daemon.run(daemon.session_of(ONE, TWO, wait_out_rate_limits=True), hello())
    assert daemon.tried == [ONE]
    assert daemon.pauses[0] >= 1
