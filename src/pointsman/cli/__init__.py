"""The command ``pointsman``."""

import gc
import sys

_RARELY = 500_000
"""New objects after which rubbish is looked for. A command makes many that stay (modules, columns) and then leaves:
Python's own 700 cost a fifth of a short run.
"""


def collect_rarely() -> None:
    """What a process that runs one command does first."""
    gc.set_threshold(_RARELY, 50, 50)


def main() -> None:
    """Run the command line and leave with its exit code."""
    collect_rarely()
    from pointsman.cli.run import run

    sys.exit(run(sys.argv[1:]))
