"""A machine of its own that systemd has booted: this one's files under a layer that is thrown away.

systemd-nspawn makes it, as root; it needs nothing but Debian's `systemd-container`.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Final, Self

from tests.polling import GIVE_UP_AFTER_S, block_until

REPOSITORY: Final = Path(__file__).parents[2]
# There, wherever it lies here: a system service does not look into home directories.
_PLACE: Final = Path("/opt/coordrooms-test")

# A /run of its own, so that nothing of this is left on the host's.
_BOOT: Final = """
set -e
mount --make-rprivate /
mount -t tmpfs tmpfs /run
mkdir -p /run/root
mount --bind / /run/root
mount -o remount,bind,ro /run/root
exec systemd-nspawn --quiet --volatile=overlay --directory=/run/root --machine=booted \\
    --register=no --keep-unit --private-network --boot "$@" systemd.unit=basic.target
"""


class NotBootableError(Exception):
    """Here no systemd can be booted; the message says why."""


class BootedMachine:
    """With this program at `python`, and no service yet. `home` is for what is bound into it."""

    def __init__(self, home: Path) -> None:
        if os.geteuid() != 0:
            raise NotBootableError("booting a systemd takes root")
        if shutil.which("systemd-nspawn") is None:
            raise NotBootableError("needs systemd-nspawn (apt-get install systemd-container)")
        self.python = _PLACE / "venv/bin/python"
        self._log = home / "boot.log"
        with self._log.open("wb") as log:
            self._nspawn = subprocess.Popen(
                # It ends with us, however we end.
                [
                    *("setpriv", "--pdeathsig=KILL", "unshare", "--mount"),
                    *("sh", "-c", _BOOT, "sh", *_bindings(home)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        self._leader = 0
        try:
            block_until(self._has_booted)
        except BaseException:
            self.close()
            raise

    def run(self, *words: str | Path, may_fail: bool = False) -> str:
        """What a command prints there, as root."""
        done = subprocess.run(
            ["nsenter", "--target", str(self._leader), *("-m", "-u", "-i", "-n", "-p"), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=GIVE_UP_AFTER_S,
            check=False,
        )
        assert may_fail or done.returncode == 0, f"{words}\n{done.stdout}"
        return done.stdout

    def succeeds(self, *words: str | Path) -> bool:
        marked = self.run("sh", "-c", '"$@" > /dev/null 2>&1 && echo yes || true', "sh", *words)
        return marked == "yes\n"

    def path(self, path: str | Path) -> Path:
        """A file there, as it is reached from here; sockets too."""
        return Path(f"/proc/{self._leader}/root{path}")

    def journal(self, unit: str) -> str:
        return self.run("journalctl", "--no-pager", "--output=cat", f"--unit={unit}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        # The first process takes all others of the machine with it.
        os.kill(self._leader or self._nspawn.pid, signal.SIGKILL)
        self._nspawn.wait(GIVE_UP_AFTER_S)

    def _has_booted(self) -> bool:
        if self._nspawn.poll() is not None:
            raise NotBootableError(f"systemd-nspawn cannot boot here: {self._log.read_text()}")
        if not self._leader:
            # Below the shell's place is nspawn itself, which has one child.
            children = Path(f"/proc/{self._nspawn.pid}/task/{self._nspawn.pid}/children")
            pids = children.read_text().split()
            if not pids or Path(f"/proc/{pids[0]}/comm").read_text() != "systemd\n":
                return False
            self._leader = int(pids[0])
        return self.succeeds("systemctl", "is-active", "basic.target")


def _bindings(home: Path) -> list[str]:
    """A virtual environment as if it had been made there, from the parts of this one."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    interpreter = Path("/usr/bin") / version
    places = {REPOSITORY: _PLACE / "source", Path(sysconfig.get_path("purelib")): _PLACE / "lib"}
    if not interpreter.exists():
        places[Path(sys.base_prefix)] = _PLACE / "python"
        interpreter = _PLACE / "python/bin" / version
    environment = home / "venv"
    packages = environment / "lib" / version / "site-packages"
    packages.mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin/python").symlink_to(interpreter)
    (environment / "pyvenv.cfg").write_text(f"home = {interpreter.parent}\n")
    (packages / "test.pth").write_text(
        f"{_PLACE / 'lib'}\n{_PLACE / 'source'}\n{_PLACE / 'source/client'}\n"
    )
    places[environment] = _PLACE / "venv"
    return [f"--bind-ro={here}:{there}" for here, there in places.items()]
