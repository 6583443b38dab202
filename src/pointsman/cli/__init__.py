"""The command ``pointsman``."""

import sys


def main() -> None:
    """Run the command line and leave with its exit code."""
    from pointsman.cli.run import run

    sys.exit(run(sys.argv[1:]))
