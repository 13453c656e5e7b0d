"""Who is in a room under faults: each calls again and again, never gives up, and remembers what it
was told, to hold it against the room's log in the end.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any, Final

from tests.faults.ledgers import Ledger
from tests.http_callers import Caller, Reply
from tests.model import checker
from tests.model.checker import Json, Log, Waited

# Between two steps: enough to keep batches in flight at any moment.
LONGEST_PAUSE_S: Final = 0.05
# Longer than any lease, status or wait of a round.
AN_HOUR: Final = 3600
# With these a room's traffic ends, and they wake every waiter.
LAST_WORDS: Final = "That is all."


class Party:
    """`room` is the room's path. `begun` is when its last call began that has been answered."""

    def __init__(
        self, caller: Caller, room: str, ledger: Ledger, chances: random.Random, start: int
    ) -> None:
        assert caller.name is not None
        self.caller = caller
        self.name = caller.name
        self.begun = float("-inf")
        self._room = room
        self._ledger = ledger
        self._chances = chances
        self._start = start

    async def step(self) -> None:
        """Call once, or a few times for one purpose."""
        raise NotImplementedError

    def check(self, log: Log) -> None:
        """Raises HistoryError or AssertionError when it was told what the log contradicts."""

    async def _call(self, method: str, path: str, body: object = None, **how: Any) -> Reply:
        began = asyncio.get_running_loop().time()
        reply = await self.caller.until_answered(method, path, body, **how)
        self.begun = began
        return reply

    async def _post(self, body: str, kind: str = "decision", **further: Any) -> Json:
        """One message under a key, repeated now and then though it was answered."""
        message: Json = {"kind": kind, "body": body}
        if "reply_to" in further:
            message["reply_to"] = further.pop("reply_to")
        call = ("POST", f"{self._room}/messages", {"messages": [message], **further})
        key = body.replace(" ", "_")
        self._ledger.sends(body)
        began = asyncio.get_running_loop().time()
        reply = await self._call(*call, idempotency_key=key)
        assert reply.status == 201, reply
        answer: Json = reply.body
        self._ledger.is_told(began, asyncio.get_running_loop().time(), answer)
        if self._chances.random() < 0.1:
            again = await self._call(*call, idempotency_key=key)
            assert again.body == answer, "a retry was answered otherwise"
        return answer


class Writer(Party):
    """Says, asks and answers."""

    _said = 0

    async def step(self) -> None:
        self._said += 1
        body = f"{self.name} says {self._said}"
        questions = self._ledger.recent("question")
        if questions and self._chances.random() < 0.1:
            target = self._chances.choice(questions)["seq"]
            await self._post(body, "answer", reply_to=target)
        else:
            await self._post(body, self._chances.choice(("decision", "warning", "question")))

    async def close(self) -> None:
        await self._post(LAST_WORDS)


class Claimer(Party):
    """Takes one of a few keys, writes under it, renews it, and gives it back."""

    _KEYS: Final = ("the draft", "the index")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._held: list[tuple[str, int]] = []

    async def step(self) -> None:
        key = self._chances.choice(self._KEYS)
        wanted = {"key": key, "lease_s": AN_HOUR}
        attempt = f"{len(self._held)}-{self._chances.random()}"
        reply = await self._call("POST", f"{self._room}/claims", wanted, idempotency_key=attempt)
        if reply.status == 409:
            assert reply.body["code"] == "claim_conflict", reply
            return
        fence = reply.body["claim"]["fence"]
        self._held.append((key, fence))
        if self._chances.random() < 0.5:
            await self._post(f"{self.name} under {fence}", if_claim={"key": key, "fence": fence})
        if self._chances.random() < 0.5:
            renewal = await self._call("POST", f"{self._room}/claims", wanted | {"fence": fence})
            assert (renewal.status, renewal.body["claim"]["fence"]) == (200, fence), renewal
        # Without a key: when the first answer was lost, another may hold it by now.
        ended = await self._call("DELETE", f"{self._room}/claims", key=key, fence=fence)
        assert ended.status == 200 or ended.body["code"] == "not_claim_holder", ended

    def check(self, log: Log) -> None:
        lines = {
            (e["reason"], e["key"], e["fence"])
            for e in log
            if e["type"] == "claim" and _who(e) == self.name
        }
        for key, fence in self._held:
            for reason in ("claimed", "released"):
                assert (reason, key, fence) in lines, f"{key} was not {reason}: {fence}"


