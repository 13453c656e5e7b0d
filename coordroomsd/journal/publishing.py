"""After the commit, in the order of commits: memory takes over, and who waited is woken."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from coordroomsd.domain.errors import Refusal
from coordroomsd.domain.identities import Enrolled, credential_of
from coordroomsd.domain.members import reference
from coordroomsd.journal.draft import Draft, RoomDraft
from coordroomsd.live.buses import IDENTITIES
from coordroomsd.live.participants import Participants
from coordroomsd.live.people import People
from coordroomsd.live.rooms import LiveRoom, Rooms
from coordroomsd.live.timers import Timers
from coordroomsd.live.unindexed import Unindexed
from coordroomsd.live.waiters import Hub


class Publishing:
    """Takes one argument: what was committed."""

    def __init__(
        self,
        rooms: Rooms,
        participants: Participants,
        timers: Timers,
        people: People,
        hub: Hub,
        unindexed: Unindexed,
        tell: Callable[[Mapping[int, int]], None] | None = None,
    ) -> None:
        # Lets other daemons know which rooms have come to which version.
        self._tell = tell
        self._rooms = rooms
        self._participants = participants
        self._timers = timers
        self._people = people
        self._hub = hub
        self._unindexed = unindexed

    def publish(self, draft: Draft, committed_at: float) -> None:
        """Runs without a pause, so that nobody sees half of a batch."""
        for participant in draft.participants.values():
            self._participants.put(participant)
        for room_id, drafted in draft.rooms.items():
            found_early = self._rooms.peek(room_id) if drafted.is_new else None
            if found_early is None:
                self._take_over(draft, room_id, drafted)
            else:
                # A reader found a new room's row since its commit, and has loaded this very state.
                drafted.live = found_early
            if drafted.state.next_deadline is not None:
                self._timers.arm(room_id, drafted.state.next_deadline)
        if draft.changes_identities and self._people.version == draft.identities:
            self._people.version += 1
            for enrolled in draft.enrolled_now.values():
                enrol(self._people, self._hub, enrolled)
        for room_id, drafted in draft.rooms.items():
            if drafted.events:
                self._unindexed.add(room_id)
                _end_calls_of_who_left(drafted)
                drafted.live.waiters.wake(drafted.events, committed_at)

        if self._tell and (versions := _versions(draft)):
            self._tell(versions)

    def _take_over(self, draft: Draft, room_id: int, drafted: RoomDraft) -> None:
        live = drafted.live
        if live.version > drafted.version:
            # It was read back from a database that is shared since the commit, perhaps with more.
            return
        live.version += drafted.is_written
        for membership_id in _arrived(drafted):
            live.positions[membership_id] = draft.position(room_id, membership_id)
        live.state = drafted.state
        live.tail.forget_before(drafted.state.first_seq)
        live.tail.extend(drafted.events)
        if drafted.is_new:
            self._rooms.add(live)


def _versions(draft: Draft) -> dict[int, int]:
    versions = {
        room_id: drafted.version + 1
        for room_id, drafted in draft.rooms.items()
        if drafted.is_written
    }
    if draft.changes_identities:
        versions[IDENTITIES] = draft.identities + 1
    return versions


def _arrived(drafted: RoomDraft) -> Iterable[int]:
    """The memberships that may have no position yet; looking at all would cost every post."""
    if drafted.is_new:
        return drafted.state.memberships
    return {event.who.membership_id for event in drafted.events if event.type == "member"}


def enrol(people: People, hub: Hub, enrolled: Enrolled) -> None:
    """Let this be known of somebody; calls end that came in under a token which is no more."""
    before = people.get(enrolled.project, enrolled.name)
    if before == enrolled:
        return
    people.put(enrolled)
    if before and before.token_hash:
        ended = Refusal("unauthorized", f"The token of {before.name} was revoked.")
        hub.revoke(credential_of(before), ended)


def _end_calls_of_who_left(drafted: RoomDraft) -> None:
    for event in drafted.events:
        if event.type == "member" and event.reason == "left":
            end_calls(drafted.live, event.who.membership_id)


def end_calls(room: LiveRoom, membership_id: int) -> None:
    """A member that leaves a room no longer waits in it."""
    name = room.state.memberships[membership_id].author.conversation_id
    refusal = Refusal(
        "active_membership_not_found",
        f"{name} has left room {reference(room.state)} while this call was parked.",
        room=reference(room.state),
    )
    room.waiters.end(membership_id, refusal)
