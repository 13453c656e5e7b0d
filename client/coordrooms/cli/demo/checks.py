"""Whether everything that was said arrived: once, in order, at everybody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from ...events import Event, MemberEvent, Message
from .scripts import SCRIPT


def problems(
    log: Sequence[Event],
    streamed: Sequence[int],
    given: Mapping[str, Sequence[int]],
    conversations: Mapping[str, str],
) -> list[str]:
    """What is wrong with a run of the demo, in sentences; nothing when all is well.

    `log` is the room's whole log as it can be read afterwards, `streamed` the numbers that were
    printed meanwhile, `given` those that each agent was handed, and `conversations` the ids that
    the agents acted as.
    """
    numbers = [event.seq for event in log]
    return [
        *_differences("the log", list(range(1, len(log) + 1)), numbers),
        *_differences("the transcript", numbers, streamed),
        *_off_script(log, conversations),
        *(
            fault
            for agent, numbers in given.items()
            for fault in _differences(agent, _due(log, conversations[agent]), numbers)
        ),
    ]


def _due(log: Sequence[Event], conversation: str) -> list[int]:
    """The numbers that an agent had to be given: of all by others while it was in the room."""
    joined = left = None
    for event in log:
        if isinstance(event, MemberEvent) and _author(event) == conversation:
            if event.reason == "joined":
                joined = event.seq
            else:
                left = event.seq
    if joined is None or left is None:
        return []
    return [
        event.seq for event in log if joined < event.seq < left and _author(event) != conversation
    ]


def _differences(who: str, due: Sequence[int], got: Sequence[int]) -> list[str]:
    faults = []
    if lost := sorted(set(due) - set(got)):
        faults.append(f"{who}: lost {lost}")
    if extra := sorted(set(got) - set(due)):
        faults.append(f"{who}: had {extra}, which it should not have had")
    if repeated := sorted(number for number, times in Counter(got).items() if times > 1):
        faults.append(f"{who}: had {repeated} more than once")
    if list(got) != sorted(got):
        faults.append(f"{who}: had them out of order: {list(got)}")
    return faults


def _off_script(log: Sequence[Event], conversations: Mapping[str, str]) -> list[str]:
    messages = [event for event in log if isinstance(event, Message)]
    said = [(_author(m), m.kind, m.body, m.reply_to) for m in messages]
    due = [
        (
            conversations[line.speaker],
            line.kind,
            line.body,
            messages[line.answers].seq
            if line.answers is not None and line.answers < len(messages)
            else None,
        )
        for line in SCRIPT
    ]
    if said == due:
        return []
    place = next(
        (n for n, pair in enumerate(zip(said, due, strict=False)) if pair[0] != pair[1]), -1
    )
    return [
        f"the conversation: {len(said)} of {len(due)} lines, other than written from {place + 1}"
    ]


def _author(event: Event) -> str | None:
    return event.author.conversation_id if event.author else None
