"""What asks the daemon to end."""

from __future__ import annotations

import signal

# A service manager, a Ctrl-C, a terminal that is closed.
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def ending_signals() -> list[signal.Signals]:
    """Without those that whoever started the daemon has it ignore, as nohup does."""
    return [number for number in _SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
