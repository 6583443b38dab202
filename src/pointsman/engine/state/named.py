"""Numbers by name: a record of them is declared once, and its names say where each stands.

A policy's parameters, its memory and what it keeps of a job are float64 in arrays of the state. A `Record` names them:

    class OfMine(OfJob):
        level = whole("how often it was demoted")
        asleep_until_ms = number("it is not tried before", unit="ms")

Compiled code opens a record by `views.view_of`; `OfMine(job).level` is the same in Python. A record that derives from
another one begins with all that the other has: what reads the one reads the other.
"""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Generic, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.state.layouts import BITS, FLAG, NUMBER, OPEN, RECORD, WHOLE, Layout, Slot
from pointsman.engine.state.records import Int

T = TypeVar("T")
R = TypeVar("R", bound="Record")


class Declared(Generic[T]):
    """A declaration in a record: in Python, an attribute of its views."""

    def __init__(
        self, kind: str, shape: int | tuple[int, ...], meaning: str, unit: str, record: "type[Record] | None" = None
    ) -> None:
        if not meaning:
            raise TypeError("a declaration has a sentence that says what it is")
        self.kind, self.meaning, self.unit, self.record = kind, meaning, unit, record
        self.shape = shape if isinstance(shape, tuple) else (shape,)
        self.slot: Slot = Slot("", 0, kind, self.shape, None)

    def put(self, name: str, at: int) -> Slot:
        """Its slot, now that its record gives it a name and a place."""
        self.slot = Slot(name, at, self.kind, self.shape, self.record.layout if self.record else None)
        return self.slot

    @overload
    def __get__(self, view: None, owner: type) -> "Declared[T]": ...
    @overload
    def __get__(self, view: "Record", owner: type) -> T: ...
    def __get__(self, view: "Record | None", owner: type) -> Any:
        return self if view is None else view._read(self)

    def __set__(self, view: "Record", value: Any) -> None:
        view._write(self, value)


def number(meaning: str, *, unit: str = "") -> Declared[float]:
    """Declare a number."""
    return Declared(NUMBER, (), meaning, unit)


def whole(meaning: str, *, unit: str = "") -> Declared[Int]:
    """Declare a whole number of at most 2**53."""
    return Declared(WHOLE, (), meaning, unit)


def flag(meaning: str) -> Declared[bool]:
    """Declare what is so or not."""
    return Declared(FLAG, (), meaning, "")


def bits(meaning: str) -> Declared[Int]:
    """Declare any int64, such as a mask of GPUs; it is read without being converted."""
    return Declared(BITS, (), meaning, "")


def numbers(shape: int | tuple[int, int], meaning: str, *, unit: str = "") -> Declared[Any]:
    """Declare an array of numbers of one or two dimensions."""
    return Declared(NUMBER, shape, meaning, unit)


def wholes(shape: int | tuple[int, int], meaning: str, *, unit: str = "") -> Declared[Any]:
    """Declare an array of whole numbers."""
    return Declared(WHOLE, shape, meaning, unit)


def part(record: type[R], meaning: str) -> Declared[R]:
    """Declare a record in the record."""
    return Declared(RECORD, (), meaning, "", record)


def rows(record: type["Record"], shape: int | tuple[int, int], meaning: str) -> Declared[Any]:
    """Declare an array of records."""
    return Declared(RECORD, shape, meaning, "", record)


def declared_in(record: type) -> list[tuple[str, Declared[Any]]]:
    """What a record declares besides its base, in order."""
    return [(name, declared) for name, declared in vars(record).items() if isinstance(declared, Declared)]


class Record:
    """Numbers with names, in ``State.memory``. An instance is a view of a record in an array."""

    place: ClassVar[str] = "memory"
    layout: ClassVar[Layout] = Layout("Record", "memory", 0, ())
    __slots__ = ("_at", "_numbers")

    def __init_subclass__(cls) -> None:
        if len(cls.__bases__) != 1:
            raise TypeError(f"{cls.__name__} derives from several records, which cannot all come first")
        slots, width = list(cls.layout.slots), cls.layout.width
        for name, declared in declared_in(cls):
            if cls.layout.has(name):
                raise TypeError(f"{cls.__name__}.{name} is declared already in {cls.__bases__[0].__name__}")
            slots.append(declared.put(name, width))
            width += declared.slot.size
        cls.layout = Layout(cls.__name__, cls.place, width, tuple(slots))

    def __init__(self, numbers: Any, at: int = 0) -> None:
        self._numbers, self._at = numbers, at

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in Record.__slots__ and not self.layout.has(name):
            raise AttributeError(f"{type(self).__name__} declares no {name!r}")
        super().__setattr__(name, value)

    @classmethod
    def declarations(cls) -> Iterator[Declared[Any]]:
        """Yield all declarations, in order of their place."""
        for slot in cls.layout.slots:
            yield next(vars(base)[slot.name] for base in cls.__mro__ if slot.name in vars(base))

    @classmethod
    def zeros(cls, lengths: Mapping[str, int] | None = None) -> NDArray[np.float64]:
        """The record's numbers, all 0, with room for its open arrays behind them.

        Args:
            lengths: of each open array, by its name (``"parts"``, of a part ``"plan.parts"``).
        """
        opened = [(at, slot, _length(lengths or {}, name)) for name, at, slot in _open_arrays(cls.layout, "", 0)]
        zeros = np.zeros(cls.layout.width + sum(slot.width * length for _, slot, length in opened))
        begin = cls.layout.width
        for at, slot, length in opened:
            zeros[at + slot.at : at + slot.at + 2] = begin - at, length
            begin += slot.width * length
        return zeros

    @property
    def as_numbers(self) -> "Elements":
        """All numbers of the record, without names."""
        return Elements(self._numbers, self._at, (self.layout.width,), _EVERY)

    def _read(self, declared: Declared[Any]) -> Any:
        slot, at = declared.slot, self._at + declared.slot.at
        if slot.shape == ():
            return declared.record(self._numbers, at) if declared.record else _read(slot.kind, self._numbers[at])
        shape = slot.shape
        if shape == (OPEN,):
            at, shape = self._at + int(self._numbers[at]), (int(self._numbers[at + 1]),)
        return Elements(self._numbers, at, shape, declared)

    def _write(self, declared: Declared[Any], value: Any) -> None:
        if declared.slot.shape != () or declared.record:
            raise AttributeError(f"{declared.slot.name} is not one number: write its elements")
        self._numbers[self._at + declared.slot.at] = _as_float(declared.kind, value)


