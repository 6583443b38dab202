"""What a cell says of GPUs: ``gres/gpu:a100=8``, ``gpu:a100:2(IDX:0-1)``, ``2x A100``, ``8``."""

import re
from typing import Final, NamedTuple

from pointsman.inputs.gpu_names import WHOLE, known_name, plain_name, slice_milli

GPU_TRES_ID: Final = 1001
"""The number of ``gres/gpu`` in Slurm's database: the first of the generic resources."""
_COUNT: Final = r"(?P<count>[0-9]{1,9})(?:\.0*)?"
_ENTRY: Final = re.compile(
    rf"(?:gres[/:])?(?P<kind>gpu|shard|mps)(?P<typed>[:/](?![0-9]+(?:\(|$))[^=,\s]*?)?(?:[:=]{_COUNT})?(?:\([^)]*\))?",
    re.IGNORECASE,
)
_OF_GPUS: Final = re.compile(r"(?:gres[/:])?gpu(?:[:=/]|$)", re.IGNORECASE)
_OTHER: Final = re.compile(r"[\w/:.-]+=[^=]*|[a-z][\w/.-]*:[^=]*[0-9][kmgt]?(\([^)]*\))?|\(null\)|n/a", re.IGNORECASE)
"""A resource that is no GPU, or a word for none."""
_BARE: Final = re.compile(rf"\s*{_COUNT}\s*")
_TIMES: Final = re.compile(
    rf"\s*(?:{_COUNT}\s*(?:[x*×]\s*|\s)(?P<type>[A-Za-z][\w .+-]*)|(?P<type2>[A-Za-z][\w .+-]*?)\s*(?:[x*×:=]\s*|\s)"
    r"(?P<count2>[0-9]{1,6}))\s*",
    re.IGNORECASE,
)


class GpuEntry(NamedTuple):
    """Some GPUs, or slices of GPUs, of one type."""

    count: int
    gpu_type: str
    """As `plain_name` has it; empty: not said."""
    milli: int | None
    """Thousandths of a GPU that each is: 1000 of a whole one; None: a share of unknown size, such as a shard."""
    written: str
    """What the cell calls it, for notes."""


def gpu_entries(cell: str) -> list[GpuEntry] | None:
    """The GPUs that a cell names; an empty list where it is a list of other resources; None: it cannot be read.

    ``gres/gpu=3,gres/gpu:a100=2`` are two of one type and one of none: entries with a type are part of those without.
    """
    bare = _BARE.fullmatch(cell)
    if bare:
        return _if_any(int(bare["count"]), "", "gpu")
    parts = [part.strip() for part in re.split(r"[,;](?![^(]*\))", cell) if part.strip()]
    found = [entry for part in parts if (entry := _entry_of(part)) is not None]
    if len(found) < sum(_OF_GPUS.match(part) is not None for part in parts):
        return None
    if found:
        return _untyped_last(found)
    times = _times(cell)
    if times and known_name(times[0].gpu_type):
        return times
    return [] if all(_OTHER.fullmatch(part) for part in parts) else times


def _if_any(count: int, gpu_type: str, written: str) -> list[GpuEntry]:
    return [GpuEntry(count, gpu_type, WHOLE, written)] if count else []


def _entry_of(part: str) -> GpuEntry | None:
    """One entry of a list of resources, if it is one of GPUs or of parts of them."""
    by_id = re.fullmatch(rf"{GPU_TRES_ID}=([0-9]+)", part)
    if by_id:
        return GpuEntry(int(by_id[1]), "", WHOLE, "gpu")
    found = _ENTRY.fullmatch(part)
    if found is None:
        return None
    typed = (found["typed"] or "")[1:]
    count = 1 if found["count"] is None else int(found["count"])
    if found["kind"].casefold() != "gpu":
        return GpuEntry(count, plain_name(typed), None, found["kind"].casefold())
    milli = slice_milli(typed)
    return GpuEntry(count, plain_name(typed), WHOLE if milli is None else milli, f"gpu:{typed}" if typed else "gpu")


def _untyped_last(found: list[GpuEntry]) -> list[GpuEntry]:
    """The typed entries, and what an entry without a type counts beyond them."""
    typed = [entry for entry in found if entry.written != "gpu"]
    of_gpus = sum(entry.count for entry in typed if entry.milli is not None)
    whole = sum(entry.count for entry in found if entry.written == "gpu") - of_gpus
    return [entry for entry in typed if entry.count] + _if_any(max(whole, 0), "", "gpu")


def _times(cell: str) -> list[GpuEntry] | None:
    """``2x A100``, ``A100 x 2``, ``A100:2``."""
    found = _TIMES.fullmatch(cell)
    if found is None:
        return None
    count, gpu_type = int(found["count"] or found["count2"]), (found["type"] or found["type2"]).strip()
    milli = slice_milli(gpu_type)
    entry = GpuEntry(count, plain_name(gpu_type), WHOLE if milli is None else milli, gpu_type)
    return [entry] if count else []
