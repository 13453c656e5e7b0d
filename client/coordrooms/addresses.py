"""Where the daemon is and who is calling: environment variables, default sockets, the token.

Imported by the relay and by hooks, which start once for each agent session or turn: nothing
here may import more than `os`, `stat` and `warnings`.
"""

from __future__ import annotations

import os
import stat
import warnings

from .errors import ConfigurationError
from .escapes import header_value

SYSTEM_SOCKET = "/run/coordroomsd/coordroomsd.sock"
ROOT_STATE_DIR = "/var/lib/coordroomsd"
SOCKET_NAME = "coordroomsd.sock"
# sun_path has 108 bytes on Linux and ends in a NUL.
SOCKET_PATH_LIMIT = 107
SCHEMES = ("unix:", "http:", "https:")
EXAMPLES = "unix:/path/to/coordroomsd.sock or http://127.0.0.1:8040"


class UnixAddress:
    """A Unix socket on this host."""

    __slots__ = ("path",)

    def __init__(self, path: str) -> None:
        self.path = path

    def __str__(self) -> str:
        return f"unix:{self.path}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UnixAddress) and other.path == self.path

    def __hash__(self) -> int:
        return hash(self.path)

    @property
    def host_header(self) -> str:
        return "localhost"

    @property
    def mcp(self) -> UnixAddress:
        """The socket beside it that speaks MCP: `-mcp` before `.sock`, or at the end."""
        stem = self.path.removesuffix(".sock")
        return UnixAddress(f"{stem}-mcp{self.path[len(stem) :]}")


