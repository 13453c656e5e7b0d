"""The addresses a configuration names: TCP, Unix sockets, a database."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from coordroomsd.locations import SOCKET_PATH_LIMIT


class Listen(NamedTuple):
    """A TCP address; an IPv6 `host` is without its brackets."""

    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def parse_listen(text: str) -> Listen:
    """:raises ValueError: not HOST:PORT."""
    host, _, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not host or bracketed != (":" in host) or any(c.isspace() or c in "/[]@" for c in host):
        raise ValueError("should be HOST:PORT, like 127.0.0.1:8040 or [::1]:8040")
    if not (port.isascii() and port.isdigit() and 1 <= int(port) <= 65535):
        raise ValueError("should end in a port from 1 to 65535")
    return Listen(host, int(port))


def check_socket_path(path: Path) -> Path:
    """:raises ValueError: no Unix socket can have this path."""
    size = len(bytes(path))
    if not path.is_absolute() or "\0" in str(path):
        raise ValueError("should be an absolute path")
    if size > SOCKET_PATH_LIMIT:
        raise ValueError(
            f"the path has {size} bytes and a Unix socket's has at most {SOCKET_PATH_LIMIT}; "
            "choose a shorter one with --socket or [server] socket"
        )
    return path


def check_database_url(url: str) -> str:
    """:raises ValueError: not a URL of a PostgreSQL database; the text leaves the URL out."""
    try:
        parts = urlsplit(url)
    except ValueError:
        parts = urlsplit("")
    if parts.scheme not in ("postgresql", "postgres") or "://" not in url:
        raise ValueError("should be like postgresql://USER@HOST:PORT/DATABASE")
    if parts.fragment or "@" in parts.path:
        raise ValueError("should have / ? # and @ in a user name or password percent-encoded")
    return url


def check_collector_url(url: str) -> str:
    """:raises ValueError: not a URL that traces could be sent to."""
    try:
        parts = urlsplit(url)
        is_url = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_url = False
    if not is_url or "@" in parts.netloc or parts.fragment:
        raise ValueError("should be like http://127.0.0.1:4318/v1/traces, without a password")
    return url


def without_password(url: str) -> str:
    """`url` as it may be shown: its password, and parameters that hold one, replaced by `***`."""
    # Up to the last @, so that a password with a bare sign of the syntax is covered too.
    url = re.sub(r"^([^:]*://[^:@/?#]*):.*@", r"\1:***@", url, flags=re.DOTALL)
    return re.sub(r"([?&](?:ssl)?password=)[^&]*", r"\1***", url)
