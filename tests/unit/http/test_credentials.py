from __future__ import annotations

import pytest

from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled, secret_hash
from coordroomsd.http.credentials import EnrolledTokens, identify
from coordroomsd.http.peers import Peer, address_of
from coordroomsd.live.people import People

ADA = Enrolled("team", "ada", "human", "human", secret_hash("ada's"))
USER, ABROAD = Peer(4_000_000, None), Peer(None, "192.0.2.7")


@pytest.fixture
def people() -> People:
    return People([ADA])


@pytest.fixture
def tokens(people: People) -> EnrolledTokens:
    return EnrolledTokens(people)


@pytest.mark.parametrize("peer", [USER, ABROAD], ids=["socket", "TCP"])
@pytest.mark.parametrize("given", ["Bearer ada's", "bearer ada's", "BEARER   ada's "])
def test_a_token_is_its_participant_s_everywhere(
    tokens: EnrolledTokens, peer: Peer, given: str
) -> None:
    caller = identify(peer, given, tokens)
    assert (caller.project, caller.name, caller.kind, caller.role) == (
        "team", "ada", "human", "human",
    )  # fmt: skip


@pytest.mark.parametrize("peer", [USER, ABROAD], ids=["socket", "TCP"])
@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Bearer bob's", "Basic ada's", "ada's", "Bearerada's"]
)
def test_a_token_that_is_none_is_refused_on_the_socket_too(
    tokens: EnrolledTokens, peer: Peer, given: str
) -> None:
    with pytest.raises(Refusal, match="unauthorized"):
        identify(peer, given, tokens)


def test_without_a_token_the_socket_s_peer_is_the_caller(tokens: EnrolledTokens) -> None:
    assert identify(USER, None, tokens).credential == ("uid", 4_000_000)
    with pytest.raises(Refusal, match="unauthorized"):
        identify(ABROAD, None, tokens)


def test_a_revoked_token_is_refused_at_once(people: People, tokens: EnrolledTokens) -> None:
    first = identify(ABROAD, "Bearer ada's", tokens)
    people.put(ADA._replace(token_hash=None))
    with pytest.raises(Refusal, match="unauthorized"):
        identify(ABROAD, "Bearer ada's", tokens)
    people.put(ADA._replace(token_hash=secret_hash("newer")))
    second = identify(ABROAD, "Bearer newer", tokens)
    assert first.credential != second.credential


def test_an_address_has_a_bucket_and_so_has_a_user() -> None:
    assert address_of(USER) != address_of(Peer(4_000_001, None))
    assert address_of(ABROAD) == address_of(Peer(None, "192.0.2.7"))
