"""The command ``pointsman``."""

import gc
import sys

_RARELY = 500_000
"""New objects after which rubbish is looked for. A command makes many that stay (modules, columns) and then leaves:
Python's own 700 cost a fifth of a short run.
"""
_OF_RUN = ("--run", "--at", "--help", "-h")
"""Options of ``explain`` that no daemon is asked with; the help has both uses."""


def _is_of_client(argv: list[str]) -> bool:
    """Whether a daemon is asked, which needs none of what the other commands import."""
    from pointsman.live.client import VERBS

    of_run = argv[:1] == ["explain"] and any(word.split("=")[0] in _OF_RUN for word in argv)
    return bool(argv) and argv[0] in VERBS and not of_run


def collect_rarely() -> None:
    """What a process that runs one command does first."""
    gc.set_threshold(_RARELY, 50, 50)


def main() -> None:
    """Run the command line and leave with its exit code."""
    if _is_of_client(sys.argv[1:]):
        from pointsman.live.client.verbs import main as ask

        sys.exit(ask(sys.argv[1:]))
    collect_rarely()
    from pointsman.cli.run import run
    from pointsman.progress import leave_to_command

    leave_to_command()

    code = run(sys.argv[1:])
    gc.freeze()  # Python looks for rubbish again as it leaves: a sixth of a short run
    sys.exit(code)
