from __future__ import annotations

import contextlib
import os
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coordroomsd.api.callers import Caller, acting, conversation_id, identify_peer
from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled
from coordroomsd.domain.participants import Actor
from coordroomsd.live.people import People

SOCKET = Caller("default", "agent", "agent", None)
TOKEN = Caller("team", "human", "human", "ada")
PEOPLE = People(
    [
        Enrolled("default", "eve", "human", "human", None),
        Enrolled("default", "boss", "agent", "operator", None),
        Enrolled("default", "bot", "agent", "agent", None),
    ]
)


def refused(code: str, caller: Caller, conversation: str | None) -> Refusal:
    with pytest.raises(Refusal) as caught:
        acting(caller, conversation, PEOPLE)
    assert caught.value.code == code
    return caught.value


def test_the_socket_speaks_for_any_agent() -> None:
    for name in ("claude-1", "bot", "bot/2", "new/x"):
        assert acting(SOCKET, name, PEOPLE) == Actor("default", name, "agent", "agent")


def test_nobody_named_is_nobody() -> None:
    assert acting(SOCKET, None, PEOPLE) is None


@pytest.mark.parametrize("name", ["eve", "eve/laptop", "boss", "boss/"])
def test_the_socket_does_not_speak_for_people_and_operators(name: str) -> None:
    refused("conversation_not_yours", SOCKET, name)


@pytest.mark.parametrize(
    ("conversation", "name"), [(None, "ada"), ("ada", "ada"), ("ada/laptop/2", "ada/laptop/2")]
)
def test_a_token_acts_as_its_name_or_below_it(conversation: str | None, name: str) -> None:
    assert acting(TOKEN, conversation, PEOPLE) == Actor("team", name, "human", "human")


@pytest.mark.parametrize("conversation", ["bob", "adam", "Ada", "eve", "x/ada"])
def test_a_token_acts_as_nobody_else(conversation: str) -> None:
    assert "ada/" in refused("conversation_not_yours", TOKEN, conversation).recovery


@pytest.mark.parametrize(
    ("sent", "meant"),
    [
        ("claude-1", "claude-1"),
        ("%C3%BC", "ü"),
        ("a%2Fb", "a/b"),
        ("100%25", "100%"),
        ("%e2%9c%93", "✓"),
        ("!~", "!~"),
        ("x" * 200, "x" * 200),
    ],
)
def test_an_id_is_decoded(sent: str, meant: str) -> None:
    assert conversation_id(sent) == meant


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ("", "has 0 characters"),
        ("x" * 201, "has 201 characters"),
        ("two words", "visible ASCII"),
        ("ü", "visible ASCII"),
        ("a\n", "visible ASCII"),
        ("%", "broken percent escape at character 1"),
        ("ab%2", "broken percent escape at character 3"),
        ("%zz", "broken percent escape"),
        ("%+1", "broken percent escape"),
        ("%FF", "not UTF-8"),
        ("%ED%A0%80", "not UTF-8"),
        ("%C0%AF", "not UTF-8"),
        ("a%00", "control"),
        ("a%0A", "control"),
        ("%7F", "control"),
        ("%C2%85", "control"),
    ],
)
def test_an_id_that_cannot_be_is_refused_and_says_why(sent: str, problem: str) -> None:
    refusal = refused("invalid_arguments", SOCKET, sent)
    [fault] = refusal.extra["errors"]
    assert fault["field"] == "Coordrooms-Conversation"
    assert problem in fault["problem"]


@given(st.text(max_size=210))
def test_any_header_is_an_id_or_refused(sent: str) -> None:
    with contextlib.suppress(Refusal):
        meant = conversation_id(sent)
        assert not any(unicodedata.category(sign) == "Cc" for sign in meant)


@pytest.mark.parametrize(
    ("uid", "role"), [(0, "operator"), (os.geteuid(), "operator"), (4_000_000, "agent")]
)
def test_the_daemon_s_own_user_and_root_are_the_operator(uid: int, role: str) -> None:
    caller = identify_peer(uid)
    assert (caller.project, caller.role, caller.name) == ("default", role, None)
    assert caller.credential == ("uid", uid)
