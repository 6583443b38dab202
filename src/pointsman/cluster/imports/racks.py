"""Nodes in their racks, and racks in their pods, as a cluster file can say them."""

from collections.abc import Sequence
from typing import NamedTuple

from pointsman.cluster.imports.machine import Machine, some
from pointsman.inputs.messages import counted


class Racks(NamedTuple):
    """All nodes, and the pods of their racks."""

    racks: list[list[Machine]]
    per_pod: int | None
    """Racks of a pod; None: one pod has all."""
    notes: list[str]


def in_racks(machines: Sequence[Machine]) -> Racks:
    """Racks in the order of their first nodes, those of a pod side by side; nodes without a rack share one more."""
    racks: dict[tuple[str, str], list[Machine]] = {}
    for machine in machines:
        racks.setdefault((machine.pod, machine.rack), []).append(machine)
    if set(racks) == {("", "")}:
        return Racks([list(machines)], None, ["racks are not in the list: all nodes stand in one"])
    without = [machine.name for key, of in racks.items() if key[1] == "" for machine in of]
    stand = counted(
        len(without), "node without a rack stands in one of its", "nodes without a rack stand in one of their"
    )
    notes = [f"{stand} own: {some(without)}"] * bool(without)
    pods: dict[str, list[list[Machine]]] = {}
    for (pod, rack), of in racks.items():
        pods.setdefault(pod if rack else "", []).append(of)
    return _of_equal_size(pods, notes)


def _of_equal_size(pods: dict[str, list[list[Machine]]], notes: list[str]) -> Racks:
    """A cluster file has pods of as many racks each, but for the last, which may have fewer."""
    ordered = sorted(pods.values(), key=lambda racks: -len(racks))
    every = [rack for racks in ordered for rack in racks]
    sizes = [len(racks) for racks in ordered]
    if len(sizes) == 1:
        return Racks(every, None, notes)
    if len({*sizes[:-1]}) == 1:
        return Racks(every, sizes[0], notes)
    said = ", ".join(map(str, sizes[:8])) + (" and more" if len(sizes) > 8 else "")
    unequal = f"pods of {said} racks are left out, for a cluster file has pods of equal size: one pod has all racks"
    return Racks(every, None, [*notes, unequal])
