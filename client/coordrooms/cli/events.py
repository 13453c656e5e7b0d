"""Events as lines that people read."""

from __future__ import annotations

from collections.abc import Mapping

from ..events import (
    ClaimEvent,
    Event,
    HistoryRestored,
    MemberEvent,
    Message,
    ReactionEvent,
    RetentionGap,
    StatusEvent,
)
from .texts import Style, clock_time, cut, padded, safe

NAME_COLUMNS = 16
KIND_COLUMNS = 9
INDENT = " " * 7


def event_lines(
    event: Event | RetentionGap | HistoryRestored,
    style: Style,
    names: Mapping[str, str] | None = None,
) -> str:
    """An event, on as many lines as its text has.

    `names` are what to call participants instead of their display names, by conversation id.
    """
    if isinstance(event, RetentionGap):
        return style.dim(f"       … events {event.from_seq} to {event.to_seq} were removed …")
    if isinstance(event, HistoryRestored):
        return style.bold(
            "       … the daemon's database was restored from an older copy: what was said since "
            f"then is gone, and the room's last event is {event.latest_seq} now …"
        )
    who = event.author or event.participant
    name = safe((names or {}).get(who.conversation_id, who.name)) if who else "–"
    shown = style.name(name, padded(cut(name, NAME_COLUMNS), NAME_COLUMNS))
    head = f"{style.dim(f'{event.seq:>5}  {clock_time(event.at)}')}  {shown}  "
    if isinstance(event, Message):
        return head + _message(event, style)
    return head + style.dim(_happening(event))


def _message(message: Message, style: Style) -> str:
    kind = safe(message.kind)
    if message.reply_to is not None:
        kind += f" →{message.reply_to}"
    first, *rest = safe(message.body, lines=True).rstrip("\n").split("\n")
    return "\n".join(
        [
            f"{style.kind(message.kind, padded(kind, KIND_COLUMNS))}  {first}",
            *(INDENT + line for line in rest),
        ]
    )


def _happening(event: Event) -> str:
    match event:
        case MemberEvent(reason=reason):
            return f"{safe(reason or '')} the room"
        case StatusEvent(reason="set", status=status, expires_at=until):
            ends = f" (until {clock_time(until)})" if until else ""
            return f"is {safe(status or '')!r}{ends}"
        case StatusEvent(reason=reason, status=status):
            return f"is no longer {safe(status or '')!r} ({safe(reason or '')})"
        case ReactionEvent(reason="removed", reaction=reaction, message_id=target):
            return f"took back {safe(reaction)} to {target}"
        case ReactionEvent(reaction=reaction, message_id=target):
            return f"{safe(reaction)} to {target}"
        case ClaimEvent(reason=reason, key=key, expires_at=until, fence=fence):
            held = reason in ("claimed", "renewed") and until
            ends = f" until {clock_time(until)}" if held and until else ""
            return f"{safe(reason or '')} {safe(key)!r}{ends} (fence {fence})"
        case _:
            return f"{safe(event.type)} {safe(event.reason or '')}".rstrip()
