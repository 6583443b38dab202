"""Node names in Slurm's hostlist notation: ``gpu[01-03,7],login``."""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Final

MAX_NAMES: Final = 1_000_000
"""More nodes than any cluster has: a longer list is a slip of the pen."""

_ENTRY: Final = re.compile(r"([^\[\],\s]*)(?:\[([0-9,\-]+)\])?([^\[\],\s]*)")
_NUMBERED: Final = re.compile(r"(.*?)([0-9]{1,9})")


def expand(text: str, most: int = MAX_NAMES) -> list[str]:
    """Names of a hostlist, in the order written.

    Raises:
        ValueError: not a hostlist, or more than `most` names.
    """
    names: list[str] = []
    for entry in _split(text):
        match = _ENTRY.fullmatch(entry)
        if not entry or match is None:
            raise ValueError(f"{entry!r} is no node name; write names like 'gpu[01-16],gpu20'")
        prefix, ranges, suffix = match.groups()
        if ranges is None:
            names.append(entry)
        else:
            names += [prefix + number + suffix for number in _numbers(ranges, most - len(names), most)]
    return names


def nodes_named(texts: Iterable[str], node_names: Sequence[str]) -> dict[str, list[int | None]]:
    """Indices of the nodes that each hostlist names, in order, each once; None for a name that the cluster lacks.

    A text that is no hostlist has no entry. ``gpu01.site.org`` and ``gpu01`` are one node, where that is unambiguous.
    """
    lists: dict[str, list[str]] = {}
    for text in texts:
        with suppress(ValueError):
            lists[text] = list(dict.fromkeys(expand(text)))
    index = _index({name for names in lists.values() for name in names}, node_names)
    return {text: [index.get(name) for name in names] for text, names in lists.items()}


def _index(listed: Iterable[str], node_names: Sequence[str]) -> dict[str, int]:
    """The node of each name: of a name that no node has, the only one that it is called with a domain or without."""
    index = {name: i for i, name in enumerate(node_names)}
    ours = _by_short_name(node_names)
    for short, names in _by_short_name(name for name in listed if name not in index).items():
        both = [*names, *ours.get(short, ())]
        if len(names) == 1 and len(both) == 2 and short in both:
            index[both[0]] = index[both[1]]
    return index


def _by_short_name(names: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name in names:
        found.setdefault(name.partition(".")[0], []).append(name)
    return found


def compress(names: Iterable[str]) -> str:
    """The hostlist of ``names``: runs of consecutive numbers become one range. `expand` gives the names back."""
    return ",".join(_run_text(*run) for run in _runs(names))


def _split(text: str) -> list[str]:
    """Cut at the commas outside brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", text)]


def _numbers(ranges: str, room: int, most: int) -> Iterator[str]:
    for part in ranges.split(","):
        low, dash, high = part.partition("-")
        if not low or (dash and not high) or "-" in high or len(low) > 9 or len(high) > 9:
            raise ValueError(f"{part!r} is no range of numbers; write it like '01-16'")
        first, last = int(low), int(high or low)
        if first > last:
            raise ValueError(f"the range {part!r} runs backwards")
        room -= last - first + 1
        if room < 0:
            raise ValueError(f"more than {most:,} names")
        yield from (f"{number:0{len(low)}d}" for number in range(first, last + 1))


def _runs(names: Iterable[str]) -> Iterator[tuple[str, str, int]]:
    """(prefix, first number as written, how many); a name without a number is a run of its own with ''."""
    prefix, first, count = "", "", 0
    for name in names:
        match = _NUMBERED.fullmatch(name)
        stem, number = match.groups() if match else (name, "")
        if count and number and stem == prefix and first and number == f"{int(first) + count:0{len(first)}d}":
            count += 1
            continue
        if count:
            yield prefix, first, count
        prefix, first, count = stem, number, 1
    if count:
        yield prefix, first, count


def _run_text(prefix: str, first: str, count: int) -> str:
    if count == 1:
        return prefix + first
    return f"{prefix}[{first}-{int(first) + count - 1:0{len(first)}d}]"
