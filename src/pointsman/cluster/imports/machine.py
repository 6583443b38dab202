"""Nodes as some list has them."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pointsman.errors import InputError
from pointsman.inputs.messages import counted, quoted
from pointsman.types import MAX_NODE_GPUS

SHOWN: Final = 5
"""Nodes that a note names; it counts the others."""


class Gpus(NamedTuple):
    """Physical GPUs of one type in one node."""

    count: int
    gpu_type: str = ""
    """As the list calls it; empty: it does not say."""


@dataclass(frozen=True)
class Machine:
    """One node."""

    name: str
    gpus: tuple[Gpus, ...] = ()
    """By type."""
    cpus: int | None = None
    sockets: int | None = None
    memory_mib: int | None = None
    partitions: tuple[str, ...] = ()
    rack: str = ""
    """Empty: not known."""
    pod: str = ""
    line: int | None = None
    """The line of the list, where it has lines."""
    down: bool = False
    """Whether it takes no jobs at present."""
    note: str = ""
    """How its GPUs were counted, if that needs a word."""


class OddNode(ValueError):
    """A node that cannot be used, and why: it is left out, and the rest of the list is read."""

    def __init__(self, why: str, name: str = "", line: int | None = None) -> None:
        super().__init__(why)
        self.why, self.name, self.line = why, name, line


@dataclass(frozen=True)
class NodeList:
    """What a list says."""

    what: str
    """What made it."""
    machines: Sequence[Machine]
    odd: Sequence[OddNode] = ()
    notes: Sequence[str] = ()
    nvlink_racks: bool = False
    """Whether a rack is what one NVLink network joins."""


@dataclass
class Reading:
    """Gathers the nodes of a list one by one; an odd one costs itself."""

    machines: list[Machine] = field(default_factory=list)
    odd: list[OddNode] = field(default_factory=list)

    def take(self, read: Callable[[], Machine | Iterable[Machine]], name: str, line: int | None = None) -> None:
        """What ``read`` gives, or why it gives nothing: an `OddNode`, or a value of the wrong kind."""
        try:
            found = read()
        except OddNode as odd:
            self.odd.append(OddNode(odd.why, odd.name or name, odd.line or line))
        except KeyError as missing:
            self.odd.append(OddNode(f"{missing} is missing", name, line))
        except (TypeError, AttributeError):
            self.odd.append(OddNode("a field of it is of another kind than it should be", name, line))
        except (ValueError, OverflowError) as error:
            self.odd.append(OddNode(str(error), name, line))
        else:
            self.machines += [found] if isinstance(found, Machine) else found


def each_once(nodes: NodeList) -> NodeList:
    """Nodes that are listed several times, once a partition say, as one; those that contradict themselves are odd."""
    found: dict[str, Machine] = {}
    odd: dict[str, OddNode] = {}
    again = 0
    for machine in nodes.machines:
        before = found.get(machine.name)
        if before is None:
            found[machine.name] = machine
        elif sorted(before.gpus) == sorted(machine.gpus):
            more = tuple(part for part in machine.partitions if part not in before.partitions)
            found[machine.name] = replace(before, partitions=before.partitions + more)
            again += not more
        else:
            odd.setdefault(machine.name, _contradiction(before, machine))
    kept = [machine for name, machine in found.items() if name not in odd]
    rows = counted(again, "row names a node again and is", "rows name a node again and are")
    notes = [*nodes.notes, *[f"{rows} counted once"] * (again > 0)]
    return replace(nodes, machines=kept, odd=[*nodes.odd, *odd.values()], notes=notes)


def _contradiction(before: Machine, now: Machine) -> OddNode:
    place = "before" if before.line is None else f"on line {before.line}"
    return OddNode(f"{now.name} has {_gpus(now)} here and {_gpus(before)} {place}", now.name, now.line)


def _gpus(machine: Machine) -> str:
    each = " and ".join(f"{gpus.count} {gpus.gpu_type}".strip() for gpus in machine.gpus)
    return f"{each or 'no'} GPUs"


def whole(text: str, what: str, most: int = 10**9) -> int:
    """A whole number from 0 to `most`; decimals that are zero are allowed.

    Raises:
        OddNode: it is something else.
    """
    found = re.fullmatch(r"([0-9]{1,12})(?:\.0*)?", text.strip())
    if not found or int(found[1]) > most:
        raise OddNode(f"{what} is {quoted(text)}, not a whole number from 0 to {most:,}")
    return int(found[1])


def within(gpus: Iterable[Gpus]) -> tuple[Gpus, ...]:
    """Those that are there. OddNode: more than a node can have."""
    found = tuple(one for one in gpus if one.count)
    if (count := sum(one.count for one in found)) > MAX_NODE_GPUS:
        raise OddNode(f"{count:,} GPUs, and a node has at most {MAX_NODE_GPUS}")
    return found


def text_of(value: Any) -> str:
    """A name of JSON.

    Raises:
        OddNode: it is none.
    """
    if not isinstance(value, str):
        raise OddNode(f"{quoted(value)} is no text")
    return value


def some(names: Sequence[str]) -> str:
    """``a, b, c, d, e and 7 others``."""
    more = len(names) - SHOWN
    return ", ".join(names[:SHOWN]) + (f" and {counted(more, 'other')}" if more > 0 else "")


def has(nodes: Sequence[Machine]) -> str:
    """The verb for one node or several."""
    return "has" if len(nodes) == 1 else "have"


def refuse(cause: str, path: Path, fix: str, line: int | None = None) -> InputError:
    """The error for a whole list."""
    return InputError(cause, path=path, line=line, fix=fix)