class Reactor(Party):
    """Adds and takes back reactions to what was said lately."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._holds: dict[tuple[int, str], bool] = {}

    async def step(self) -> None:
        if recent := self._ledger.recent():
            message = self._chances.choice(recent)["seq"]
            reaction = self._chances.choice(("ack", "agree", "like"))
            adds = self._chances.random() < 0.7
            path = f"{self._room}/messages/{message}/reactions/{reaction}"
            reply = await self._call("PUT" if adds else "DELETE", path)
            assert reply.status == 200, reply
            self._holds[message, reaction] = adds

    def check(self, log: Log) -> None:
        held = {
            (e["message_id"], e["reaction"]): e["reason"] == "added"
            for e in log
            if e["type"] == "reaction" and _who(e) == self.name
        }
        for place, holds in self._holds.items():
            assert held.get(place, False) == holds, f"{self.name} on {place}: {not holds}"


class Member(Party):
    """Says what it is at, and clears that."""

    _status: str | None = None
    _set = 0

    async def step(self) -> None:
        self._set += 1
        text = f"step {self._set}" if self._chances.random() < 0.8 else None
        status = {"status": text} | ({"expires_in_s": AN_HOUR} if text else {})
        reply = await self._call("PUT", f"{self._room}/status", status)
        assert reply.status == 200, reply
        self._status = text

    def check(self, log: Log) -> None:
        own = [e for e in log if e["type"] == "status" and _who(e) == self.name]
        stands = own[-1]["status"] if own and own[-1]["reason"] == "set" else None
        assert stands == self._status, f"{self.name} is at {stands!r}, not {self._status!r}"


class Historian(Party):
    """Reads pages from anywhere."""

    _KEEPS: Final = 50

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._pages: dict[int, Json] = {}

    async def step(self) -> None:
        after_seq = self._chances.randint(0, self._ledger.latest_seq)
        reply = await self._call(
            "GET", f"{self._room}/events", after_seq=after_seq, limit=self._chances.randint(1, 100)
        )
        assert reply.status == 200, reply
        if len(self._pages) < self._KEEPS:
            self._pages[after_seq] = reply.body

    def check(self, log: Log) -> None:
        for after_seq, page in self._pages.items():
            checker.check_page(log, page, after_seq)


class Hook(Party):
    """Fetches what is unread and confirms it, as a hook does between an agent's turns."""

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self._cursor = self._start
        self._given: list[tuple[int, int, list[int]]] = []

    async def step(self) -> None:
        [unread] = (await self._call("GET", "/unread", limit=20)).body["unread"]
        through = unread["through_seq"]
        seqs = [message["seq"] for message in unread["messages"]]
        self._given.append((self._cursor, through, seqs))
        if self._chances.random() < 0.8:
            confirmed = {"cursors": {unread["room"]: through}}
            reply = await self._call("POST", "/cursor", confirmed)
            assert reply.body["cursors"] == {unread["room"]: through}, reply
            self._cursor = through

    def check(self, log: Log) -> None:
        for cursor, through, given in self._given:
            messages = [e["seq"] for e in log[cursor:through] if e["type"] == "message"]
            assert given == messages, f"unread after {cursor}: {given}, not {messages}"


class Waiter(Party):
    """Follows the room by `next_after_seq` alone, one wait after the other."""

    _OTHERS: Final = ("status", "reaction", "claim", "member")

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        chances = self._chances
        # A wait that sleeps through the last words holds up the round.
        self._kinds = ["message", *chances.sample(self._OTHERS, chances.randrange(3))]
        self._timeout_s: float = chances.choice((0.5, 50))
        self._limit: int = chances.choice((3, 100, 1000))
        self._waits_on_many = chances.random() < 0.3
        self.has_heard_all = False
        self._after_seq = self._start
        self._waits: list[Waited] = []

    async def step(self) -> None:
        asked: Json = {"timeout_s": self._timeout_s, "limit": self._limit}
        if self._waits_on_many:
            name = self._room.removeprefix("/rooms/")
            asked |= {"wake_on": self._kinds, "cursors": {name: self._after_seq}}
            reply = await self._call("POST", "/wait", asked)
            rooms = reply.body.get("rooms", {})
            answer = {**rooms[name], "reason": reply.body["reason"]} if rooms else None
        else:
            asked |= {"wake_on": ",".join(self._kinds), "after_seq": self._after_seq}
            reply = await self._call("GET", f"{self._room}/wait", **asked)
            answer = reply.body
        assert reply.status == 200, reply
        if answer:
            self._waits.append(Waited(self._after_seq, answer))
            self._after_seq = answer["next_after_seq"]
            self.has_heard_all = any(e.get("body") == LAST_WORDS for e in answer["events"])

    def check(self, log: Log) -> None:
        checker.check_following(log, self._waits, self.name)
        checker.check_woken(log, self._waits, self.name, self._kinds)


def _who(event: Json) -> str:
    who: str = (event["author"] or event["participant"])["conversation_id"]
    return who


# How many there are of each; sixteen writers and eight waiters came first.
WRITING: Final[Sequence[type[Party]]] = (
    *[Writer] * 16,
    *[Claimer] * 3,
    *[Reactor] * 2,
    *[Member] * 2,
    *[Historian] * 2,
    *[Hook] * 2,
)
WAITERS: Final = 8
