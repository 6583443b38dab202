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

BSBF, FFS, WHOLE_FFS, ALONE = "sjf-bsbf", "sjf-ffs", "sjf-ffs, accumulation=none", "sjf-backfill"
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
    """The same jobs on what the paper's GPU may be taken for."""
    rivals = (*PREEMPTIVE, ALONE, FFS, WHOLE_FFS)
    rows = [
        [name, *(", ".join(bold(change(figures, cell, rival)) for cell in cells) for rival in rivals)]
        for name, cells in MAPPINGS.items()
    ]
    return markdown(("GPU", *(named(rival) for rival in rivals)), rows)


def accumulation(figures: Figures) -> str:
    """What the ways to accumulate do to the mean JCT."""
    rows = []
    for cell in (*BELIEVED, *LESS_MEMORY):
        row = [f"{cell.name}{', 16 GiB' if cell.is_log else ''}"]
        for policy in (BSBF, FFS):
            row.append(f"{100 * figures.mean(cell.where, policy, 'accumulated_ratio'):.1f}")
            row += [str(change(figures, cell, policy, f"{policy}, accumulation={how}")) for how in ("exact", "none")]
        rows.append(row)
    heads = (word for policy in (BSBF, FFS) for word in (f"{policy}: accumulating, %", "`exact`", "`none`"))
    return markdown(("jobs", *heads), rows)


def crossing(figures: Figures, cell: Cell) -> float | None:
    """The slowdown of all pairs at which `sjf-bsbf` is as fast as `sjf-backfill`; None if it is at none of them."""
    swept = [(float(xi), change(figures, replace(cell, slowdown=xi), ALONE).percent) for xi in CONSTANTS]
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
    v100 = [change(figures, cell, "tiresias") for cell in OTHER_PAIRS]
    where = ceases(figures)
    return "\n".join(
        [
            f"* **Not on large clusters with jobs like ITP's or Philly's.** At load 1 the mean JCT of `sjf-bsbf` "
            f"differs by {each(LOGS, logs[ALONE])} from that of `sjf-backfill`, which has the same information and "
            f"shares nothing. Compared with `gittins`, which requires no durations: {each(LOGS, logs['gittins'])}.",
            f"* **Hardly on the paper's clusters.** Compared with `sjf-backfill`: {each(BELIEVED, at[ALONE])}. "
            f"Preemption with the same durations (`srtf`) is better: {span(at['srtf'])} compared with it.",
            f"* **The claims depend on the table of slowdowns.** Compared with `tiresias` the change is "
            f"{span(at['tiresias'])} with pairs measured on P100, the type nearest to the paper's GPU, and "
            f"{span(v100)} with those of V100.",
            f"* **Gradient accumulation does more harm than good.** Without it the mean JCT of `sjf-bsbf` changes by "
            f"{span(whole[BSBF])}, that of `sjf-ffs` by {span(whole[FFS])}. The gain over `sjf-ffs` ({span(at[FFS])}) "
            f"is then gone: {span(at[WHOLE_FFS])}.",
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
    return f"`sjf-bsbf` compared with it, slices of 60 s/600 s, %: {'; '.join(told)}."


def errors(figures: Figures) -> str:
    """What errors of durations cost."""
    told = []
    for policy in (BSBF, ALONE, "srtf"):
        found = [change(figures, cell, policy, f"{policy}, σ = 1") for cell in MAIN]
        told.append(f"`{policy}` {span(found)}")
    return f"Log-normal errors of durations (σ = 1) change the mean JCT of {', '.join(told)}."


def claims(figures: Figures) -> str:
    """The paper's, and what we find."""

    def found(cells: Sequence[Cell], rival: str) -> str:
        return ", ".join(str(change(figures, cell, rival)) for cell in cells)

    rows = [
        ["preemptive: `tiresias`", "−27 to −33", found(PAPER, "tiresias")],
        ["preemptive: `pollux`", "−27 to −33", found(PAPER, "pollux")],
        ["`sjf-ffs`", "to −17", found(PAPER, FFS)],
        ["`sjf-ffs`, accumulation=none", "to −17", found(PAPER, WHOLE_FFS)],
    ]
    return markdown(("`sjf-bsbf` compared with", "claimed, %", "measured, %: 30, 240, 480 jobs"), rows, words=3)


def wasted(figures: Figures) -> str:
    """How many share, and what they lose."""
    told = []
    for cell in MAIN:
        shared, slow = (figures.mean(cell.where, BSBF, name) for name in ("jobs_shared_ratio", "slow_down_mean"))
        told.append(f"{cell.name} {100 * shared:.0f} %, {slow:.2f} times")
    return f"Jobs that share under `sjf-bsbf`, and how much longer they run: {'; '.join(told)}."


BLOCKS: Final = {
    "answer": answer, "main": main_table, "mappings": mappings, "accumulation": accumulation, "oracle": oracle,
    "errors": errors, "claims": claims, "shared": wasted,
}  # fmt: skip
