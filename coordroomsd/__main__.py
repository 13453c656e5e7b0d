import signal
import sys

# A Ctrl-C during the import would show a traceback or, in the midst of Python's own work, be lost.
before = signal.getsignal(signal.SIGINT)
if before is signal.default_int_handler:
    signal.signal(signal.SIGINT, signal.SIG_DFL)

from coordroomsd.cli import main  # noqa: E402

signal.signal(signal.SIGINT, before)
sys.exit(main())