_EVERY: Declared[Any] = Declared(NUMBER, 1, "all numbers of a record", "")


class Elements:
    """An array of a record, in Python: an index counts from the front."""

    __slots__ = ("_at", "_declared", "_numbers", "shape")

    def __init__(self, numbers: Any, at: int, shape: tuple[int, ...], declared: Declared[Any]) -> None:
        self._numbers, self._at, self.shape, self._declared = numbers, at, shape, declared

    @property
    def array(self) -> Any:
        """A NumPy view of its numbers: its shape, and where it has records, their width."""
        size, width = int(np.prod(self.shape)), self._declared.slot.width
        found = np.asarray(self._numbers)[self._at : self._at + size * width]
        return found.reshape(*self.shape, width) if self._declared.record else found.reshape(self.shape)

    def column(self, name: str) -> Any:
        """A NumPy view of what all its records have by this name."""
        if self._declared.record is None:
            raise AttributeError(f"{self._declared.slot.name} has no records with a {name!r}")
        return self.array[..., self._declared.record.layout.slot(name).at]

    def _place(self, index: Any) -> int:
        indices = index if isinstance(index, tuple) else (index,)
        if len(indices) != len(self.shape) or not all(0 <= i < n for i, n in zip(indices, self.shape, strict=True)):
            raise IndexError(f"index {index} of {self._declared.slot.name}, whose shape is {self.shape}")
        flat = indices[0] if len(indices) == 1 else indices[0] * self.shape[1] + indices[1]
        return self._at + int(flat) * self._declared.slot.width

    def __getitem__(self, index: Any) -> Any:
        at = self._place(index)
        if self._declared.record:
            return self._declared.record(self._numbers, at)
        return _read(self._declared.kind, self._numbers[at])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._numbers[self._place(index)] = _as_float(self._declared.kind, value)


class Kept(Record):
    """Numbers that a policy keeps in scratch fields of a record of the state."""

    fields: ClassVar[tuple[str, ...]] = ()
    __slots__ = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if any(slot.shape != () or slot.kind in (RECORD, BITS) for slot in cls.layout.slots):
            raise TypeError(f"{cls.__name__} has what is not one number")
        if cls.layout.width > len(cls.fields):
            raise TypeError(
                f"{cls.__name__} has {cls.layout.width} numbers, and a record of State.{cls.place} has room for "
                f"{len(cls.fields)}"
            )

    def _read(self, declared: Declared[Any]) -> Any:
        return _read(declared.kind, self._numbers[self.fields[declared.slot.at]])

    def _write(self, declared: Declared[Any], value: Any) -> None:
        self._numbers[self.fields[declared.slot.at]] = _as_float(declared.kind, value)


class OfJob(Kept):
    """What a policy keeps of a job; a view of a record of ``State.jobs``. All is 0 when a job is submitted, and when
    another policy takes over.
    """

    place = "jobs"
    fields = ("s0", "s1", "s2", "s3")
    __slots__ = ()


class OfNode(Kept):
    """What a policy keeps of a node; a view of a record of ``State.nodes``."""

    place = "nodes"
    fields = ("s0",)
    __slots__ = ()


class OfGpu(Kept):
    """What a policy keeps of a GPU; a view of a record of ``State.gpus``."""

    place = "gpus"
    fields = ("s0",)
    __slots__ = ()


def _read(kind: str, value: Any) -> Any:
    if kind == WHOLE:
        return np.int64(value)
    if kind == FLAG:
        return bool(value != 0.0)
    return np.float64(value).view(np.int64) if kind == BITS else np.float64(value)


def _as_float(kind: str, value: Any) -> Any:
    return np.int64(value).view(np.float64) if kind == BITS else np.float64(value)


def _open_arrays(layout: Layout, prefix: str, at: int) -> Iterator[tuple[str, int, Slot]]:
    """Open arrays of a record at `at` and of its parts: the whole name, where the record with it begins, its slot."""
    for slot in layout.slots:
        if slot.shape == (OPEN,):
            yield prefix + slot.name, at, slot
        elif slot.inner and slot.shape == ():
            yield from _open_arrays(slot.inner, f"{prefix}{slot.name}.", at + slot.at)


def _length(lengths: Mapping[str, int], name: str) -> int:
    if name not in lengths:
        raise TypeError(f"the length of {name} is not given")
    return lengths[name]
