"""Commands in this process."""

from tests.cli.conftest import command, here

__all__ = ["command", "here"]
