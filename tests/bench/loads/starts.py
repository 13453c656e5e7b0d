"""A command started again and again.

Says the seconds of each, from its start to its first line of output or to its end, and then the
memory of one more in bytes: what it had at the most, and privately and dirty.
"""

from __future__ import annotations

import os
import subprocess
import time
from typing import Any

from tests.bench.loads.talk import asked, say
from tests.bench.processes import memory

# A command that ends by itself is looked at this often, for it says nothing before.
LOOK_EACH_S = 0.0005


def _start(ask: Any) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        ask["command"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, **ask["environment"]},
    )


def _give(process: subprocess.Popen[bytes], sent: str) -> None:
    assert process.stdin is not None
    process.stdin.write(sent.encode())
    process.stdin.flush()


def _end(process: subprocess.Popen[bytes], command: list[str]) -> None:
    """Raises ChildProcessError when the command failed."""
    process.communicate()
    if process.returncode:
        raise ChildProcessError(f"{command} ended with code {process.returncode}")


def _answering(ask: Any) -> tuple[list[float], list[int]]:
    """Of a command that answers what it is sent, line by line, until its input ends."""
    seconds = []
    for _ in range(ask["count"]):
        began = time.perf_counter()
        process = _start(ask)
        _give(process, ask["sent"])
        assert process.stdout is not None
        process.stdout.readline()
        seconds.append(time.perf_counter() - began)
        _end(process, ask["command"])
    process = _start(ask)
    for line in [ask["sent"], *ask["more"]]:
        _give(process, line)
        assert process.stdout is not None
        process.stdout.readline()
    resident, private_dirty = memory(process.pid)
    _end(process, ask["command"])
    return seconds, [resident, private_dirty]


def _ending(ask: Any) -> tuple[list[float], list[int]]:
    """Of a command that ends by itself and has nothing to say."""
    seconds = []
    for _ in range(ask["count"]):
        began = time.perf_counter()
        process = _start(ask)
        said, _ = process.communicate(ask["sent"].encode())
        seconds.append(time.perf_counter() - began)
        if process.returncode or said:
            raise ChildProcessError(f"{ask['command']}: {process.returncode}, {said!r}")
    process = _start(ask)
    _give(process, ask["sent"])
    assert process.stdin is not None
    process.stdin.close()
    most = [0, 0]
    while process.poll() is None:
        most = [max(pair) for pair in zip(most, _peak(process.pid), strict=True)]
        time.sleep(LOOK_EACH_S)
    return seconds, most


def _peak(pid: int) -> tuple[int, int]:
    try:
        return memory(pid)
    except (OSError, KeyError):  # It ends just now.
        return 0, 0


if __name__ == "__main__":
    # Asked: command, environment, sent, count, until (`answer` or `end`), more (lines that the
    # one whose memory is taken gets before).
    asking = asked()
    found = {"answer": _answering, "end": _ending}[asking["until"]](asking)
    say(list(found))
