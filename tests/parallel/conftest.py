"""The command line in an empty working directory, as the tests of `tests/cli` have it."""

from tests.cli.conftest import command, here, jobs

__all__ = ["command", "here", "jobs"]
