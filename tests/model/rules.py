"""Whatever may happen in two rooms with three people: the daemon and the model both do it."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from tests.model.machine import Parked, SideBySide, query, row_of, short
from tests.model.rooms import Json, RefusedError

# Who does it and where, as `Rooms.actor` takes it.
actors = st.integers(min_value=0, max_value=99)
whos = st.integers(min_value=0, max_value=2)
places = st.integers(min_value=0, max_value=1)
fractions = st.floats(min_value=0, max_value=1)
keys = st.sampled_from(["k", "l"])
texts = st.sampled_from(["reading", "writing"])
reactions = st.sampled_from(["ack", "decline", "like"])
limits = st.sampled_from([1, 2, 5, 100])
seconds = st.sampled_from([1, 60, 61, 3600])
wake_ons = st.lists(
    st.sampled_from(
        ["message", "status", "reaction", "claim", "member", "expiry", "answer", "free:k", "free:l"]
    ),
    min_size=1,
    max_size=3,
    unique=True,
)
drafts = st.lists(
    st.sampled_from(["decision", "warning", "question", "answer", "status"]), min_size=1, max_size=3
)


class Rooms(SideBySide):
    # --- rooms and members ---

    @initialize(members=st.integers(min_value=1, max_value=3))
    def begin(self, members: int) -> None:
        """Most of what may happen needs a room with somebody in it."""
        self.create(0, 0)
        for who in range(1, members):
            self.join(who, 0)
        for actor in range(members + 1):
            self.say(actor, "question")

    @rule(who=whos, place=places)
    def create(self, who: int, place: int) -> None:
        self.move(0.001)
        name, room = self.people[who], self.places[place]
        reply = self.keyed(name, "POST", "/rooms", {"name": room})
        self.agree(reply, lambda: self.model.create(name, room))

    @rule(who=whos, place=places)
    def join(self, who: int, place: int) -> None:
        self.move(0.001)
        name, room = self.people[who], self.places[place]
        reply = self.keyed(name, "POST", f"/rooms/{room}/join", {})
        self.agree(reply, lambda: self.model.join(name, room))

    @rule(actor=actors, often=st.integers(min_value=0, max_value=2))
    def leave(self, actor: int, often: int) -> None:
        name, room = self.tick(actor)
        if often:  # less often than other things
            return
        reply = self.call(name, "POST", f"/rooms/{room}/leave")
        self.agree(reply, lambda: self.model.leave(name, room))

    # --- messages ---

    @rule(actor=actors, kind=st.sampled_from(["decision", "question"]))
    def say(self, actor: int, kind: str) -> None:
        self.post(actor, [kind], 0.0, None, None, None)

    @rule(
        actor=actors, kinds=drafts, question=fractions, after=st.none() | fractions,
        max_unseen=st.none() | st.integers(min_value=0, max_value=3),
        under=st.none() | st.tuples(keys, st.booleans()),
    )  # fmt: skip
    def post(
        self,
        actor: int,
        kinds: list[str],
        question: float,
        after: float | None,
        max_unseen: int | None,
        under: tuple[str, bool] | None,
    ) -> None:
        name, room = self.tick(actor)
        messages = [self.draft(room, kind, question) for kind in kinds]
        body: Json = {"messages": messages}
        if after is not None:
            body["after_seq"] = self.number(room, after)
            if max_unseen is not None:
                body["max_unseen"] = max_unseen
        if under:
            body["if_claim"] = {"key": under[0], "fence": self.fence(room, *under) or 1}
        reply = self.keyed(name, "POST", f"/rooms/{room}/messages", body)
        expected = self.both(
            reply,
            lambda: self.model.post(
                name, room, messages, body.get("after_seq"), body.get("max_unseen"),
                body.get("if_claim"),
            ),
        )  # fmt: skip
        if expected is not None:
            assert [message["seq"] for message in reply.body["messages"]] == expected["seqs"]
            assert reply.body["latest_seq"] == expected["latest_seq"]
            assert reply.body.get("unseen_before_send") == expected.get("unseen_before_send")

    # --- statuses, reactions, claims ---

    @rule(actor=actors, text=st.none() | texts, for_s=seconds)
    def set_status(self, actor: int, text: str | None, for_s: int) -> None:
        name, room = self.tick(actor)
        body = {"status": text, "expires_in_s": for_s}
        reply = self.call(name, "PUT", f"/rooms/{room}/status", body)
        self.agree(reply, lambda: self.model.set_status(name, room, text, for_s))

    @rule(actor=actors, at=fractions, reaction=reactions, add=st.booleans())
    def react(self, actor: int, at: float, reaction: str, *, add: bool) -> None:
        name, room = self.tick(actor)
        number = self.message(room, at)
        path = f"/rooms/{room}/messages/{number}/reactions/{reaction}"
        reply = self.call(name, "PUT" if add else "DELETE", path)
        self.agree(reply, lambda: self.model.react(name, room, number, reaction, add=add))

    @rule(
        actor=actors, key=keys, lease=st.sampled_from([60, 61, 3600]),
        proposal=st.none() | fractions, fenced=st.none() | st.booleans(),
    )  # fmt: skip
    def claim(
        self,
        actor: int,
        key: str,
        lease: int,
        proposal: float | None,
        fenced: bool | None,
    ) -> None:
        name, room = self.tick(actor)
        fence = None if fenced is None else self.fence(room, key, fenced)
        proposed = None if proposal is None else self.message(room, proposal)
        body: Json = {"key": key, "lease_s": lease}
        body |= {} if fence is None else {"fence": fence}
        body |= {} if proposed is None else {"proposed_by_seq": proposed}
        reply = self.keyed(name, "POST", f"/rooms/{room}/claims", body)
        self.agree(reply, lambda: self.model.claim(name, room, key, lease, proposed, fence))

    @rule(actor=actors, key=keys, fenced=st.none() | st.booleans())
    def release(self, actor: int, key: str, fenced: bool | None) -> None:
        name, room = self.tick(actor)
        fence = None if fenced is None else self.fence(room, key, fenced)
        parameters = query(key=key, fence=fence)
        reply = self.call(name, "DELETE", f"/rooms/{room}/claims", **parameters)
        self.agree(reply, lambda: self.model.release(name, room, key, fence))

    # --- reading ---

    @rule(actor=actors, after=st.none() | fractions, wake_on=wake_ons, limit=limits)
    def look(self, actor: int, after: float | None, wake_on: list[str], limit: int) -> None:
        name, room = self.tick(actor)
        number = None if after is None else self.number(room, after)
        asked = self.targets(room, wake_on)
        reply = self.call(
            name, "GET", f"/rooms/{room}/wait",
            **query(after_seq=number, wake_on=asked, timeout_s=0, limit=limit),
        )  # fmt: skip
        began: list[int] = []

        def expected() -> Json:
            began.append(self.model.begin_wait(name, room, number, asked))
            return self.model.end_wait(name, room, began[0], asked, limit, "timeout")

        answer = self.both(reply, expected)
        if answer is not None:
            self.compare_wait(name, room, began[0], reply.body, answer)

    @rule(actor=actors, after=st.none() | fractions, wake_on=wake_ons)
    def park(self, actor: int, after: float | None, wake_on: list[str]) -> None:
        name, room = self.tick(actor)
        number = None if after is None else self.number(room, after)
        asked = self.targets(room, wake_on)
        party = self.harness.party(name)
        parameters = query(after_seq=number, wake_on=asked, timeout_s=300)
        task = self.harness.begin(party.call("GET", f"/rooms/{room}/wait", **parameters))
        try:
            began = self.model.begin_wait(name, room, number, asked)
        except RefusedError:
            assert self.harness.result(task).status >= 400
            return
        if self.model.ends_wait(name, room, began, asked):
            answer = self.model.end_wait(name, room, began, asked, 100, "timeout")
            self.compare_wait(name, room, began, self.harness.result(task).body, answer)
            return
        self.harness.parks(task, len(self.parked) + 1)
        head = self.model.rooms[room].head
        self.parked.append(Parked(name, room, began, asked, task, head))

    @rule(actor=actors, after=fractions, limit=limits, messages=st.booleans())
    def page(self, actor: int, after: float, limit: int, *, messages: bool) -> None:
        name, room = self.tick(actor)
        number = self.number(room, after)
        what = "messages" if messages else "events"
        reply = self.call(name, "GET", f"/rooms/{room}/{what}", after_seq=number, limit=limit)
        expected = self.both(
            reply, lambda: self.model.page(name, room, number, limit, messages=messages)
        )
        if expected is not None:
            found = {key: reply.body[key] for key in ("next_after_seq", "has_more")}
            assert found | {"seqs": [one["seq"] for one in reply.body[what]]} == expected

    @rule(actor=actors, limit=limits)
    def unread(self, actor: int, limit: int) -> None:
        name, _ = self.tick(actor)
        reply = self.call(name, "GET", "/unread", limit=limit)
        expected = self.model.unread(name, limit)
        if expected is None:
            assert reply.body == {"unread": []}
            return
        [shown] = reply.body["unread"]
        found = {key: shown[key] for key in ("through_seq", "has_more")}
        assert found | {"seqs": [message["seq"] for message in shown["messages"]]} == expected

    @rule(actor=actors, at=fractions)
    def confirm(self, actor: int, at: float) -> None:
        name, room = self.tick(actor)
        number = self.number(room, at)
        reply = self.call(name, "POST", "/cursor", {"cursors": {room: number}})
        self.agree(reply, lambda: self.model.confirm(name, room, number))

    @rule(place=places)
    def show(self, place: int) -> None:
        """Members, claims, and the counts and receipts of every message, as they are now."""
        self.move(0.001)
        room = self.places[place]
        if room not in self.model.rooms:
            return
        known, operator = self.model.rooms[room], self.harness.daemon.operator
        shown = self.harness.do(operator.ok("GET", f"/rooms/{room}"))
        waiting = {parked.who for parked in self.parked if parked.room == room}
        assert {short(row["conversation_id"]): row_of(row) for row in shown["members"]} == {
            who: self.expected_row(room, who, waiting) for who in known.members
        }
        now = self.model.now
        held = {key: claim.fence for key, claim in known.claims.items() if claim.ends > now}
        assert {claim["key"]: claim["fence"] for claim in shown["claims"]} == held
        history = self.harness.do(operator.ok("GET", f"/rooms/{room}/messages", limit=1000))
        for message in history["messages"]:
            assert message["reactions"]["counts"] == known.counts(message["id"])
        for message in history["messages"][-3:]:
            path = f"/rooms/{room}/messages/{message['id']}/receipts"
            receipts = self.harness.do(operator.ok("GET", path))["receipts"]
            assert {
                row["participant"]["conversation_id"]: (row["stage"], row["reply_id"])
                for row in receipts
            } == self.model.receipts(room, message["id"])

    # --- time, retries, restarts ---

    @rule(by=st.sampled_from([1, 59, 60, 3600]))
    def pass_time(self, by: int) -> None:
        self.move(by)

    @rule(place=places, before_ms=st.integers(min_value=0, max_value=2))
    def pass_time_to_the_next_end(self, place: int, before_ms: int) -> None:
        """The next thing that somebody does is just before it, at it, or just after it."""
        known = self.model.rooms.get(self.places[place])
        held = [*known.statuses.values(), *known.claims.values()] if known else []
        if ahead := [one.ends for one in held if one.ends > self.model.now]:
            left = min(ahead) - self.model.now - timedelta(milliseconds=before_ms)
            if left > timedelta(0):
                self.move(left / timedelta(seconds=1))

    @rule(place=places)
    def the_clock_strikes(self, place: int) -> None:
        """The daemon ends what has run out though nobody has come."""
        self.move(0.001)
        room = self.places[place]
        self.harness.look_for_overdue(room)
        if room in self.model.rooms:
            self.model.end_overdue(self.model.rooms[room])

    @precondition(lambda self: self.sent)
    @rule(data=st.data(), same=st.booleans())
    def send_again(self, data: st.DataObject, *, same: bool) -> None:
        """A retry repeats what was answered then; other content under the key is refused."""
        self.move(0.001)
        sent = data.draw(st.sampled_from(self.sent))
        body = sent.body if same else sent.body | {"name": "else"}
        reply = self.call(sent.who, sent.method, sent.path, body, sent.key)
        if same:
            assert reply == sent.reply._replace(replayed=True)
        else:
            assert reply.body["code"] == "idempotency_key_reused"

    @rule(often=st.integers(min_value=0, max_value=3))
    def restart(self, often: int) -> None:
        self.move(0.001)
        if often:  # it takes longer than anything else
            return
        self.harness.daemon.services.hub.close()
        self.release_parked("closing")
        self.harness.stop()
        self.harness.start()
        for name, room in self.model.rooms.items():
            self.model.end_overdue(room)
            self.harness.log_reaches(name, room.head)
