"""The GPUs that jobs ask for, of cells as sites write them (`inputs/gpu_cells.py`)."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import polars as pl

from pointsman.inputs.gpu_cells import GpuEntry, gpu_entries
from pointsman.inputs.gpu_names import WHOLE
from pointsman.inputs.messages import counted

_TELLING: Final = r"(?:^|[,;])[^,;]*(?:(?i)gpu|shard|mps|\b1001=)[^,;]*"
"""Entries of a long list of resources that can name GPUs."""


NO_SHARE: Final = "on slices or shares of GPUs that are no share of one GPU"
"""Reason for jobs whose GPUs cannot be counted."""
_MOST_NAMED: Final = 5


class GpuDemand(NamedTuple):
    """What one job asks for; of a cell that cannot be read, all None."""

    gpus: int | None
    """GPUs of the gang; a job on slices has one."""
    gpu_type: str | None
    """`a100`; types of one job are joined by `+`, for the gang mixes them."""
    fraction: float | None
    """Share of its only GPU, in thousandths, of a job on slices."""
    no_share: str | None
    """What it asks for that is neither whole GPUs nor a share of one."""
    no_share_gpus: float | None
    """At most how many GPUs that is."""


_SCHEMA: Final = {
    "gpus": pl.Int64(), "gpu_type": pl.String(), "fraction": pl.Float64(), "no_share": pl.String(),
    "no_share_gpus": pl.Float64(),
}  # fmt: skip


def gpu_demands(cells: pl.Series) -> pl.DataFrame:
    """A row of `GpuDemand` for each cell of text; null cells ask for no GPU.

    Lists of resources differ in their memory and cores from job to job: each list of GPUs is parsed once.
    """
    short = (
        pl.when(cells.str.contains("="))
        .then(cells.str.extract_all(_TELLING).list.join("").str.strip_chars(",;"))
        .otherwise(cells)
    )
    frame = pl.DataFrame({"cell": cells}).select(cell=short.str.strip_chars().fill_null(""))
    known = frame["cell"].unique(maintain_order=True)
    table = pl.DataFrame([gpu_demand(cell) for cell in known], schema=_SCHEMA, orient="row").with_columns(cell=known)
    return frame.join(table, on="cell", how="left", maintain_order="left").drop("cell")


def gpu_demand(cell: str) -> GpuDemand:
    """What a job with this cell asks for."""
    entries = gpu_entries(cell) if cell else []
    return GpuDemand(None, None, None, None, None) if entries is None else demand_of(entries)


def demand_of(entries: Sequence[GpuEntry]) -> GpuDemand:
    """What these GPUs and slices of GPUs come to."""
    gpu_type = "+".join(dict.fromkeys(entry.gpu_type for entry in entries if entry.gpu_type)) or None
    parts = [entry for entry in entries if entry.milli != WHOLE]
    if not parts:
        return GpuDemand(sum(entry.count for entry in entries), gpu_type, None, None, None)
    milli = sum(_milli(entry) for entry in entries)
    one_type = len({entry.gpu_type for entry in entries if entry.gpu_type}) <= 1
    if milli <= WHOLE and one_type and all(entry.milli is not None for entry in entries):
        return GpuDemand(1, gpu_type, milli / WHOLE, None, None)
    said = " and ".join(f"{entry.count} {entry.written}" for entry in entries)
    return GpuDemand(0, gpu_type, None, said, milli / WHOLE)


def _milli(entry: GpuEntry) -> int:
    return entry.count * (WHOLE if entry.milli is None else entry.milli)


def left_out(no_share: pl.Series, gpu_h: float) -> list[str]:
    """A note on what was asked for that is no share of one GPU, and how many GPU-hours that is; none of nothing."""
    kinds = no_share.drop_nulls().value_counts(sort=True).head(_MOST_NAMED).rows()
    said = ", ".join(f"{kind:.60} ({counted(count, 'job')})" for kind, count in kinds)
    return (
        [f"left out, at most {gpu_h:,.1f} GPU-h on slices or shares that are no share of one GPU: {said}"]
        if kinds
        else []
    )
