"""What can be wrong, and the exit code it ends with (``docs/guides/command-line.md``, Exit codes)."""

from pathlib import Path

LONGEST = 900
"""Characters of a message; of a longer one the middle is left out, which is a value of somebody's."""


class PointsmanError(Exception):
    """An error a person can mend: one sentence, the cause, the fix."""

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(_sentence(message))


class RunError(PointsmanError):
    """The run itself failed."""


class UsageError(PointsmanError):
    """A command, an option, a policy or a configuration file is wrong."""

    exit_code = 2


class InputError(PointsmanError):
    """Input data is invalid."""

    exit_code = 3

    def __init__(self, cause: str, *, path: str | Path | None = None, line: int | None = None, fix: str = "") -> None:
        place = "" if path is None else f"{path}:{line}: " if line is not None else f"{path}: "
        super().__init__(f"{place}{cause}" + (f" ({fix})" if fix else ""))
        self.path, self.line, self.cause, self.fix = path, line, cause, fix


class TooWideError(InputError):
    """A job asks for more GPUs than it can ever have on this cluster."""


class ThresholdError(PointsmanError):
    """A ``--fail-if`` condition came true, or a model does not fit a log well enough."""

    exit_code = 4


class BackendError(PointsmanError):
    """A backend (Ray, Slurm, Kubernetes) could not be reached."""

    exit_code = 5


class FigureWarning(UserWarning):
    """A figure could not be drawn; the results that it would show are complete."""


def _sentence(text: str) -> str:
    """On one line, without what a terminal would obey, and of a bearable length."""
    if not text.isprintable():
        text = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]} … {text[-half:]}"
