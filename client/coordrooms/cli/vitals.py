"""What the daemon has done between two looks at its numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..expositions import Samples, by_label, one, quantile, since
from ..models import Json

_STARTED = "process_start_time_seconds"
# What `top` shows of rooms.
MAX_ROOMS = 10


class Look(NamedTuple):
    """`at` counts evenly. `rooms` is None where they may not be listed, or cannot be."""

    at: float
    samples: Samples
    rooms: Sequence[Json] | None


def vitals(before: Look, after: Look) -> dict[str, Any]:
    """As one JSON document; numbers that are not known are null."""
    # What a daemon that was restarted has counted, it has counted since then.
    earlier = before.samples if _same_daemon(before, after) else {}
    seconds = max(after.at - before.at, 1e-3)
    now, grown = after.samples, since(earlier, after.samples, _is_counter)

    def rate(count: float) -> float:
        return round(count / seconds, 2)

    def reading(name: str, **labels: str) -> float | None:
        return one(now, f"coordrooms_{name}", **labels)

    def growth(name: str) -> float:
        return one(grown, f"coordrooms_{name}") or 0.0

    def times(name: str) -> dict[str, float | None]:
        return {
            "per_s": rate(growth(f"{name}_count")),
            "p50_ms": _milliseconds(quantile(0.5, grown, f"coordrooms_{name}")),
            "p99_ms": _milliseconds(quantile(0.99, grown, f"coordrooms_{name}")),
        }

    events = by_label(grown, "coordrooms_events_total", "type")
    refusals = by_label(grown, "coordrooms_refusals_total", "code")
    batches = growth("batch_commands_count")
    return {
        "interval_s": round(seconds, 3),
        "version": next(iter(by_label(now, "coordrooms_build_info", "version")), None),
        "started_at": one(now, _STARTED),
        "messages_per_s": rate(events.pop("message", 0.0)),
        "other_events_per_s": rate(sum(events.values())),
        "calls_per_s": rate(sum(by_label(grown, "coordrooms_calls_total", "operation").values())),
        "waits": {
            "parked": reading("waiters"),
            "streams": reading("streams"),
            "limit": reading("waiters_limit"),
        },
        "connections": {
            **by_label(now, "coordrooms_connections", "protocol"),
            "limit": reading("connections_limit"),
            "dropped": {
                why: count
                for why, count in by_label(
                    grown, "coordrooms_dropped_connections_total", "why"
                ).items()
                if count
            },
        },
        "journal": {
            **times("batch_seconds"),
            "commands_per_batch": round(growth("batch_commands_sum") / batches, 1)
            if batches
            else None,
            "queue": reading("queue"),
        },
        "commit": times("commit_seconds"),
        "wakes": times("wake_seconds"),
        "loop": times("loop_lag_seconds"),
        "store": {
            "up": bool(reading("store_up")),
            "losses": reading("store_losses_total"),
            "refused_batches": reading("store_refusals_total"),
            "free_bytes": reading("store_free_bytes"),
            "read_sessions": by_label(now, "coordrooms_read_sessions", "state"),
            "positions_lag_s": reading("positions_lag_seconds"),
        },
        "process": {
            "memory_bytes": one(now, "process_resident_memory_bytes"),
            "cpu_percent": rate(100 * (one(grown, "process_cpu_seconds_total") or 0.0)),
            "descriptors": one(now, "process_open_fds"),
        },
        "rooms_loaded": reading("rooms_loaded"),
        "refusals": {code: int(count) for code, count in _largest(refusals).items()},
        "rooms": None if after.rooms is None else _rooms(before, after.rooms, seconds),
    }


def _rooms(before: Look, rooms: Sequence[Json], seconds: float) -> list[dict[str, Any]]:
    """The ones with most going on, the busiest first."""
    earlier = {room["id"]: room["latest_seq"] for room in before.rooms or rooms}
    busy = [
        {
            "room": room["slug"] or room["id"],
            "events_per_s": round(
                max(0, room["latest_seq"] - earlier.get(room["id"], 0)) / seconds, 2
            ),
            "active_members": room.get("active_members"),
            "latest_seq": room["latest_seq"],
        }
        for room in rooms
    ]
    busy.sort(key=lambda room: (-room["events_per_s"], -(room["active_members"] or 0)))
    return busy[:MAX_ROOMS]


def _largest(counts: Mapping[str, float]) -> dict[str, float]:
    some = [(code, count) for code, count in counts.items() if count]
    return dict(sorted(some, key=lambda pair: -pair[1]))


def _same_daemon(before: Look, after: Look) -> bool:
    return one(before.samples, _STARTED) == one(after.samples, _STARTED)


def _is_counter(name: str) -> bool:
    return name.endswith(("_total", "_bucket", "_count", "_sum"))


def _milliseconds(seconds: float | None) -> float | None:
    return None if seconds is None else round(seconds * 1000, 2)
