"""`coordrooms uninstall`"""

from __future__ import annotations

from argparse import Namespace

from ..installations import add_arguments as add_arguments
from ..installations import change
from ..outputs import Output

HELP = "take back what `install` put into a host's files, and nothing else"


def run(arguments: Namespace, output: Output) -> int:
    return change(arguments, output, removal=True)
