"""What is filled into the page: its tables, and the sentences that have figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, inf, isinf, log
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks import pair_data, pair_page
from benchmarks.results.figures import Difference, Figures, bold, markdown, signed
from benchmarks.sharing.cells import (
    BELIEVED,
    BELIEVED_OTHER,
    BY_OTHER_TABLE,
    CONSTANTS,
    EQUAL,
    LESS_MEMORY,
    LOGS,
    LOGS_OTHER,
    MAIN,
    MAPPINGS,
    OTHER_PAIRS,
    PAPER,
    SWEPT,
    Cell,
)
from pointsman.report.units import duration

BSBF, FFS, ALONE = "sjf-bsbf", "sjf-ffs", "sjf-backfill"
WHOLE_BSBF, WHOLE_FFS = (f"{policy}, accumulation=none" for policy in (BSBF, FFS))
LADDER, PACKING = "tiresias, 12 thresholds", "gandiva-packing, 600 s"
RIVALS: Final = ("srtf", "tiresias", LADDER, "pollux", "gittins", "gandiva, 60 s", "gandiva, 600 s")

RESAMPLES: Final = 2000
"""Of the seeds."""


def change(figures: Figures, cell: Cell, base: str, policy: str = BSBF) -> Difference:
    """Of the mean JCT of `policy` to that of `base`."""
    return figures.change(cell.where, policy, base)


def jct(figures: Figures, cell: Cell, policy: str) -> str:
    """Mean, in words."""
    return duration(figures.mean(cell.where, policy))


def main_table(figures: Figures) -> str:
    """Change of the mean JCT of `sjf-bsbf` to that of each other policy."""
    rows = []
    for rival in RIVALS:
        uses = (("–" if word == "none" else word) for word in figures.told(rival))
        shown = ("–" if rival == "pollux" and cell.is_log else bold(change(figures, cell, rival), 0) for cell in MAIN)
        rows.append([named(rival), *uses, *shown])
    heads = (f"{cell.name} ({jct(figures, cell, BSBF)})" for cell in MAIN)
    return markdown(("compared with", "durations", "profiles", "progress", *heads), rows, words=4)


def named(label: str) -> str:
    """A policy, and what is unlike its default."""
    policy, comma, rest = label.partition(", ")
    return f"`{policy}`{comma}{rest}"


def mappings(figures: Figures) -> str:
    """The same jobs on what else the paper's GPU may be taken for."""
    rivals = ("tiresias", ALONE)
    rows = [[name, *(listed(figures, cells, rival) for rival in rivals)] for name, cells in list(MAPPINGS.items())[1:]]
    return markdown(("GPU", *(named(rival) for rival in rivals)), rows)


def listed(figures: Figures, cells: Sequence[Cell], rival: str) -> str:
    """A figure for each cell."""
    return ", ".join(bold(change(figures, cell, rival), 0) for cell in cells)


def accumulation(figures: Figures) -> str:
    """What the ways to accumulate do to the mean JCT."""
    rows = []
    for cell in (*BELIEVED, *LESS_MEMORY):
        shares = (100 * figures.mean(cell.where, policy, "accumulated_ratio") for policy in (BSBF, FFS))
        ways = (
            bold(change(figures, cell, policy, f"{policy}, accumulation={how}"), 0)
            for policy in (BSBF, FFS)
            for how in ("exact", "none")
        )
        name = f"{cell.name}, 16 GiB" if cell.is_log else cell.name
        rows.append([name, "/".join(f"{share:.1f}" for share in shares), *ways])
    heads = (f"`{policy}`, {how}" for policy in (BSBF, FFS) for how in ("exact", "none"))
    return markdown(("jobs", "accumulating, %", *heads), rows)


def crossing(figures: Figures, cell: Cell, policy: str = BSBF) -> float | None:
    """The slowdown of all pairs at which `policy` is as fast as `sjf-backfill`; None if it is at none of them."""
    mine, alone = _swept(figures, cell, policy), _swept(figures, cell, ALONE)
    return _zero(mine.sum(1) / alone.sum(1) - 1)


def crossing_interval(figures: Figures, cell: Cell, policy: str = BSBF) -> tuple[float, float]:
    """Its 95 % interval, by resampling the seeds; infinite where it is at none of the slowdowns."""
    mine, alone = _swept(figures, cell, policy), _swept(figures, cell, ALONE)
    seeds = mine.shape[1]
    picked = np.random.default_rng(0).integers(seeds, size=(RESAMPLES, seeds))
    found = [_zero(change) or inf for change in (mine[:, picked].sum(2) / alone[:, picked].sum(2) - 1).T]
    low, high = np.quantile(found, (0.025, 0.975), method="nearest")
    return float(low), float(high)


