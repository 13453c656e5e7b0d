"""The one write statement: its parts, and that parameters and arguments fit."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from coordroomsd.domain.claims import ClaimKey, Release
from coordroomsd.domain.commands import Command
from coordroomsd.domain.commands import Draft as MessageDraft
from coordroomsd.domain.conversations import OpenConversation, PeerPolicy
from coordroomsd.domain.enrolling import Offer, TakeUp
from coordroomsd.domain.members import CreateRoom, Join, Leave
from coordroomsd.domain.messages import Post
from coordroomsd.domain.reactions import React
from coordroomsd.domain.retention import Remove
from coordroomsd.domain.statuses import SetStatus
from coordroomsd.store import writer
from coordroomsd.store.rows import KeptAnswer, Key, Position
from coordroomsd.store.writer import write_statement
from tests.clocks import START
from tests.unit.journal.drafts import ADA, BOB, EVE, ROOM, Committed, do

POST = Post(ADA, ROOM, (MessageDraft("decision", "x"),))
TWICE: Sequence[Command] = (
    POST,
    POST,
    React(BOB, ROOM, 3, "ack"),
    React(BOB, ROOM, 4, "ack"),
    SetStatus(ADA, ROOM, "a", 60),
    SetStatus(BOB, ROOM, "b", 60),
    ClaimKey(ADA, ROOM, "k", 60),
    ClaimKey(BOB, ROOM, "l", 60),
    CreateRoom(EVE, "one"),
    CreateRoom(replace(EVE, conversation_id="another"), "two"),
    OpenConversation(ADA, BOB, PeerPolicy()),
    Offer("default", "new", "human", "human", 60, b"1"),
    Offer("default", "newer", "human", "human", 60, b"2"),
    TakeUp(b"1", b"token"),
    Join(replace(EVE, conversation_id="third"), ROOM),
    Leave(BOB, ROOM),
    Release(ADA, ROOM, "k"),
    Remove(ROOM, 3),
)


@pytest.mark.parametrize("commands", [[command] for command in TWICE[:2]] + [TWICE])
def test_every_parameter_has_its_argument(commands: Sequence[Command]) -> None:
    draft = Committed().draft()
    do(draft, *commands)
    rows = draft.rows()
    rows.positions[ROOM, 1] = Position(1, 1, START)
    rows.answers[Key(ROOM, 11, "postMessages", "one")] = KeptAnswer(b"a", 201, b"{}")
    sql, arguments = write_statement(rows, 7)
    used = {int(number) for number in re.findall(r"\$(\d+)", sql)}
    assert used == set(range(1, len(arguments) + 1))
    assert arguments[0] == 7


@pytest.mark.parametrize("commands", [[command] for command in TWICE[:2]] + [TWICE])
def test_every_parameter_has_its_argument_in_a_shared_database(
    commands: Sequence[Command],
) -> None:
    draft = Committed().draft()
    do(draft, *commands)
    sql, arguments = write_statement(draft.shared_rows(), 7, 8)
    used = {int(number) for number in re.findall(r"\$(\d+)", sql)}
    assert used == set(range(1, len(arguments) + 1))
    assert arguments[:2] == [7, 8]


def test_a_shared_statement_looks_first_at_what_it_was_decided_on() -> None:
    draft = Committed().draft()
    do(draft, POST)
    sql, _ = write_statement(draft.shared_rows(), 7, 8)
    assert re.findall(r"(\w+)_ AS \(", sql) == ["batch", "unmoved_rooms", "heads", "messages"]
    check = sql[sql.rindex("SELECT 1 /") :]
    assert re.findall(r"count\(\*\) FROM (\w+)_\)", check) == ["unmoved_rooms", "heads", "batch"]


def test_equal_shapes_are_one_statement() -> None:
    """So that Postgres prepares it once."""
    statements: set[str] = set()
    for body in ("a", "b"):
        draft = Committed().draft()
        do(draft, Post(ADA, ROOM, (MessageDraft("decision", body),)))
        statements.add(write_statement(draft.rows(), len(statements))[0])
    assert len(statements) == 1


def test_a_statement_has_the_parts_that_it_needs() -> None:
    draft = Committed().draft()
    do(draft, POST)
    sql, _ = write_statement(draft.rows(), 7)
    parts = set(re.findall(r"(\w+)_ AS \(", sql))
    assert parts == {"batch", "heads", "messages"}


def test_the_texts_of_statements_do_not_pile_up() -> None:
    """Each is some KiB, and in mixed traffic there is a new one every second."""
    for parameters in range(1000):
        writer._sql((writer.Shape("positions", False, parameters),), False)
    assert writer._sql.cache_info().currsize < 1000
