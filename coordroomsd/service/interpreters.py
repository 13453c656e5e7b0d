"""Whether a system service could start a program where it lies."""

from __future__ import annotations

import stat
import sys
from pathlib import Path
from typing import Final

from coordroomsd.service.errors import ServiceError

# What the unit's ProtectHome= and PrivateTmp= hide.
_HIDDEN: Final = tuple(map(Path, ("/home", "/root", "/run/user", "/tmp", "/var/tmp")))  # noqa: S108


def check_fit_for_the_system(interpreter: Path) -> None:
    """Raises ServiceError when the service's user could not run it."""
    package = Path(__file__).parents[1]
    for path in (interpreter, interpreter.resolve(), Path(sys.base_prefix), package):
        if any(path.is_relative_to(folder) for folder in _HIDDEN):
            raise ServiceError(f"{path} is where a system service may not look. {_ELSEWHERE}")
        for folder in (path, *path.parents):
            if not folder.stat().st_mode & stat.S_IXOTH:
                raise ServiceError(f"Other users may not look into {folder}. {_ELSEWHERE}")


def check_stays(interpreter: Path) -> None:
    """Raises ServiceError for an environment that uvx made for one run and may take away."""
    if ".cache" in interpreter.parts:
        raise ServiceError(
            f"{interpreter} lies in a cache that may be emptied. Install coordroomsd first, by "
            "`uv tool install` or pipx, and run install-service of that one"
        )


_ELSEWHERE: Final = (
    "Install coordroomsd where everybody may read it, for example by `python3 -m venv "
    "/opt/coordroomsd` and its pip, and run install-service of that one; or give --user, for "
    "yourself alone"
)