def _swept(figures: Figures, cell: Cell, policy: str) -> NDArray[np.float64]:
    """(slowdowns, seeds) Mean JCT."""
    return np.array([figures.values(replace(cell, slowdown=xi).where, policy) for xi in CONSTANTS])


def _zero(changes: NDArray[np.float64]) -> float | None:
    """Where the changes at the slowdowns rise above 0, between two of them by the logarithm."""
    for (low, first), (high, second) in pairwise(zip(map(float, CONSTANTS), changes.tolist(), strict=True)):
        if first < 0 <= second:
            return exp(log(low) + (log(high) - log(low)) * -first / (second - first))
    return None


def ceases(figures: Figures) -> Mapping[str, str]:
    """Of each workload, where sharing ceases to be beneficial."""
    return {cell.name: _ceases(figures, cell) for cell in SWEPT}


def _ceases(figures: Figures, cell: Cell, policy: str = BSBF) -> str:
    xi = crossing(figures, cell, policy)
    if xi is None:
        return "beyond 2.5"
    low, high = crossing_interval(figures, cell, policy)
    return f"{xi:.2f} [{low:.2f}, {'> 2.5' if isinf(high) else f'{high:.2f}'}]"


def measured(gpu_type: str, table: str = pair_page.SIMULATION) -> float:
    """The median slowdown of the measured pairs of models on a GPU type, in one of Gavel's tables."""
    return float(pair_page.read()["pairs"].row(by_predicate=_in(table, gpu_type), named=True)["xi_models"])


def _in(table: str, gpu_type: str) -> pl.Expr:
    return (pl.col("table") == table) & (pl.col("gpu_type") == gpu_type)


def span(found: Sequence[Difference]) -> str:
    """From the least to the greatest."""
    low, high = (signed(pick(one.percent for one in found), 0) for pick in (min, max))
    return f"{low} %" if low == high else f"{low} to {high} %"


def answer(figures: Figures) -> str:
    """The findings."""
    return "\n".join(make(figures) for make in (_on_logs, _on_papers_clusters, _the_test, _the_claims, _the_limit))


def _on_logs(figures: Figures) -> str:
    shipped, other = (each(cells, [change(figures, cell, ALONE) for cell in cells]) for cells in (LOGS, LOGS_OTHER))
    gittins = compared(figures, (*LOGS, *LOGS_OTHER), "gittins")
    return (
        "* **Not on large clusters with jobs like ITP's or Philly's**, by either of Gavel's two tables of pairs. At "
        f"load 1 `sjf-bsbf` compared with `sjf-backfill`, which shares nothing: {shipped}; with the other table "
        f"{other}. Compared with `gittins`, which requires no durations: {gittins}."
    )


def _on_papers_clusters(figures: Figures) -> str:
    shipped, other = (compared(figures, cells, ALONE, WHOLE_FFS) for cells in (BELIEVED, BELIEVED_OTHER))
    return (
        "* **On small clusters like the paper's, share wherever memory allows, without accumulation**, if jobs must "
        f"not be preempted. `sjf-ffs` with `accumulation=none` compared with `sjf-backfill`: {shipped}; with the other "
        f"table {other}. `srtf`, which preempts: {compared(figures, BELIEVED, ALONE, 'srtf')}."
    )


def _the_test(figures: Figures) -> str:
    default, other = (compared(figures, cells, ALONE) for cells in (BELIEVED, BELIEVED_OTHER))
    off = compared(figures, (*BELIEVED, *BELIEVED_OTHER), WHOLE_FFS, WHOLE_BSBF)
    v100 = compared(figures, OTHER_PAIRS, ALONE)
    return (
        f"* **The test of `sjf-bsbf` before sharing is not beneficial there.** Compared with `sjf-backfill`: {default} "
        f"with P100's pairs, the paper's nearest type ({v100} with V100's), and {other} with the other table. Both "
        f"without accumulation, compared with `sjf-ffs`: {off}."
    )


def _the_claims(figures: Figures) -> str:
    p100, v100 = (compared(figures, cells, "tiresias") for cells in ((*BELIEVED, *BELIEVED_OTHER), OTHER_PAIRS))
    return (
        f"* **The paper's claims hold in part.** Compared with `tiresias`: {p100} with P100's pairs of either table, "
        f"{v100} with V100's."
    )


