"""The keys of the configuration: their defaults, types and ranges.

`config.example.toml` says what they are for. SIGHUP puts keys that are RELOADED into force, by way
of `server.py` and `Daemon.adopt`; every other one waits for a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Final, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from coordroomsd.addresses import (
    Listen,
    check_collector_url,
    check_database_url,
    check_socket_path,
    parse_listen,
)


def _socket_path(value: object) -> Path:
    if not isinstance(value, str):
        raise ValueError("should be a path in quotes")
    return check_socket_path(Path(value))


def _listen(value: object) -> object:
    return parse_listen(value) if isinstance(value, str) else value


def _hosts(value: object) -> tuple[str, ...]:
    match value:
        case list() | tuple() if all(isinstance(item, str) and _is_host(item) for item in value):
            return tuple(str(item).lower() for item in value)
        case _:
            raise ValueError('should be a list of host names, like ["rooms.example.org"]')


def _is_host(name: str) -> bool:
    return bool(name) and not any(sign.isspace() or sign in "/@," for sign in name)


def _pairs(value: object) -> tuple[tuple[str, str], ...]:
    match value:
        case list() if all(_is_pair(item) for item in value):
            return tuple((one, other) for one, other in value)
        case _:
            raise ValueError('should be a list of pairs of two participants, like [["a", "b"]]')


def _is_pair(item: object) -> bool:
    match item:
        case [str(one), str(other)]:
            return one != other and all(0 < len(name) <= 200 for name in (one, other))
        case _:
            return False


class _Reloaded:
    """What SIGHUP puts into force without a restart."""


RELOADED: Final = _Reloaded()

SocketPath = Annotated[Path, BeforeValidator(_socket_path)]
Burst = Annotated[int, Field(ge=0, le=1_000_000), RELOADED]
Many = Annotated[int, Field(ge=1, le=1_000_000), RELOADED]
Seconds = Annotated[float, Field(ge=0.1, le=3600, allow_inf_nan=False), RELOADED]
Rate = Annotated[float, Field(ge=0.001, le=1_000_000, allow_inf_nan=False), RELOADED]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    @classmethod
    def is_reloaded(cls, key: str) -> bool:
        return RELOADED in cls.model_fields[key].metadata


class Database(Section):
    """Without `url` the daemon runs its own private Postgres below its state directory.

    `run_as` is the user of the private Postgres when root starts the daemon; None leaves the
    choice to it.
    """

    url: Annotated[str, AfterValidator(check_database_url)] | None = Field(default=None, repr=False)
    run_as: Annotated[str, Field(min_length=1)] | None = None


class Server(Section):
    socket: SocketPath
    mcp_socket: SocketPath
    listen: Annotated[Listen, BeforeValidator(_listen)] | None = None
    hosts: Annotated[tuple[str, ...], BeforeValidator(_hosts), RELOADED] = ()

    @model_validator(mode="after")
    def _sockets_differ(self) -> Server:
        if self.socket == self.mcp_socket:
            raise ValueError("socket and mcp_socket should be two different paths")
        return self


class Limits(Section):
    """Token buckets per participant: so many at once, then so many a second.

    A burst of 0 switches its bucket off. Then what connections and parked calls may take.
    """

    message_burst: Burst = 60
    message_per_s: Rate = 10.0
    # 64 of the largest bodies at once, then two a second.
    body_kib_burst: Burst = 4096
    body_kib_per_s: Rate = 128.0
    status_burst: Burst = 20
    status_per_s: Rate = 0.2
    reaction_burst: Burst = 40
    reaction_per_s: Rate = 0.5
    claim_burst: Burst = 20
    claim_per_s: Rate = 0.1
    room_burst: Burst = 30
    room_per_s: Rate = 0.2
    max_waiters: Many = 20_000
    max_waiters_per_participant: Many = 500
    max_connections: Many = 25_000
    max_connections_per_peer: Many = 20_000
    request_within_s: Seconds = 30.0
    answer_within_s: Seconds = 30.0
    max_unread_mib: Many = 256
    max_unfinished_mib: Many = 64


class Retention(Section):
    """What rooms without a policy of their own keep; 0 keeps everything."""

    max_age_s: Annotated[int, Field(ge=0, le=3_153_600_000), RELOADED] = 0
    max_events: Annotated[int, Field(ge=0, le=1_000_000_000_000), RELOADED] = 0


class Conversations(Section):
    peer_policy: Annotated[Literal["open", "listed"], RELOADED] = "open"
    peers: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_pairs), RELOADED] = ()

    @model_validator(mode="after")
    def _a_list_is_in_force(self) -> Conversations:
        # Whoever writes a list means to restrict, and would not notice the open door beside it.
        if self.peers and self.peer_policy == "open":
            raise ValueError('peers counts only with peer_policy = "listed"')
        return self


class Log(Section):
    """`auto` is the journal under systemd, else text on standard error."""

    level: Annotated[Literal["debug", "info", "warning", "error"], RELOADED] = "info"
    format: Literal["auto", "text", "json"] = "auto"


class Tracing(Section):
    """Without `endpoint` nothing is traced."""

    endpoint: Annotated[str, AfterValidator(check_collector_url)] | None = None
    ratio: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)] = 1.0


class Cluster(Section):
    """Without a bus the daemon has its database alone; with one it shares it with all others."""

    bus: Literal["none", "postgres"] = "none"


SECTIONS: Mapping[str, type[Section]] = MappingProxyType(
    {
        "database": Database,
        "server": Server,
        "limits": Limits,
        "retention": Retention,
        "conversations": Conversations,
        "log": Log,
        "tracing": Tracing,
        "cluster": Cluster,
    }
)


@dataclass(frozen=True, slots=True)
class Config:
    """The effective configuration.

    `sources` has where each value came from by its dotted key (`server.socket`): a file, an
    option, a variable, `default`.
    """

    state_dir: Path
    database: Database
    server: Server
    limits: Limits
    retention: Retention
    conversations: Conversations
    log: Log
    tracing: Tracing
    cluster: Cluster
    sources: Mapping[str, str] = field(compare=False)
