"""Two projects with people in them, whose words, names and secrets can be told from all others."""

from __future__ import annotations

import itertools
import uuid
from dataclasses import dataclass, field

from tests.integration.callers import Caller, ListeningDaemon

# A word of every text, so that a search for it would find them all.
COMMON = "secret"
OWN_ROOM = "spare"
# What one party has used; another's call under it must not get that party's kept answer.
USED_KEY = "a-used-key"

_numbers = itertools.count()


def marker() -> str:
    """A text that is nobody else's, and that no fuzzer comes upon."""
    return f"m{next(_numbers)}x{uuid.uuid4().hex[:16]}"


@dataclass(frozen=True)
class Identity:
    """Who calls, and the marks of what must never be in an answer to them."""

    label: str
    caller: Caller
    foreign: frozenset[str]
    home: str | None = None

    def go_home(self) -> None:
        """Be active in one's room again: what the fuzzer draws may have led elsewhere."""
        if self.home is not None:
            self.caller.call("POST", "/rooms/@active/leave")
            self.caller.ok("POST", f"/rooms/{self.home}/join")


@dataclass
class World:
    """Makes the scene on a daemon that has just started."""

    daemon: ListeningDaemon
    rooms: list[str] = field(default_factory=lambda: ["@active", "open", OWN_ROOM, "no-such-room"])
    conversations: list[str] = field(default_factory=list)
    participants: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    identities: list[Identity] = field(default_factory=list)
    # What is only for those of a project, by its name.
    marks: dict[str, frozenset[str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        home, thread, admin, abroad, hidden = (marker() for _ in range(5))
        daemon = self.daemon
        ann, bob = daemon.agent(f"ann-{home}"), daemon.agent(f"bob-{home}")
        eve = daemon.agent("eve")
        self._room("open", home, ann, bob, eve)
        self._room(OWN_ROOM, home, daemon.agent(f"cat-{home}"))
        chief = daemon.enrol("chief", "operator")
        person = daemon.enrol("person", "human")
        dora = daemon.enrol(f"dora-{abroad}", "agent", "elsewhere")
        emil = daemon.enrol(f"emil-{abroad}", "agent", "elsewhere")
        mole = daemon.enrol("mole", "agent", "elsewhere")
        warden = daemon.enrol("warden", "operator", "elsewhere")
        far = f"far-{abroad}"
        self._room(far, abroad, dora, emil, mole)
        self._thread(ann, f"bob-{home}", thread)
        self._thread(ann, "chief", admin)
        self._thread(dora, f"emil-{abroad}", hidden)
        tokens = {str(one.token) for one in (chief, person, dora, emil, mole, warden)}
        self.codes = [self._code(), "an-invented-code"]
        secrets = frozenset((*tokens, self.codes[0]))
        self.participants += ["eve", "chief", "person", "mole", "no-such-participant"]
        self.marks["default"] = frozenset((home, thread, admin))
        self.marks["elsewhere"] = frozenset((abroad, hidden))
        here, there = (self.marks[name] | secrets for name in ("default", "elsewhere"))
        nobody = Caller(daemon, over="tcp")
        self.identities = [
            Identity("agent over the socket", eve, there | {thread, admin}, "open"),
            Identity("person over TCP", person, there | {thread, admin}, "open"),
            Identity("host over the socket", daemon.operator, there),
            Identity("operator over TCP", chief, there, "open"),
            Identity("agent of another project", mole, here | {hidden}, far),
            Identity("operator of another project", warden, here, far),
            Identity("the same over the socket", warden.over_socket(), here, far),
            Identity("nobody over TCP", nobody, here | there),
        ]

    def witnesses(self) -> dict[str, int]:
        """How many texts each of those finds who may read everything of a project."""
        chief, warden = self.identities[3].caller, self.identities[5].caller
        found = {}
        for label, caller in (("default", chief), ("elsewhere", warden)):
            threads = caller.ok("GET", "/conversations")["conversations"]
            found[label] = sum(
                len(caller.ok("GET", f"/conversations/{one['id']}/messages")["messages"])
                for one in threads
            )
        return found

    def _room(self, name: str, text: str, *members: Caller) -> None:
        room = members[0].ok("POST", "/rooms", {"name": name})["room"]
        for member in members[1:]:
            member.ok("POST", f"/rooms/{name}/join")
        messages = [{"kind": "question", "body": f"{COMMON} {text}"} for _ in range(3)]
        used = {"Idempotency-Key": USED_KEY}
        members[0].ok("POST", f"/rooms/{name}/messages", {"messages": messages}, headers=used)
        members[0].ok("PUT", f"/rooms/{name}/status", {"status": text, "expires_in_s": 3600})
        members[0].ok("POST", f"/rooms/{name}/claims", {"key": text, "lease_s": 86_400})
        self.rooms += [str(room["id"]), str(room["slug"])]
        self.participants += [
            str(member.ok("GET", "/me")["participant"]["name"]) for member in members
        ]

    def _thread(self, one: Caller, other: str, text: str) -> None:
        thread = one.ok("POST", "/conversations", {"with": other})["conversation"]["id"]
        used = {"Idempotency-Key": USED_KEY}
        for number in range(3):
            message = {"kind": "question", "body": f"{COMMON} {text}"}
            used["Idempotency-Key"] = f"{USED_KEY}-{number}" if number else USED_KEY
            one.ok("POST", f"/conversations/{thread}/messages", message, headers=used)
        self.conversations.append(str(thread))
        self.rooms.append(str(thread))

    def _code(self) -> str:
        offer = {"name": marker(), "kind": "agent", "role": "agent", "expires_in_s": 604_800}
        code: str = self.daemon.operator.ok("POST", "/enrollments", offer)["code"]
        return code
