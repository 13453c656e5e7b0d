"""What rooms do, once more and simply: written from the contract, and not from the daemon.

Everything is as on the wire, but that people are named by their id alone. An operation returns what
the daemon has to answer, or raises RefusedError with the codes that would do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from tests.model.rooms import (
    PROTOCOL,
    Held,
    Json,
    Member,
    RefusedError,
    RoomModel,
    claim_fields,
    lease_fields,
    on_the_wire,
    status_fields,
    wakes,
)


class Model:
    """All rooms of one project. `now` is set by whoever moves the clock."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        self.rooms: dict[str, RoomModel] = {}

    # --- what every call begins with ---

    def active_room(self, who: str) -> str | None:
        for name, room in self.rooms.items():
            if who in room.members and room.members[who].active:
                return name
        return None

    def _room(self, name: str) -> RoomModel:
        if name not in self.rooms:
            raise RefusedError("room_not_found")
        return self.rooms[name]

    def _member(self, name: str, who: str) -> RoomModel:
        room = self._room(name)
        if who not in room.members:
            raise RefusedError("membership_not_found")
        if not room.members[who].active:
            raise RefusedError("active_membership_not_found")
        return room

    @staticmethod
    def _check_cursor(room: RoomModel, number: int | None) -> None:
        if number is not None and number > room.head:
            raise RefusedError("cursor_ahead")

    def _append(
        self, room: RoomModel, event_type: str, reason: str | None, who: str, **fields: Any
    ) -> Json:
        event: Json = {"seq": room.head + 1, "type": event_type, "reason": reason}
        event |= {"at": on_the_wire(self.now), "author": who, **fields}
        if reason == "expired":
            event |= {"author": None, "participant": who}
        room.log.append(event)
        return event

    # --- what ends ---

    def end_overdue(self, room: RoomModel) -> None:
        """What has run out ends before anything else happens, in the order in which it ran out."""
        over: list[tuple[datetime, int, Callable[[], None]]] = []
        for who, status in room.statuses.items():
            if status.ends <= self.now:
                over.append((status.ends, 0, lambda w=who: self._end_status(room, w, "expired")))  # type: ignore[misc]
        for key, claim in room.claims.items():
            if claim.ends <= self.now:
                over.append((claim.ends, 1, lambda k=key: self._end_claim(room, k, "expired")))  # type: ignore[misc]
        for _, _, end in sorted(over, key=lambda one: one[:2]):
            end()

    def _end_status(self, room: RoomModel, who: str, reason: str) -> None:
        status = room.statuses.pop(who)
        self._append(room, "status", reason, who, **status_fields(status))

    def _end_claim(self, room: RoomModel, key: str, reason: str) -> None:
        claim = room.claims.pop(key)
        self._append(room, "claim", reason, claim.who, **lease_fields(key, claim))

    # --- rooms and members ---

    def create(self, who: str, name: str) -> Json:
        if self.active_room(who):
            raise RefusedError("active_membership_conflict")
        if name in self.rooms:
            raise RefusedError("room_name_conflict")
        self.rooms[name] = RoomModel()
        return self.join(who, name)

    def join(self, who: str, name: str) -> Json:
        room = self._room(name)
        member = room.members.get(who)
        if member is None or not member.active:
            if self.active_room(who):
                raise RefusedError("active_membership_conflict")
            self.end_overdue(room)
            seq = self._append(room, "member", "joined", who)["seq"]
            member = room.members.setdefault(who, Member(seq, True, seq, seq))
            member.active = True
        return {"next_after_seq": member.cursor}

    def leave(self, who: str, name: str) -> Json:
        room = self._room(name)
        if who not in room.members:
            raise RefusedError("membership_not_found")
        if room.members[who].active:
            self.end_overdue(room)
            own = [key for key, claim in room.claims.items() if claim.who == who]
            for key in sorted(own, key=lambda key: room.claims[key].fence):
                self._end_claim(room, key, "left")
            if who in room.statuses:
                self._end_status(room, who, "left")
            self._append(room, "member", "left", who)
            room.members[who].active = False
        return {}

    # --- messages ---

    def post(
        self,
        who: str,
        name: str,
        drafts: Sequence[Json],
        after: int | None = None,
        max_unseen: int | None = None,
        if_claim: Json | None = None,
    ) -> Json:
        room = self._member(name, who)
        self._check_cursor(room, after)
        conflicts = []
        for draft in drafts:
            if "reply_to" in draft:
                target = room.message(draft["reply_to"])
                if target is None or target["kind"] != "question":
                    conflicts.append("reply_target_invalid")
        unseen = None if after is None else room.unseen(who, after)
        if unseen is not None and max_unseen is not None and unseen > max_unseen:
            conflicts.append("unseen_messages")
        if if_claim and not self._holds(room, who, if_claim["key"], if_claim["fence"]):
            conflicts.append("not_claim_holder")
        if conflicts:
            raise RefusedError(*conflicts)
        self.end_overdue(room)
        posted = [
            self._append(
                room, "message", None, who,
                kind=draft["kind"], body=draft["body"], reply_to=draft.get("reply_to"),
            )
            for draft in drafts
        ]  # fmt: skip
        answer: Json = {"latest_seq": room.head, "seqs": [event["seq"] for event in posted]}
        return answer if unseen is None else answer | {"unseen_before_send": unseen}

    # --- statuses, reactions, claims ---

    def set_status(self, who: str, name: str, text: str | None, seconds: int) -> Json:
        room = self._member(name, who)
        self.end_overdue(room)
        held, changed = room.statuses.get(who), True
        ends = self.now + timedelta(seconds=seconds)
        if text is None:
            changed = held is not None
            if held:
                self._end_status(room, who, "cleared")
        elif held and held.text == text:
            held.ends, changed = ends, False
        else:
            room.statuses[who] = Held(who, self.now, ends, text)
            self._append(room, "status", "set", who, **status_fields(room.statuses[who]))
        now_held = room.statuses.get(who)
        shown = None if now_held is None else status_fields(now_held)
        return {"status": shown, "changed": changed, "latest_seq": room.head}

    def react(self, who: str, name: str, message: int, reaction: str, *, add: bool) -> Json:
        room = self._member(name, who)
        target = room.message(message)
        if target is None:
            raise RefusedError("message_not_found")
        if add and reaction in PROTOCOL and target["author"] == who:
            raise RefusedError("own_message")
        mine = (message, who, reaction)
        changed = (mine in room.reactions) != add
        if changed:
            self.end_overdue(room)
            (room.reactions.add if add else room.reactions.discard)(mine)
            reason = "added" if add else "removed"
            self._append(room, "reaction", reason, who, message_id=message, reaction=reaction)
        return {"changed": changed, "counts": room.counts(message), "latest_seq": room.head}

    def claim(
        self,
        who: str,
        name: str,
        key: str,
        lease: int,
        proposed_by: int | None = None,
        fence: int | None = None,
    ) -> Json:
        room = self._member(name, who)
        if proposed_by is not None and room.message(proposed_by) is None:
            raise RefusedError("message_not_found")
        if fence is not None and not self._holds(room, who, key, fence):
            raise RefusedError("not_claim_holder")
        held = self._held(room, key)
        if held and held.who != who:
            raise RefusedError("claim_conflict")
        self.end_overdue(room)
        ends = self.now + timedelta(seconds=lease)
        if held:
            held.ends = max(held.ends, ends)
            held.proposed_by = proposed_by or held.proposed_by
        else:
            held = Held(who, self.now, ends, fence=room.head + 1, proposed_by=proposed_by)
            room.claims[key] = held
        reason = "claimed" if held.fence > room.head else "renewed"
        self._append(room, "claim", reason, who, **lease_fields(key, held))
        return {"claim": claim_fields(key, held), "latest_seq": room.head}

    def release(self, who: str, name: str, key: str, fence: int | None = None) -> Json:
        room = self._member(name, who)
        held = self._held(room, key)
        if (held or fence is not None) and not self._holds(room, who, key, fence):
            raise RefusedError("not_claim_holder")
        self.end_overdue(room)
        if held:
            self._end_claim(room, key, "released")
        return {"released": held is not None, "latest_seq": room.head}

    def _held(self, room: RoomModel, key: str) -> Held | None:
        """Who holds it at this moment, whether or not its end is in the log yet."""
        claim = room.claims.get(key)
        return claim if claim and claim.ends > self.now else None

    def _holds(self, room: RoomModel, who: str, key: str, fence: int | None) -> bool:
        held = self._held(room, key)
        return held is not None and held.who == who and fence in (None, held.fence)

    # --- reading ---

    def begin_wait(self, who: str, name: str, after: int | None, wake_on: Sequence[str]) -> int:
        """The number that the wait begins at; one that was sent proves what its caller has."""
        room = self._member(name, who)
        self._check_cursor(room, after)
        for part in wake_on:
            if part.startswith("answer:") and not room.message(int(part[7:])):
                raise RefusedError("message_not_found")
        member = room.members[who]
        if after is None:
            return member.cursor
        if after <= member.last_seen:
            member.cursor = max(member.cursor, after)
        return after

    def ends_wait(self, who: str, name: str, after: int, wake_on: Sequence[str]) -> bool:
        room = self.rooms[name]
        if any(p.startswith("free:") and not self._held(room, p[5:]) for p in wake_on):
            return True
        return any(wakes(event, wake_on) for event in room.others(who, after))

    def end_wait(
        self, who: str, name: str, after: int, wake_on: Sequence[str], limit: int, otherwise: str
    ) -> Json:
        """The answer now; `otherwise` is its reason when nothing has happened."""
        room = self.rooms[name]
        others = room.others(who, after)
        ends = self.ends_wait(who, name, after, wake_on)
        woken_by = [event["seq"] for event in others if wakes(event, wake_on)]
        through = others[limit - 1]["seq"] if len(others) > limit else room.head
        room.shown(who, after, through)
        return {
            "reason": "event" if ends else otherwise,
            "woken_by": woken_by[:10],
            "events": others[:limit],
            "next_after_seq": through,
            "latest_seq": room.head,
            "has_more": len(others) > limit,
        }

    def page(self, who: str, name: str, after: int, limit: int, *, messages: bool) -> Json:
        room = self._member(name, who)
        self._check_cursor(room, after)
        found = [e for e in room.log[after:] if e["type"] == "message" or not messages]
        through = found[limit - 1]["seq"] if len(found) > limit else room.head
        room.shown(who, after, through)
        numbers = [event["seq"] for event in found[:limit]]
        return {"seqs": numbers, "next_after_seq": through, "has_more": len(found) > limit}

    def unread(self, who: str, limit: int) -> Json | None:
        name = self.active_room(who)
        if name is None:
            return None
        room = self.rooms[name]
        found = [e for e in room.others(who, room.members[who].cursor) if e["type"] == "message"]
        through = found[limit - 1]["seq"] if len(found) > limit else room.head
        numbers = [event["seq"] for event in found[:limit]]
        return {"seqs": numbers, "through_seq": through, "has_more": len(found) > limit}

    def confirm(self, who: str, name: str, seq: int) -> Json:
        room = self._member(name, who)
        self._check_cursor(room, seq)
        member = room.members[who]
        member.cursor = max(member.cursor, seq)
        member.last_seen = max(member.last_seen, seq)
        return {"cursors": {name: member.cursor}}

    def receipts(self, name: str, seq: int) -> dict[str, tuple[str, int | None]]:
        """Stage and reply of everybody else who was active when a message was stored."""
        room = self.rooms[name]
        inside: set[str] = set()
        for event in room.log[:seq]:
            if event["type"] == "member":
                (inside.add if event["reason"] == "joined" else inside.discard)(event["author"])
        inside.discard(room.log[seq - 1]["author"])
        return {who: self._stage(room, who, seq) for who in inside}

    @staticmethod
    def _stage(room: RoomModel, who: str, seq: int) -> tuple[str, int | None]:
        for event in room.log:
            if event["author"] == who and event.get("reply_to") == seq:
                return "replied", event["seq"]
        if (seq, who, "ack") in room.reactions:
            return "acknowledged", None
        return ("retrieved" if room.members[who].last_seen >= seq else "stored"), None
