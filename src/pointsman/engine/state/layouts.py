"""Where the numbers of a record with names stand: plain values, all that compiled code knows of it (`named`)."""

from typing import NamedTuple

import numpy as np

NUMBER, WHOLE, FLAG, BITS, RECORD = "number", "whole", "flag", "bits", "record"
"""Kinds: a float64; one that is an integer; one that is 0 or 1; the 64 bits of an int64; numbers with names."""
OPEN = -1
"""Length of an array that is given when the record is made. The record has two numbers of it: where it begins, counted
from the record, and its length.
"""


class Slot(NamedTuple):
    """Where one declaration stands in its record."""

    name: str
    at: int
    kind: str
    shape: tuple[int, ...]
    inner: "Layout | None"
    """Layout of the record, if `kind` is `RECORD`; else None."""

    @property
    def width(self) -> int:
        """Numbers of one element."""
        return self.inner.width if self.inner else 1

    @property
    def size(self) -> int:
        """Numbers that it takes in its record."""
        return 2 if self.shape == (OPEN,) else self.width * int(np.prod(self.shape, dtype=np.int64))


class Layout(NamedTuple):
    """All that compiled code knows of a record; plain values, equal if the declarations are."""

    name: str
    place: str
    """The array of the state that has it, or has the record that it is part of."""
    width: int
    slots: tuple[Slot, ...]

    def has(self, name: str) -> bool:
        """Whether the record declares this name."""
        return any(slot.name == name for slot in self.slots)

    def slot(self, name: str) -> Slot:
        """The slot of a name that the record declares."""
        return next(slot for slot in self.slots if slot.name == name)
