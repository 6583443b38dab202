"""What can be wrong, and the exit code it ends with (``docs/guides/command-line.md``, Exit codes)."""

from pathlib import Path


class PointsmanError(Exception):
    """An error a person can mend: one sentence, the cause, the fix."""

    exit_code = 1


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


class ThresholdError(PointsmanError):
    """A ``--fail-if`` condition came true."""

    exit_code = 4


class BackendError(PointsmanError):
    """A backend (Ray, Slurm, Kubernetes) could not be reached."""

    exit_code = 5
