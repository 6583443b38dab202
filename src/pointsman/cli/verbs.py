"""The verbs at the top, which say where a verb is that is not among them."""

from typing import Any, Final

import typer
from typer.core import TyperGroup

ALSO: Final = {
    "sweep": "compare, with several --cluster, --load, --estimate or --seed",
    "grid": "compare, with several --cluster, --load, --estimate or --seed",
    "figure": "report --figures DIR",
    "figures": "report --figures DIR",
    "plot": "report",
    "replay": "simulate",
}
"""What people look for, and where it is."""


class Verbs(TyperGroup):
    """A group whose error for an unknown verb names the group that has it."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As any group.

        Raises:
            TyperException: there is no such command.
        """
        try:
            return super().resolve_command(ctx, args)
        except typer.TyperException as error:
            if place := self._place_of(args[0]):
                error.message = f"no such command {args[0]!r:.60}: it is 'pointsman {place}'"
            raise

    def _place_of(self, word: str) -> str | None:
        found = [
            f"{name} {word}"
            for name, group in self.commands.items()
            if not group.hidden and word in getattr(group, "commands", {})
        ]
        return found[0] if len(found) == 1 else ALSO.get(word)
