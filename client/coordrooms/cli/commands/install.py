"""`coordrooms install`"""

from __future__ import annotations

from argparse import Namespace

from ..installations import add_arguments as add_arguments
from ..installations import change
from ..outputs import Output

HELP = "tell an agent's host of the tools, the hooks and the skill"


def run(arguments: Namespace, output: Output) -> int:
    return change(arguments, output, removal=False)
