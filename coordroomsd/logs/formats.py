"""Lines on standard error: for people, or one JSON object each for programs."""

from __future__ import annotations

import json
import logging
from datetime import UTC, datetime

from coordroomsd.logs.lines import line_of

# Before every further line, so that none can pass for a line of its own.
_GOES_ON = "\n    | "


class TextFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = line_of(record)
        fields = " ".join(f"{name}={_quoted(value)}" for name, value in line.fields.items())
        message = _GOES_ON.join([*line.message.split("\n"), *line.traceback])
        first, *rest = message.split("\n", 1)
        begun = f"{time_of(record)} {record.levelname} {record.name}: {first}"
        return "\n".join([f"{begun} ({fields})" if fields else begun, *rest])


class JsonFormatter(logging.Formatter):
    """Members: at, level, logger, message, the record's fields, traceback (a list of lines)."""

    def format(self, record: logging.LogRecord) -> str:
        line = line_of(record)
        document: dict[str, object] = {
            "at": time_of(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": line.message,
            **line.fields,
        }
        if line.traceback:
            document["traceback"] = line.traceback
        return json.dumps(document)


def time_of(record: logging.LogRecord) -> str:
    at = datetime.fromtimestamp(record.created, UTC)
    return at.strftime("%Y-%m-%dT%H:%M:%S.") + f"{at.microsecond // 1000:03d}Z"


def _quoted(value: str | float) -> str:
    text = str(value)
    is_plain = text.isascii() and text and not any(sign in ' "=()\\' for sign in text)
    return text if is_plain else json.dumps(text, ensure_ascii=False)
