"""Records of named numbers in the translation to C++: a view is a pointer, to float64 or to a record of the state."""

import inspect
from typing import Any, NamedTuple

from pointsman.engine.state.layouts import FLAG, NUMBER, WHOLE
from pointsman.engine.state.named import Kept, Record

_READ = {NUMBER: "{}", WHOLE: "I({})", FLAG: "({} != 0.0)"}


class View(NamedTuple):
    """A record that an expression is a view of."""

    record: type[Record]

    def opened(self, args: list[str]) -> str:
        """The pointer to it, in a state."""
        place = f"{args[0]}.{self.record.place}"
        return f"(&{place}({args[1]}))" if issubclass(self.record, Kept) else f"(&{place}(0))"

    def _place(self, pointer: str, name: str) -> str:
        at = self.record.layout.slot(name).at
        return f"{pointer}->{self.record.fields[at]}" if issubclass(self.record, Kept) else f"{pointer}[{at}]"

    def load(self, pointer: str, name: str) -> str:
        """Its number of this name; a record in it; or an array of floats."""
        slot = self.record.layout.slot(name)
        if slot.inner and slot.shape == ():
            return f"({pointer} + {slot.at})"
        if slot.shape == ():
            return _READ[slot.kind].format(self._place(pointer, name))
        if slot.kind != NUMBER or len(slot.shape) != 1:
            raise NotImplementedError(f"{self.record.__name__}.{name}: an array of {slot.kind}, {slot.shape}")
        return f"(Array<F>{{{pointer} + {slot.at}, I({slot.shape[0]}), I(1)}})"

    def store(self, pointer: str, name: str, value: str) -> str:
        """Write a number of this name."""
        return f"{self._place(pointer, name)} = F({value})"


def annotated(function: Any) -> dict[str, View]:
    """The arguments of a function that are such records."""
    kinds = inspect.get_annotations(function, eval_str=True)
    return {name: View(kind) for name, kind in kinds.items() if _is_record(kind) and name != "return"}


def open_view(function: Any) -> View | None:
    """The record that a function gives: a view of a state, or what its annotation says."""
    if record := getattr(function, "record", None):
        return View(record)
    kind = inspect.get_annotations(function, eval_str=True).get("return") if inspect.isfunction(function) else None
    return View(kind) if _is_record(kind) else None


def view_of_field(view: View, name: str) -> View | None:
    """The record in a record."""
    declared = next(d for d in view.record.declarations() if d.slot.name == name)
    return View(declared.record) if declared.record and declared.slot.shape == () else None


def _is_record(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Record)
