"""What is filled into the page: its tables, and the sentences that have figures."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import exp, log
from statistics import median
from typing import Final

from benchmarks.results.figures import Difference, Figures, markdown, signed
from benchmarks.sharing.cells import (
    BELIEVED,
    CONSTANTS,
    EQUAL,
    LESS_MEMORY,
    LOGS,
    MAIN,
    MAPPINGS,
    OTHER_PAIRS,
    PAPER,
    SWEPT,
    Cell,
)
from pointsman.report.units import duration
from pointsman.speed.interference.slow_downs import shipped

BSBF, FFS, ALONE = "sjf-bsbf", "sjf-ffs", "sjf-backfill"
WHOLE_BSBF, WHOLE_FFS = (f"{policy}, accumulation=none" for policy in (BSBF, FFS))
LADDER, PACKING = "tiresias, 12 thresholds", ("gandiva-packing, 60 s", "gandiva-packing, 600 s")
PREEMPTIVE: Final = ("tiresias", "pollux", "srtf")
"""Preemptive policies of the paper, and SRTF, which is told as much as SJF-BSBF."""
RIVALS: Final = (
    FFS, WHOLE_FFS, ALONE, "srtf", "tiresias", LADDER, "pollux", "gittins", "gandiva, 60 s", "gandiva, 600 s",
)  # fmt: skip


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
        told = (("–" if word == "none" else word) for word in figures.told(rival))
        shown = ("–" if rival == "pollux" and cell.is_log else bold(change(figures, cell, rival)) for cell in MAIN)
        rows.append([named(rival), *told, *shown])
    heads = (f"{cell.name} ({jct(figures, cell, BSBF)})" for cell in MAIN)
    return markdown(("compared with", "durations", "profiles", "progress", *heads), rows, words=4)


def named(label: str) -> str:
    """A policy, and what is unlike its default."""
    policy, comma, rest = label.partition(", ")
    return f"`{policy}`{comma}{rest}"


def bold(found: Difference) -> str:
    """Percent; bold where the interval excludes 0."""
    return f"**{signed(found.percent, 0)}**" if found.is_sure else signed(found.percent, 0)


def mappings(figures: Figures) -> str:
    """The same jobs on what else the paper's GPU may be taken for."""
    rivals = (*PREEMPTIVE, ALONE, FFS, WHOLE_FFS)
    rows = [[name, *(listed(figures, cells, rival) for rival in rivals)] for name, cells in list(MAPPINGS.items())[1:]]
    return markdown(("GPU", *(named(rival) for rival in rivals)), rows)


def listed(figures: Figures, cells: Sequence[Cell], rival: str) -> str:
    """A figure for each cell."""
    return ", ".join(bold(change(figures, cell, rival)) for cell in cells)


def accumulation(figures: Figures) -> str:
    """What the ways to accumulate do to the mean JCT."""
    rows = []
    for cell in (*BELIEVED, *LESS_MEMORY):
        shares = (100 * figures.mean(cell.where, policy, "accumulated_ratio") for policy in (BSBF, FFS))
        ways = (
            bold(change(figures, cell, policy, f"{policy}, accumulation={how}"))
            for policy in (BSBF, FFS)
            for how in ("exact", "none")
        )
        name = f"{cell.name}, 16 GiB" if cell.is_log else cell.name
        rows.append([name, "/".join(f"{share:.1f}" for share in shares), *ways])
    heads = (f"`{policy}`, {how}" for policy in (BSBF, FFS) for how in ("exact", "none"))
    return markdown(("jobs", "accumulating, %", *heads), rows)


def crossing(figures: Figures, cell: Cell, policy: str = BSBF) -> float | None:
    """The slowdown of all pairs at which `policy` is as fast as `sjf-backfill`; None if it is at none of them."""
    swept = [(float(xi), change(figures, replace(cell, slowdown=xi), ALONE, policy).percent) for xi in CONSTANTS]
    for (low, first), (high, second) in pairwise(swept):
        if first < 0 <= second:
            return exp(log(low) + (log(high) - log(low)) * -first / (second - first))
    return None


def ceases(figures: Figures) -> Mapping[str, str]:
    """Of each workload, where sharing ceases to be beneficial."""
    found = {cell.name: crossing(figures, cell) for cell in SWEPT}
    return {name: "beyond 2.5" if xi is None else f"{xi:.2f}" for name, xi in found.items()}


def measured(gpu_type: str) -> float:
    """The median slowdown of the measured pairs on a GPU type."""
    figures = shipped().gpu_types[gpu_type]
    return median(figures.slow_down[a][b] for a, b in figures.measured())


def span(found: Sequence[Difference]) -> str:
    """From the least to the greatest."""
    low, high = (signed(pick(one.percent for one in found), 0) for pick in (min, max))
    return f"{low} %" if low == high else f"{low} to {high} %"


