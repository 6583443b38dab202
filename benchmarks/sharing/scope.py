"""How much is run: the whole page, or a little of it to see that all works."""

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Scope:
    """Which logs there are, and how many seeds."""

    logs: tuple[str, ...]
    data: Path
    quick: bool = False

    def seeds(self, count: int) -> tuple[int, ...]:
        """The first of them."""
        return tuple(range(2 if self.quick else count))

    def few(self, items: tuple[Item, ...]) -> tuple[Item, ...]:
        """All, or the first."""
        return items[:1] if self.quick else items
