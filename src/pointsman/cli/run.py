"""From arguments to an exit code: every way to fail ends here in one sentence.

0 ok; 1 the run failed; 2 usage or configuration; 3 input data; 4 a ``--fail-if`` came true; 5 a backend is away;
130 interrupted; 143 terminated.
"""

import os
import signal
import sys
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

import typer
import typer.main

from pointsman.cli.app import GLOBAL_FLAGS, app
from pointsman.errors import PointsmanError
from pointsman.wording import wording

INTERRUPTED, TERMINATED = 130, 143


def run(argv: list[str]) -> int:
    """Run one command; returns its exit code."""
    arguments = globals_first(argv)
    if "--debug" in arguments:
        return _command(arguments)
    try:
        with _leaving_on_sigterm():
            return _command(arguments)
    except PointsmanError as error:
        return _say(str(error), error.exit_code)
    except typer.TyperException as error:
        return _say(_usage(error), error.exit_code)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # nobody reads the output any more, which is no news to who stopped reading
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
        return 1
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _say(f"{where}{error.strerror or error}", 1)
    except MemoryError:
        return _say("out of memory; replay fewer jobs, run fewer --workers, or leave out the event log", 1)
    except Exception as error:
        return _say(f"this is a bug in Pointsman: {type(error).__name__}: {error} (--debug shows where)", 1)


def globals_first(argv: list[str]) -> list[str]:
    """The same arguments, with the flags that every command knows moved before the verb."""
    end = argv.index("--") if "--" in argv else len(argv)
    flags = [word for word in argv[:end] if word in GLOBAL_FLAGS]
    return flags + [word for word in argv[:end] if word not in GLOBAL_FLAGS] + argv[end:]


def _command(arguments: list[str]) -> int:
    command = typer.main.get_command(app)
    code = command.main(args=arguments, prog_name="pointsman", standalone_mode=False)
    sys.stdout.flush()  # a reader that has left is noticed here
    if code == INTERRUPTED:  # typer has caught it
        return _say("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "pointsman"
    option, colon, message = error.format_message().rstrip(".").rpartition(": ")
    return f"{wording(option)}{colon}{wording(message)} (see '{path} --help')"


def _say(sentence: str, code: int) -> int:
    print(f"pointsman: {sentence}", file=sys.stderr)
    return code


@contextmanager
def _leaving_on_sigterm() -> Generator[None]:
    """A polite kill unwinds the stack, so that whoever is writing removes what is half-written."""

    def leave(signum: int, frame: FrameType | None) -> None:
        raise SystemExit(TERMINATED)

    before = signal.signal(signal.SIGTERM, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
