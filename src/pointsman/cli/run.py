"""From arguments to an exit code: every way to fail ends here in one sentence.

0 ok; 1 the run failed; 2 usage or configuration; 3 input data; 4 a threshold was missed; 5 a backend is away;
130 interrupted; 143 terminated.
"""

import errno
import os
import signal
import sys
import traceback
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from functools import cache
from types import FrameType
from typing import Any

import typer
import typer.main

from pointsman.cli import screen
from pointsman.cli.app import GLOBAL_FLAGS, app
from pointsman.errors import FigureWarning, PointsmanError, UsageError
from pointsman.inputs.messages import wording

INTERRUPTED, TERMINATED = 130, 143
LEAVING: dict[int, tuple[str, int]] = {
    signal.SIGINT: ("interrupted", INTERRUPTED),
    signal.SIGTERM: ("terminated", TERMINATED),
}
"""What is said and returned on being asked to leave."""


class _Interrupt(KeyboardInterrupt):
    """Ctrl-C. Where a plain one passes through an ``exec``, Python kills itself at exit, though it was caught."""


def run(argv: list[str]) -> int:
    """Run one command; returns its exit code."""
    arguments = globals_first(argv)
    if "--debug" in arguments:
        return _command(arguments)
    with _leaving_when_asked() as asked:
        try:
            code = _command(arguments)
            if code == INTERRUPTED:  # typer has caught it
                asked.append(signal.SIGINT)
        except BaseException as error:
            code = 1 if asked else _report_error(error)
    # by whatever name: what is written in C makes an ImportError of leaving an import, and a finalizer nothing at all
    return _say(*LEAVING[asked[0]]) if asked else code


def _report_error(error: BaseException) -> int:
    """Say what went wrong; returns the exit code. What asks to leave goes on."""
    match error:
        case PointsmanError():
            return _say(str(error), error.exit_code)
        case typer.TyperException():
            return _say(_usage(error), error.exit_code)
        case KeyboardInterrupt() | typer.Abort():
            return _say("interrupted", INTERRUPTED)
        case BrokenPipeError():  # the reader of the output has gone away, and need not be told
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at exit
            return 1
        case OSError(errno=errno.ENAMETOOLONG):
            return _say(f"{error.filename!s:.60}…: {error.strerror}; choose a shorter one", UsageError.exit_code)
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            return _say(f"{where}{error.strerror or error}", 1)
        case MemoryError():
            return _say("out of memory; replay fewer jobs, run fewer --workers, or leave out the event log", 1)
        case Exception():
            return _say(f"this is a bug in Pointsman: {type(error).__name__}: {error} (--debug shows where)", 1)
    raise error


def globals_first(argv: list[str]) -> list[str]:
    """Moves the flags that every command knows before the verb."""
    end = argv.index("--") if "--" in argv else len(argv)
    flags = [word for word in argv[:end] if word in GLOBAL_FLAGS]
    return flags + [word for word in argv[:end] if word not in GLOBAL_FLAGS] + argv[end:]


@cache
def _commands() -> Any:
    """All commands, with their options: made once in a process that runs several."""
    return typer.main.get_command(app)


def _command(arguments: list[str]) -> int:
    command = _commands()
    with _figures_missing_noted(debug="--debug" in arguments):
        code = command.main(args=arguments, prog_name="pointsman", standalone_mode=False)
    sys.stdout.flush()  # a reader that has left is noticed here
    return code if isinstance(code, int) else 0


@contextmanager
def _figures_missing_noted(*, debug: bool) -> Generator[None]:
    """A figure that could not be drawn is a note, with `debug` also a traceback; other warnings are shown as ever."""
    with warnings.catch_warnings():
        warnings.simplefilter("always", FigureWarning)
        as_ever = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any) -> None:
            if not isinstance(message, FigureWarning):
                as_ever(message, category, *where)
                return
            screen.note(f"{message}" if debug else f"{message} (--debug shows where)")
            if debug:
                traceback.print_exception(message.__cause__)

        warnings.showwarning = show  # ty: ignore
        yield


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "pointsman"
    if not error.format_message():  # no command at all; its help is on the screen
        return f"name a command (see '{path} --help')"
    option, colon, message = error.format_message().rstrip(".").rpartition(": ")
    return f"{wording(option)}{colon}{wording(message)} (see '{path} --help')"


def _say(sentence: str, code: int) -> int:
    print(f"pointsman: {sentence}", file=sys.stderr)
    return code


@contextmanager
def _leaving_when_asked() -> Generator[list[int]]:
    """Ctrl-C and a polite kill unwind the stack, so that code that is writing removes what is half-written.

    Yields a list of the signals that came.
    """
    came: list[int] = []

    def leave(signum: int, frame: FrameType | None) -> None:
        came.append(signum)
        raise _Interrupt if signum == signal.SIGINT else SystemExit(TERMINATED)

    before = {signum: signal.signal(signum, leave) for signum in LEAVING}
    try:
        yield came
    finally:
        for signum, handler in before.items():
            signal.signal(signum, handler)