class TcpAddress:
    """An HTTP or HTTPS listener."""

    __slots__ = ("host", "port", "tls")

    def __init__(self, host: str, port: int, *, tls: bool = False) -> None:
        self.host = host
        self.port = port
        self.tls = tls

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host_header}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TcpAddress) and str(other) == str(self)

    def __hash__(self) -> int:
        return hash(str(self))

    @property
    def host_header(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == default_port(self.tls) else f"{host}:{self.port}"


Address = UnixAddress | TcpAddress


def default_port(tls: bool) -> int:
    return 443 if tls else 80


def daemon_address(url: str | None = None) -> Address:
    """The daemon's address, of several the first: see `daemon_addresses`."""
    return daemon_addresses(url)[0]


def daemon_addresses(url: str | None = None) -> list[Address]:
    """Where daemons are: `url`, else `COORDROOMS_URL`, else the first default socket there is.

    Several, with a comma between them, are daemons on one database: each is as good as the first.
    When no default socket exists it is the place where this user's own daemon would make one.
    Raises ConfigurationError for a URL that cannot be understood.
    """
    named = url or os.environ.get("COORDROOMS_URL")
    if not named:
        places = default_sockets()
        return [UnixAddress(next(filter(_is_socket, places), places[0]))]
    urls: list[str] = []
    for part in named.split(","):
        if urls and not part.strip().lower().startswith(SCHEMES):
            # A path may have a comma in it.
            urls[-1] += f",{part}"
        else:
            urls.append(part)
    return [parse_url(one) for one in urls]


def default_sockets() -> list[str]:
    """The paths where a daemon makes its socket unless told otherwise, this user's own first.

    The daemon chooses among the same places in `coordroomsd/locations.py`.
    """
    own = [os.path.join(place, SOCKET_NAME) for place in (_runtime_dir(), _state_dir()) if place]
    return [SYSTEM_SOCKET, *own] if os.geteuid() == 0 else [*own, SYSTEM_SOCKET]


def parse_url(url: str) -> Address:
    """The address that `unix:/path`, `http://host:port` or `https://host:port` names."""
    scheme, _, rest = url.strip().partition(":")
    match scheme.lower():
        case "unix":
            path = rest.removeprefix("//")
            if not path.startswith("/") or "\0" in path:
                raise _bad_url(url, "the path of a Unix socket begins with / and has no NUL")
            if len(os.fsencode(path)) > SOCKET_PATH_LIMIT:
                raise _bad_url(url, f"a Unix socket's path has at most {SOCKET_PATH_LIMIT} bytes")
            return UnixAddress(path)
        case "http" | "https" as lowered:
            return _tcp_address(url, rest, tls=lowered == "https")
        case _:
            raise _bad_url(url, "it begins neither with unix: nor with http:// or https://")


def acting_conversation(as_: str | None = None) -> str | None:
    """Who acts: `as_`, else `COORDROOMS_CONVERSATION`, else nobody (or the token's own name)."""
    return as_ or os.environ.get("COORDROOMS_CONVERSATION") or None


def token(path: str | None = None) -> str | None:
    """The bearer token in the file `path`, else in the one that `COORDROOMS_TOKEN_FILE` names.

    None when neither is given. Raises ConfigurationError when the file cannot be read or holds no
    token; warns (UserWarning) when users other than its owner may read it.
    """
    path = path or os.environ.get("COORDROOMS_TOKEN_FILE")
    if not path:
        return None
    try:
        with open(path, encoding="ascii") as file:
            mode = stat.S_IMODE(os.fstat(file.fileno()).st_mode)
            content = file.read().strip()
    except OSError as error:
        raise ConfigurationError(
            f"The token file {path} cannot be read: {error.strerror}. Point COORDROOMS_TOKEN_FILE "
            "at a file that you own, or unset it to call without a token."
        ) from error
    except UnicodeDecodeError:
        content = ""
    if not content or any(not "!" <= character <= "~" for character in content):
        raise ConfigurationError(
            f"The token file {path} does not hold a token: one line of visible ASCII was expected. "
            "Enrol again to get one."
        )
    if mode & 0o077:
        warnings.warn(
            f"the token file {path} may be read by others (mode {mode:04o}): chmod 600 {path}",
            stacklevel=2,
        )
    return content


def caller_headers(conversation: str | None, bearer: str | None) -> list[tuple[str, str]]:
    """The headers that say who is calling; the conversation percent-encoded where it has to be."""
    headers = []
    if conversation is not None:
        headers.append(("Coordrooms-Conversation", header_value(conversation)))
    if bearer is not None:
        headers.append(("Authorization", f"Bearer {bearer}"))
    return headers


def _runtime_dir() -> str | None:
    place = os.environ.get("XDG_RUNTIME_DIR", "")
    # `su` hands on the variable of another account, and a daemon makes nothing in its directory.
    owned = os.path.isabs(place) and os.path.isdir(place) and os.stat(place).st_uid == os.geteuid()
    return place if owned else None


def _state_dir() -> str | None:
    if os.geteuid() == 0:
        return ROOT_STATE_DIR
    state = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(state):
        state = os.path.join(os.environ.get("HOME", ""), ".local/state")
    return os.path.join(state, "coordroomsd") if os.path.isabs(state) else None


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except OSError:
        return False


def _tcp_address(url: str, rest: str, *, tls: bool) -> TcpAddress:
    if not rest.startswith("//"):
        raise _bad_url(url, "// is missing after the scheme")
    place = rest[2:].removesuffix("/")
    if "@" in place:
        raise _bad_url(url, "it holds a user name; a token belongs in COORDROOMS_TOKEN_FILE")
    if any(mark in place for mark in "/?#") or any(not "!" <= mark <= "~" for mark in place):
        raise _bad_url(url, "it is more than a host and a port")
    host, colon, digits = place.rpartition(":")
    if not colon or digits.endswith("]"):
        host, digits = place, ""
    bracketed = host.startswith("[") and host.endswith("]")
    host = host[1:-1] if bracketed else host
    if not host or (":" in host and not bracketed):
        raise _bad_url(url, "its host is missing, or is an IPv6 address without [ ]")
    if not digits:
        return TcpAddress(host, default_port(tls), tls=tls)
    if not digits.isdecimal() or not 1 <= int(digits) <= 65535:
        raise _bad_url(url, "its port is not a number from 1 to 65535")
    return TcpAddress(host, int(digits), tls=tls)


def _bad_url(url: str, problem: str) -> ConfigurationError:
    # A URL with a user name may hold a secret, so it is not repeated.
    shown = "The URL of the daemon" if "@" in url else f"The URL of the daemon, {url!r},"
    return ConfigurationError(f"{shown} cannot be used: {problem}. Write {EXAMPLES}.")
