"""The vitals of a daemon as lines for a terminal."""

from __future__ import annotations

import time
from typing import Any

from .texts import Style, safe, span, table

Vitals = dict[str, Any]


def board(vitals: Vitals, style: Style) -> list[str]:
    """Nothing in it steers a terminal: what others named is made `safe`."""
    version, started = safe(str(vitals["version"] or "?")), vitals["started_at"]
    up = "" if started is None else f", up {span(time.time() - started)}"
    lines = [style.bold(f"coordroomsd {version}{up}"), ""]
    lines += table(("", ""), _summary(vitals, style))[1:]
    lines += ["", *_refusals(vitals, style), "", *_rooms(vitals, style)]
    return lines


def _summary(vitals: Vitals, style: Style) -> list[tuple[str, str]]:
    waits, connections, journal = vitals["waits"], vitals["connections"], vitals["journal"]
    store, process = vitals["store"], vitals["process"]
    sessions = store["read_sessions"]
    health = style.good("takes writes") if store["up"] else style.bad("TAKES NO WRITES")
    free = "" if store["free_bytes"] is None else f", {_size(store['free_bytes'])} free"
    dropped = "".join(
        f", {_count(count)} ended: {safe(why)}" for why, count in connections["dropped"].items()
    )
    return [
        (
            "traffic",
            f"{vitals['messages_per_s']:g} messages/s, {vitals['other_events_per_s']:g} other "
            f"events/s, {vitals['calls_per_s']:g} calls/s",
        ),
        (
            "waits",
            f"{_count(waits['parked'])} parked and {_count(waits['streams'])} streams, of at most "
            f"{_count(waits['limit'])}",
        ),
        (
            "connections",
            f"{_count(connections.get('http'))} http and {_count(connections.get('mcp'))} mcp, of "
            f"at most {_count(connections['limit'])}{dropped}",
        ),
        (
            "journal",
            f"{_times(journal)} a batch, {journal['per_s']:g} batches/s of "
            f"{_count(journal['commands_per_batch'])}, {_count(journal['queue'])} queued",
        ),
        ("commits", f"{_times(vitals['commit'])}, {vitals['commit']['per_s']:g}/s"),
        ("wakes", f"{_times(vitals['wakes'])}, {vitals['wakes']['per_s']:g}/s"),
        ("database", f"{health}{free}, lost {_count(store['losses'])} times"),
        (
            "reads",
            f"{_count(sessions.get('in_use'))} of {_count(sessions.get('open'))} sessions at work, "
            f"{_count(sessions.get('asking'))} calls wait for one",
        ),
        ("positions", f"{store['positions_lag_s'] or 0:.1f} s behind"),
        ("loop", f"{_times(vitals['loop'])} late"),
        (
            "process",
            f"{process['cpu_percent']:.0f} % of a core, {_size(process['memory_bytes'])}, "
            f"{_count(process['descriptors'])} descriptors, {_count(vitals['rooms_loaded'])} rooms "
            "in memory",
        ),
    ]


def _refusals(vitals: Vitals, style: Style) -> list[str]:
    refused = [(safe(code), _count(count)) for code, count in vitals["refusals"].items()]
    if not refused:
        return [style.dim("nothing was refused")]
    heads, *rows = table(("REFUSED", "CALLS"), refused)
    return [style.dim(heads), *rows]


def _rooms(vitals: Vitals, style: Style) -> list[str]:
    if vitals["rooms"] is None:
        return [style.dim("the rooms cannot be listed")]
    if not vitals["rooms"]:
        return [style.dim("nobody is in any room")]
    heads, *rows = table(
        ("EVENTS/S", "MEMBERS", "EVENTS", "ROOM"),
        [
            (
                f"{room['events_per_s']:g}",
                _count(room["active_members"]),
                _count(room["latest_seq"]),
                safe(room["room"]),
            )
            for room in vitals["rooms"]
        ],
    )
    return [style.dim(heads), *rows]


def _times(times: dict[str, float | None]) -> str:
    if times["p50_ms"] is None or times["p99_ms"] is None:
        return "–"
    return f"{times['p50_ms']:.1f} ms (p99 {times['p99_ms']:.1f})"


def _count(number: float | None) -> str:
    return "–" if number is None else f"{number:,.10g}"


def _size(size: float | None) -> str:
    if size is None:
        return "–"
    for unit, bytes_each in (("GiB", 2**30), ("MiB", 2**20)):
        if size >= bytes_each:
            return f"{size / bytes_each:,.1f} {unit}"
    return f"{size:,.0f} bytes"
