from __future__ import annotations

from coordroomsd.domain.identities import Enrolled, secret_hash
from coordroomsd.live.people import People

ADA = Enrolled("default", "ada", "human", "human", secret_hash("ada's"))
BOT = Enrolled("default", "bot", "agent", "agent", secret_hash("bot's"))


def test_a_token_is_whose_it_is() -> None:
    people = People([ADA, BOT])
    assert people.of_token("ada's") == ADA
    assert people.of_token("bot's") == BOT
    assert people.of_token("") is None
    assert people.of_token("half a pair \udfff") is None


def test_a_new_token_replaces_the_old() -> None:
    people = People([ADA])
    renewed = ADA._replace(token_hash=secret_hash("newer"))
    people.put(renewed)
    assert people.of_token("ada's") is None
    assert people.of_token("newer") == renewed


def test_a_revoked_token_is_nobody_s() -> None:
    people = People([ADA])
    people.put(ADA._replace(token_hash=None))
    assert people.of_token("ada's") is None
    assert people.get("default", "ada")
    people.put(ADA)
    assert people.of_token("ada's") == ADA


def test_people_and_operators_need_their_token_on_the_socket_too() -> None:
    boss = Enrolled("default", "boss", "agent", "operator", None)
    people = People([ADA, BOT, boss])
    assert people.needs_token("default", "ada")
    assert people.needs_token("default", "boss")
    assert not people.needs_token("default", "bot")
    assert not people.needs_token("other", "ada")
    assert not people.needs_token("default", "nobody")
