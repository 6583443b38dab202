"""GPUs of Slurm's generic resources: ``gpu:a100:8(S:0-1),shard:32``, ``gpu:a100_3g.20gb:4``."""

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from pointsman.cluster.imports.cards import cards, compute_slices, describe_slices
from pointsman.cluster.imports.machine import Gpus, OddNode, within
from pointsman.inputs.gpu_cells import GpuEntry, gpu_entries
from pointsman.inputs.gpu_names import WHOLE, known_name
from pointsman.inputs.messages import counted, quoted


class Gres(NamedTuple):
    """What a node has."""

    gpus: tuple[Gpus, ...]
    note: str


def gres(cell: str, features: Sequence[str] = ()) -> Gres:
    """Physical GPUs by type; slices are counted as the GPUs that they are of.

    Args:
        cell: as Slurm writes it.
        features: of the node: they may name the type where `cell` does not.

    Raises:
        OddNode: the cell cannot be read, or has shares of GPUs and no GPUs.
    """
    entries = gpu_entries("" if cell.strip() in ("(null)", "N/A") else cell) if cell.strip() else []
    if entries is None or any(entry.written.count(":") > 1 for entry in entries):
        raise OddNode(f"Gres is {quoted(cell)}, which cannot be read")
    gpus, slices = _sort_entries(entries)
    shares = [entry for entry in entries if entry.milli is None and entry.count]
    if shares and not gpus and not slices:
        raise OddNode(f"Gres has {_shares(shares)} and does not say of how many GPUs")
    only = next(iter(gpus)) if len(gpus) == 1 else ""
    notes = []
    for name, of in slices.items():
        kind = name or only
        count = cards(of, _type(kind, features))
        gpus[kind] += count
        notes.append(f"{describe_slices(of)} are slices of {counted(count, 'GPU')} (Gres)")
    if shares:
        notes.append(f"{_shares(shares)}: shares of these GPUs, which are not counted as GPUs")
    return Gres(within(Gpus(count, _type(name, features)) for name, count in gpus.items()), "; ".join(notes))


def _sort_entries(entries: Sequence[GpuEntry]) -> tuple[dict[str, int], dict[str, dict[str, int]]]:
    """Whole GPUs by type, and slices by type and profile; types as they are written."""
    gpus: dict[str, int] = defaultdict(int)
    slices: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    written = {entry.gpu_type: _type_as_written(entry) for entry in reversed(entries)}
    for entry in entries:
        if compute_slices(entry.written) is not None and entry.milli is not None:
            profile = entry.written.split(":")[-1].split("_")[-1]
            slices[written[entry.gpu_type] if entry.gpu_type else ""][profile] += entry.count
        elif entry.milli == WHOLE:
            gpus[written[entry.gpu_type]] += entry.count
    return gpus, slices


def _type_as_written(entry: GpuEntry) -> str:
    """The type as Slurm has it, without a profile."""
    if not entry.gpu_type:
        return ""
    return entry.gpu_type if compute_slices(entry.written) else entry.written.removeprefix("gpu:")


def _type(name: str, features: Sequence[str]) -> str:
    known = dict.fromkeys(found for feature in features if (found := known_name(feature)))
    return name or (next(iter(known)) if len(known) == 1 else "")


def _shares(entries: Sequence[GpuEntry]) -> str:
    return " and ".join(f"{entry.count:,} {entry.written}" for entry in entries)
