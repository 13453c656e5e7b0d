"""The configuration that is in force, as TOML that says of each value where it is from."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from coordroomsd import addresses
from coordroomsd.config import Config
from coordroomsd.settings import SECTIONS


def lines(config: Config, file: Path | None) -> Iterator[str]:
    """`file` is the one that was looked for."""
    if file is not None:
        yield f"# {file} {'is read' if file.exists() else 'is not there: nothing is set by file'}"
    yield f"# state directory: {config.state_dir} ({config.sources['state_dir']})"
    for section in SECTIONS:
        yield f"\n[{section}]"
        yield from _settings(config, section)


def _settings(config: Config, section: str) -> Iterator[str]:
    settings = []
    for key in SECTIONS[section].model_fields:
        value = getattr(getattr(config, section), key)
        if value is None:
            settings.append((f"# {key} is not set", ""))
            continue
        if isinstance(value, addresses.Listen | Path):
            value = str(value)
        if (section, key) == ("database", "url"):
            value = addresses.without_password(value)
        text = json.dumps(value, ensure_ascii=False)
        settings.append((f"{key} = {text}", f"# {config.sources[f'{section}.{key}']}"))
    width = max(len(setting) for setting, _ in settings)
    for setting, source in settings:
        yield f"{setting:<{width}}  {source}".rstrip()