def _the_limit(figures: Figures) -> str:
    where = ceases(figures)
    medians = [f"{measured(gpu, table):.2f}" for gpu in ("v100", "p100") for table in pair_data.SOURCES]
    return (
        f"* **`sjf-bsbf` stops being beneficial** where all pairs slow each other by a factor of {where['ITP']} (ITP), "
        f"{where['Philly']} (Philly), {where[PAPER[1].name]} ({PAPER[1].name}) or {where[EQUAL.name]} "
        f"({EQUAL.workload}); `sjf-ffs` without accumulation where by "
        f"{_ceases(figures, PAPER[1], WHOLE_FFS)} or {_ceases(figures, EQUAL, WHOLE_FFS)}. "
        f"Measured medians are {medians[0]} or {medians[1]} on V100, by table; {medians[2]} or {medians[3]} on P100."
    )


def compared(figures: Figures, cells: Sequence[Cell], base: str, policy: str = BSBF) -> str:
    """``−18 to −2 %``, over these cells."""
    return span([change(figures, cell, base, policy) for cell in cells])


def by_table(figures: Figures) -> str:
    """Mean JCT compared with `sjf-backfill`, by which of Gavel's tables slows pairs."""
    sharing = [
        (policy, table, cells)
        for policy in (BSBF, WHOLE_BSBF, WHOLE_FFS, PACKING)
        for table, cells in (("shipped", MAIN), ("other", BY_OTHER_TABLE))
    ]
    rows = [
        [named(policy), table, *(bold(change(figures, cell, ALONE, policy), 0) for cell in cells)]
        for policy, table, cells in (*sharing, *((policy, "–", MAIN) for policy in ("srtf", "gittins")))
    ]
    return markdown(("policy", "table", *(cell.name for cell in MAIN)), rows, words=2)


def doubts(figures: Figures) -> str:
    """How much the choice of the table changes."""
    changes = [
        figures.change(other.where, BSBF, BSBF, base_where=cell.where)
        for cell, other in zip(MAIN, BY_OTHER_TABLE, strict=True)
    ]
    papers, logs = changes[: len(BELIEVED)], changes[len(BELIEVED) :]
    return (
        "* **The slowdowns decide.** They are of seven models on older GPUs, and do not depend on batches. The other "
        f"table changes the mean JCT of `sjf-bsbf` by {span(papers)} on the paper's clusters, {each(LOGS, logs)}."
    )


def each(cells: Sequence[Cell], found: Sequence[Difference]) -> str:
    """``+12 % (30 jobs), −3 % (240 jobs)``."""
    return ", ".join(f"{signed(one.percent, 0)} % ({cell.name})" for cell, one in zip(cells, found, strict=True))


def errors(figures: Figures) -> str:
    """What errors of durations cost."""
    changes = [
        f"`{policy}` by {span([change(figures, cell, policy, f'{policy}, σ = 1') for cell in MAIN])}"
        for policy in (BSBF, ALONE, "srtf")
    ]
    return f"Log-normal errors of durations (σ = 1) change the mean JCT of {', '.join(changes)}."


def claims(figures: Figures) -> str:
    """The paper's, and what we find."""
    claimed = {"tiresias": "−27 to −33", "pollux": "−27 to −33", FFS: "up to −17"}
    runs = (BELIEVED, BELIEVED_OTHER, OTHER_PAIRS)
    rows = [
        [named(rival), said, *(listed(figures, cells[: len(PAPER)], rival) for cells in runs)]
        for rival, said in claimed.items()
    ]
    return markdown(("compared with", "claimed, %", "measured, %", "other table", "V100's pairs"), rows, words=2)


def wasted(figures: Figures) -> str:
    """How many share, what they lose, and what errors of durations cost."""
    losses = []
    for cell in (*LOGS, *LOGS_OTHER):
        shared, slow = (figures.mean(cell.where, BSBF, name) for name in ("jobs_shared_ratio", "slow_down_mean"))
        losses.append(f"{cell.name} {100 * shared:.0f} %, {slow:.2f}")
    first, second, *other = losses
    return (
        f"Jobs that share under `sjf-bsbf`, and their mean slowdown: {first}; {second}. With the other table: "
        f"{'; '.join(other)}.\n\n{errors(figures)}"
    )


BLOCKS: Final = {
    "answer": answer, "main": main_table, "mappings": mappings, "accumulation": accumulation,
    "claims": claims, "shared": wasted, "by-table": by_table, "doubts": doubts,
}  # fmt: skip
