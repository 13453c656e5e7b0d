"""The demo's own judge: it must notice whatever goes wrong."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from coordrooms.cli.demo.checks import problems
from coordrooms.cli.demo.scripts import ADA, AGENTS, BOB, SCRIPT
from coordrooms.events import Event, Message, event
from tests.unit.client.documents import AT

IDS = {ADA: "ada-1", BOB: "bob-1"}


def author(conversation: str) -> dict[str, str]:
    return {
        "membership_id": f"m_{conversation}",
        "conversation_id": conversation,
        "name": conversation,
        "kind": "agent",
    }


@dataclass
class Played:
    """A run of the demo in which nothing went wrong."""

    log: list[Event] = field(default_factory=list)
    streamed: list[int] = field(default_factory=list)
    given: dict[str, list[int]] = field(default_factory=dict)

    def happen(self, conversation: str, type_: str, **more: object) -> int:
        seq = len(self.log) + 1
        data = {"seq": seq, "type": type_, "at": AT, "author": author(conversation), **more}
        self.log.append(event(data))
        return seq

    def problems(self) -> list[str]:
        return problems(self.log, self.streamed, self.given, IDS)


@pytest.fixture
def played() -> Played:
    played = Played()
    for conversation in ("audience", *IDS.values()):
        played.happen(conversation, "member", reason="joined")
    said: list[int] = []
    for line in SCRIPT:
        reply_to = None if line.answers is None else said[line.answers]
        said.append(
            played.happen(
                IDS[line.speaker], "message", kind=line.kind, body=line.body, reply_to=reply_to
            )
        )
    for conversation in (IDS[BOB], IDS[ADA]):
        played.happen(conversation, "member", reason="left")
    played.streamed = [event.seq for event in played.log]
    for agent in AGENTS:
        conversation = IDS[agent]
        begin = 2 if agent == ADA else 3
        end = len(played.log) - (agent == BOB)
        played.given[agent] = [
            event.seq
            for event in played.log[begin : end - 1]
            if event.author and event.author.conversation_id != conversation
        ]
    return played


def test_a_run_without_fault(played: Played) -> None:
    assert played.problems() == []


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda run: run.given[BOB].remove(4), "bob: lost [4]"),
        (lambda run: run.given[ADA].insert(1, run.given[ADA][0]), "more than once"),
        (lambda run: run.given[ADA].reverse(), "ada: had them out of order"),
        (lambda run: run.given[BOB].append(1), "bob: had [1], which it should not have had"),
        (lambda run: run.streamed.remove(7), "the transcript: lost [7]"),
        (lambda run: run.streamed.append(7), "the transcript: had [7] more than once"),
        (lambda run: run.log.pop(5), "the log: lost [6]"),
        (lambda run: run.log.pop(5), "the conversation: 9 of 10 lines, other than written from 3"),
        (lambda run: run.log.insert(5, run.log[5]), "the log: had [6] more than once"),
        (lambda run: run.given.clear() or run.log.clear(), "the conversation: 0 of 10 lines"),
    ],
)
def test_what_goes_wrong_is_told(
    played: Played, spoil: Callable[[Played], object], told: str
) -> None:
    spoil(played)
    assert any(told in problem for problem in played.problems()), played.problems()


def test_an_answer_to_the_wrong_question_is_noticed(played: Played) -> None:
    place = next(n for n, e in enumerate(played.log) if isinstance(e, Message) and e.reply_to)
    answer = played.log[place]
    assert isinstance(answer, Message)
    data = {"kind": answer.kind, "body": answer.body, "reply_to": answer.reply_to - 1}  # type: ignore[operator]
    played.log[place] = event(
        {"seq": answer.seq, "type": "message", "at": AT, "author": author(IDS[ADA]), **data}
    )
    assert played.problems() == ["the conversation: 10 of 10 lines, other than written from 4"]


def test_every_answer_of_the_script_answers_a_question_of_the_other() -> None:
    for line in SCRIPT:
        assert (line.kind == "answer") == (line.answers is not None)
        if line.answers is not None:
            question = SCRIPT[line.answers]
            assert (question.kind, question.speaker != line.speaker) == ("question", True)