def answer(figures: Figures) -> str:
    """The findings."""
    at = {rival: [change(figures, cell, rival) for cell in BELIEVED] for rival in RIVALS}
    logs = {rival: [change(figures, cell, rival) for cell in LOGS] for rival in (ALONE, "gittins")}
    whole = {policy: _whole(figures, policy) for policy in (BSBF, FFS)}
    off = {rival: [change(figures, cell, rival, WHOLE_BSBF) for cell in BELIEVED] for rival in (ALONE, WHOLE_FFS)}
    v100 = [change(figures, cell, "tiresias") for cell in OTHER_PAIRS]
    where = ceases(figures)
    return "\n".join(
        [
            f"* **Not on large clusters with jobs like ITP's or Philly's.** At load 1 the mean JCT of `sjf-bsbf` is "
            f"{each(LOGS, logs[ALONE])} compared with `sjf-backfill`, which has the same durations and shares nothing; "
            f"{each(LOGS, logs['gittins'])} compared with `gittins`, which requires none.",
            f"* **Hardly on the paper's clusters**: {each(BELIEVED, at[ALONE])} compared with `sjf-backfill`, and "
            f"{span(at['srtf'])} compared with `srtf`, which preempts.",
            f"* **The paper's claims depend on the slowdowns.** Compared with `tiresias`: {span(at['tiresias'])} with "
            f"pairs measured on P100, the type nearest to the paper's GPU; {span(v100)} with those of V100.",
            f"* **Turn accumulation off.** On the paper's clusters the mean JCT of `sjf-bsbf` then changes by "
            f"{span(whole[BSBF])} ({span(off[ALONE])} compared with `sjf-backfill`), that of `sjf-ffs` by "
            f"{span(whole[FFS])}. The test before sharing then gains nothing: {span(off[WHOLE_FFS])} compared with "
            "`sjf-ffs`.",
            f"* **Sharing ceases to be beneficial** where all pairs slow each other by a factor of {where['ITP']} "
            f"(ITP), {where['Philly']} (Philly), {where[PAPER[1].name]} ({PAPER[1].name}) or {where[EQUAL.name]} "
            f"({EQUAL.workload}). Measured pairs have a median of {measured('v100'):.2f} on V100 and "
            f"{measured('p100'):.2f} on P100.",
        ]
    )


def _whole(figures: Figures, policy: str) -> list[Difference]:
    """Of no accumulation to accumulation everywhere, on the paper's clusters."""
    return [change(figures, cell, policy, f"{policy}, accumulation=none") for cell in BELIEVED]


def each(cells: Sequence[Cell], found: Sequence[Difference]) -> str:
    """``+12 % (30 jobs), −3 % (240 jobs)``."""
    return ", ".join(f"{signed(one.percent, 0)} % ({cell.name})" for cell, one in zip(cells, found, strict=True))


def oracle(figures: Figures) -> str:
    """`gandiva-packing`, apart."""
    told = [f"{cell.name} {bold(change(figures, cell, PACKING[0]))}/{bold(change(figures, cell, PACKING[1]))}"
            for cell in MAIN]  # fmt: skip
    return f"`sjf-bsbf` compared with it, slices of 60/600 s, %: {'; '.join(told)}."


def errors(figures: Figures) -> str:
    """What errors of durations cost."""
    told = []
    for policy in (BSBF, ALONE, "srtf"):
        found = [change(figures, cell, policy, f"{policy}, σ = 1") for cell in MAIN]
        told.append(f"`{policy}` {span(found)}")
    return f"Log-normal errors of durations (σ = 1) change the mean JCT of {', '.join(told)}."


def claims(figures: Figures) -> str:
    """The paper's, and what we find."""
    claimed = {"tiresias": "−27 to −33", "pollux": "−27 to −33", FFS: "up to −17"}
    rows = [
        [named(rival), said, *(listed(figures, cells[: len(PAPER)], rival) for cells in (BELIEVED, OTHER_PAIRS))]
        for rival, said in claimed.items()
    ]
    return markdown(("compared with", "claimed, %", "measured, %", "with V100's pairs"), rows, words=2)


def wasted(figures: Figures) -> str:
    """How many share, and what they lose."""
    told = []
    for cell in LOGS:
        shared, slow = (figures.mean(cell.where, BSBF, name) for name in ("jobs_shared_ratio", "slow_down_mean"))
        told.append(f"{cell.name} {100 * shared:.0f} %, {slow:.2f} times")
    return f"Jobs that share under `sjf-bsbf`, and how much longer they run: {'; '.join(told)}."


BLOCKS: Final = {
    "answer": answer, "main": main_table, "mappings": mappings, "accumulation": accumulation, "oracle": oracle,
    "errors": errors, "claims": claims, "shared": wasted,
}  # fmt: skip
