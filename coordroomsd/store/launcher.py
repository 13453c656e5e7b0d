"""Becomes a database program that ends with the daemon: `launcher.py PARENT UID GID PROGRAM …`.

A script of its own, because Popen's `preexec_fn` would run in a fork of the daemon with all its
threads. It gives up root itself, since the other user may not be able to run this interpreter.
It imports nothing of the package. `UID` is -1 to stay who we are.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, uid: int, gid: int, command: list[str]) -> None:
    if uid != -1:
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        # After setuid, which clears it. SIGINT is PostgreSQL's fast shutdown.
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT, 0, 0, 0)
        if os.getppid() != parent:
            sys.exit("the daemon ended before its database had begun")
    os.umask(0o077)
    os.execv(command[0], command)  # noqa: S606 - a fixed program, no shell


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4:])
