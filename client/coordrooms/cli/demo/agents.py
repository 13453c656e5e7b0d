"""One of the two agents, as a process of its own: `python -m coordrooms.cli.demo.agents …`.

It says its lines as soon as it has heard those before them, sleeps in `wait` in between, and at
the end prints the numbers of the events that it was given, for the check.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from ...errors import CoordroomsError
from ...events import Event, MemberEvent, Message
from ...operations.messages import draft
from ...sync_clients import Client, Room
from .scripts import AGENTS, SCRIPT


class OffScriptError(Exception):
    """Something was heard that is not the script's next line."""


class Agent:
    """Plays `name`'s part of the script in a room that it has joined."""

    def __init__(self, room: Room, name: str, pace_s: float) -> None:
        self.given: list[int] = []
        self._room = room
        self._name = name
        self._pace_s = pace_s
        # The numbers that the script's lines were given, as far as they were said.
        self._said: list[int] = []

    def play(self) -> None:
        """Say and hear the whole script, and leave; who speaks last leaves last."""
        for event in self._room.follow(wake_on=("message", "member")):
            if not isinstance(event, Event):
                raise OffScriptError(f"events are gone: {event}")
            self.given.append(event.seq)
            match event:
                case Message():
                    self._hear(event)
                case MemberEvent(reason="left"):
                    break
            self._speak()
            if len(self._said) == len(SCRIPT) and SCRIPT[-1].speaker != self._name:
                break
        self._room.leave()

    def _hear(self, message: Message) -> None:
        line = SCRIPT[len(self._said)]
        if (message.kind, message.body) != (line.kind, line.body):
            raise OffScriptError(f"heard {message.body!r} and not {line.body!r}")
        self._said.append(message.seq)

    def _speak(self) -> None:
        """Say all lines that are this agent's turn, at once."""
        lines = []
        for line in SCRIPT[len(self._said) :]:
            if line.speaker != self._name:
                break
            reply_to = None if line.answers is None else self._said[line.answers]
            lines.append(draft(line.body, line.kind, reply_to=reply_to))
        if lines:
            time.sleep(self._pace_s * len(lines))
            # Stored only if nothing was said since that this agent has not heard.
            posted = self._room.post_many(lines, after_seq=self.given[-1], max_unseen=0)
            self._said += [message.seq for message in posted.messages]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=AGENTS)
    parser.add_argument("--as", dest="as_", required=True)
    parser.add_argument("--room", required=True)
    parser.add_argument("--pace", type=float, required=True)
    arguments = parser.parse_args()
    try:
        with Client(arguments.as_) as client:
            agent = Agent(client.join(arguments.room), arguments.name, arguments.pace)
            agent.play()
    except (CoordroomsError, OffScriptError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 1
    print(json.dumps(agent.given))
    return 0


if __name__ == "__main__":
    sys.exit(main())
