"""The configuration: a TOML file, the command line over it, and defaults that suit the account."""

from __future__ import annotations

import difflib
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from coordroomsd.addresses import Listen
from coordroomsd.locations import Account, NoHomeError, mcp_socket_beside
from coordroomsd.settings import SECTIONS, Config

__all__ = ["Config", "ConfigurationError", "load"]

DEFAULT = "default"
# By the name that the system unit loads it under.
_DATABASE_URL = "database_url"


class ConfigurationError(Exception):
    """The configuration has faults: all of them, each a sentence that names its key and origin."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def load(
    path: Path | None = None,
    *,
    state_dir: Path | None = None,
    socket: Path | None = None,
    listen: Listen | None = None,
    database_url: str | None = None,
    account: Account | None = None,
) -> Config:
    """Read the configuration file, put the options over it and fill in what suits the account.

    :param path: a file that must exist; without it the account's own, when there is one.
    :raises ConfigurationError: names every fault of the file and of the options.
    """
    account = account or Account()
    draft = _Draft(path or _present(account.config_file()))
    draft.put("server.socket", str(socket.absolute()) if socket else None, "--socket")
    draft.put("server.listen", listen, "--listen")
    draft.put("database.url", database_url, "--database-url")
    draft.fill("database.url", _credential(account), f"the credential {_DATABASE_URL}")
    state_dir, draft.sources["state_dir"] = _state_dir(state_dir, account)
    draft.fill("server.socket", str(account.socket(state_dir)))
    named = draft.tables["server"]["socket"]
    if isinstance(named, str) and Path(named).is_absolute():
        draft.fill("server.mcp_socket", str(mcp_socket_beside(Path(named))))
    sections = {name: draft.validated(name) for name in SECTIONS}
    shares = draft.tables["cluster"].get("bus") == "postgres"
    if shares and draft.tables["database"].get("url") is None:
        draft.faults.append(
            f"{draft.sources['cluster.bus']}: [cluster] bus: needs [database] url, the database "
            "that daemons share; a private one is for one daemon"
        )
    if draft.faults:
        raise ConfigurationError(draft.faults)
    return Config(state_dir=state_dir, sources=draft.sources, **sections)


def _state_dir(given: Path | None, account: Account) -> tuple[Path, str]:
    if given is not None:
        return given.absolute(), "--state-dir"
    try:
        found = account.state_dir()
    except NoHomeError as error:
        raise ConfigurationError([f"no state directory: {error}; give --state-dir"]) from None
    from_service = account.service_directory("STATE_DIRECTORY") is not None
    return found, "STATE_DIRECTORY" if from_service else DEFAULT


def _credential(account: Account) -> str | None:
    try:
        return account.credential(_DATABASE_URL)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            [f"the credential {_DATABASE_URL} cannot be read: {error}"]
        ) from None


class _Draft:
    """A configuration being read: its tables, where each value came from, and the faults so far."""

    def __init__(self, file: Path | None) -> None:
        self.file = file
        self.faults: list[str] = []
        self.sources: dict[str, str] = {}
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in SECTIONS}
        for name, table in (_parsed(file) if file else {}).items():
            self._take(name, table)

    def _take(self, name: str, table: object) -> None:
        what = f"[{name}]" if isinstance(table, dict) else name
        if name not in SECTIONS:
            self.faults.append(f"{self.file}: {what}: there is no such key{_nearest(name)}")
        elif not isinstance(table, dict):
            self.faults.append(f"{self.file}: {what}: should be a table, [{name}]")
        else:
            for key, value in table.items():
                self.put(f"{name}.{key}", value, str(self.file))

    def put(self, dotted: str, value: object, source: str) -> None:
        if value is not None:
            section, _, key = dotted.partition(".")
            self.tables[section][key] = value
            self.sources[dotted] = source

    def fill(self, dotted: str, value: object, source: str = DEFAULT) -> None:
        if dotted not in self.sources:
            self.put(dotted, value, source)

    def validated(self, name: str) -> Any:
        section = SECTIONS[name]
        for key in section.model_fields:
            self.sources.setdefault(f"{name}.{key}", DEFAULT)
        try:
            return section.model_validate(self.tables[name])
        except ValidationError as error:
            self.faults.extend(self._explained(name, error))
            return None

    def _explained(self, name: str, error: ValidationError) -> Iterator[str]:
        for fault in error.errors(include_url=False, include_input=False, include_context=False):
            # It is derived from the socket, whose fault this is.
            if fault["type"] == "missing" and fault["loc"] == ("mcp_socket",):
                continue
            key = str(fault["loc"][0]) if fault["loc"] else ""
            source = self.sources.get(f"{name}.{key}", str(self.file or "the options"))
            what = f"[{name}] {key}".rstrip()
            if fault["type"] == "extra_forbidden":
                yield f"{source}: {what}: there is no such key{_nearest(key, name)}"
            else:
                problem = fault["msg"].removeprefix("Value error, ").removeprefix("Input ")
                yield f"{source}: {what}: {problem}{self._given(name, key)}"

    def _given(self, name: str, key: str) -> str:
        # A database's URL has its password in it.
        if not key or (name, key) == ("database", "url"):
            return ""
        text = json.dumps(self.tables[name][key], ensure_ascii=False, default=str)
        return f" (it is {text if len(text) <= 80 else text[:77] + '...'})"


def _present(file: Path | None) -> Path | None:
    """`file` unless it is missing; one that may not be looked at is a fault, not missing."""
    try:
        if file is not None:
            file.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return file
    return file


def _parsed(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_bytes().decode())
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError([f"{file}: cannot be read: {reason}"]) from None
    except UnicodeDecodeError as error:
        fault = f"{file}: not UTF-8 at byte {error.start}"
        raise ConfigurationError([fault]) from None
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError([f"{file}: not TOML: {error}"]) from None


def _nearest(key: str, section: str | None = None) -> str:
    """The hint that ends the sentence about an unknown key."""
    keys = {
        f"[{name}] {known}": known
        for name, model in SECTIONS.items()
        for known in model.model_fields
    }
    if section is None:
        keys |= {f"[{name}]": name for name in SECTIONS}
    here = {shown: known for shown, known in keys.items() if shown.startswith(f"[{section}]")}
    for candidates in (here, keys):
        match = difflib.get_close_matches(key, candidates.values(), n=1, cutoff=0.7)
        if match:
            [shown, *_] = [shown for shown, known in candidates.items() if known == match[0]]
            return f"; did you mean {shown}?"
    known = sorted(here.values() if section else SECTIONS)
    return f"; {f'[{section}] has' if section else 'there are'} {', '.join(known)}"
