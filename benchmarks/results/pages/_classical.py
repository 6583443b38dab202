"""What is filled into the page of the classical policies."""

from collections.abc import Sequence
from typing import Final

from benchmarks.results.figures import Figures, Where, markdown, plain, span

BACKFILL, LADDER = "fifo-backfill", "las, 20 thresholds"
UNTOLD: Final = ("fifo", BACKFILL, "kueue", "tiresias", "las", LADDER, "gittins")
NEEDING: Final = ("sjf", "sjf-backfill", "easy", "multifactor", "srtf")
PLACES: Final = ("few-racks", "tightest", "spread")
FAIRNESS: Final = (BACKFILL, "easy", "sjf-backfill", LADDER, "srtf", "gittins")
PREEMPTIVE: Final = ("las", "tiresias", "srtf")
FREE: Final = ("fifo", BACKFILL, *PREEMPTIVE)
MODERATE: Final = 0.85
QUEUED: Final = ("suite philly", "suite itp", "suite helios", "Philly")
"""Workloads whose jobs are in several queues."""


def at(workload: str, load: float, *, models: bool = True, overheads: str = "realistic") -> Where:
    """The cell."""
    return {"workload": workload, "load": load, "models": models, "overheads": overheads}


def every(figures: Figures) -> list[Where]:
    """Each workload at each load."""
    return [at(**cell) for cell in figures.cells("workload", "load")]


def hardest(figures: Figures) -> list[Where]:
    """Each workload at its highest load."""
    return list({where["workload"]: where for where in every(figures)}.values())


def named(where: Where) -> str:
    """As tables have it."""
    return f"{where['workload']} {where['load']}"


def changes(figures: Figures, wheres: Sequence[Where], policy: str, base: str) -> list[float]:
    """Of mean JCT, percent, in each cell."""
    return [figures.change(where, policy, base).percent for where in wheres]


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    hard = hardest(figures)

    def to(policy: str, base: str, wheres: Sequence[Where] = hard) -> str:
        return span(changes(figures, wheres, policy, base))

    queued = [where for where in hard if where["workload"] in QUEUED]
    ladder = [where for where in hard if figures.best(where, UNTOLD[:2] + UNTOLD[3:6]) == LADDER]
    return "\n".join(
        [
            f"* **No durations: `las` with 20 thresholds.** Mean JCT {to(LADDER, BACKFILL)} against `fifo-backfill`, "
            f"the best of the classical policies in {len(ladder)} of {len(hard)} workloads. "
            f"[`gittins`](gittins.md), our default, is {to('gittins', LADDER)} against it.",
            f"* **No preemption: let jobs overtake.** `fifo-backfill` is {to(BACKFILL, 'fifo')} against `fifo`. With "
            f"durations, `sjf-backfill` is {to('sjf-backfill', BACKFILL)} against `fifo-backfill`.",
            f"* **True durations: `srtf`** is {to('srtf', LADDER)} against `las` with 20 thresholds. Errors of σ = 1 "
            f"change its mean JCT by {to('srtf, σ = 1', 'srtf')}.",
            f"* **Not `easy`, unless the first job must not wait.** It is {to('easy', BACKFILL)} against "
            "`fifo-backfill`.",
            f"* **Consolidated in few racks, never spread.** For `fifo-backfill`, `few-racks` changes mean JCT by "
            f"{to(f'{BACKFILL}, few-racks', BACKFILL)} against `consolidated`, `spread` by "
            f"{to(f'{BACKFILL}, spread', BACKFILL)}.",
            f"* **Shares of queues cost little**: `kueue` is {to('kueue', BACKFILL, queued)} against "
            f"`fifo-backfill`, `multifactor` {to('multifactor', BACKFILL)}.",
        ]
    )


def untold(figures: Figures) -> str:
    """Percent above the bound of policies that are told no durations."""
    hard = hardest(figures)
    rows = [[policy, *figures.told(policy), *(_above(figures, where, policy) for where in hard)] for policy in UNTOLD]
    return markdown(("policy", "durations", "profiles", "progress", *map(named, hard)), rows, words=4)


def needing(figures: Figures) -> str:
    """Percent above the bound with true durations, and with errors."""
    hard = hardest(figures)
    rows = [
        [policy, *figures.told(policy)[1:],
         *("/".join(_above(figures, where, who) for who in (policy, f"{policy}, σ = 1")) for where in hard)]
        for policy in NEEDING
    ]  # fmt: skip
    return markdown(("policy", "profiles", "progress", *map(named, hard)), rows, words=3)


def _above(figures: Figures, where: Where, policy: str) -> str:
    if policy == "kueue" and where["workload"] not in QUEUED:
        return "–"
    return plain(figures.mean(where, policy, "above_bound_percent"))


def places(figures: Figures) -> str:
    """Change of mean JCT by placement."""
    rows = [
        [named(where), *(str(figures.change(where, f"{policy}, {place}", policy))
                         for policy in (BACKFILL, "srtf") for place in PLACES)]
        for where in hardest(figures)
    ]  # fmt: skip
    return markdown(("workload, load", *(f"{who}, {place}" for who in (BACKFILL, "srtf") for place in PLACES)), rows)


def fairness(figures: Figures) -> str:
    """The worst finish-time fairness."""
    rows = [
        [named(where), *(plain(figures.mean(where, policy, "fairness_rho_max")) for policy in FAIRNESS)]
        for where in hardest(figures)
    ]
    return markdown(("workload, load", *FAIRNESS), rows)


def claims(figures: Figures) -> str:
    """Of the sources."""
    cells = every(figures)
    fifo, backfill = (
        max(figures.mean(w, base) / figures.mean(w, "tiresias") for w in cells) for base in ("fifo", BACKFILL)
    )
    blurred = [figures.change(where, "easy, σ = 1", "easy") for where in cells]
    better = sum(change.high < 0 for change in blurred)
    beaten = sum(figures.change(where, "gittins", "srtf").high < 0 for where in cells)
    rows = [
        ["Tiresias: mean JCT up to 5.5 times shorter than under a production manager based on YARN",
         f"up to {fifo:.1f} times `fifo`, {backfill:.1f} times `fifo-backfill`", "met"],
        ["Tiresias: comparable to perfect knowledge",
         f"two thresholds {span(changes(figures, cells, 'tiresias', 'srtf'))} to `srtf`; "
         f"`las` with 20 {span(changes(figures, cells, LADDER, 'srtf'))}", "in part"],
        ["Inaccurate estimates help backfilling", f"`easy`, σ = 1, {span([c.percent for c in blurred])} to exact; "
         f"certainly shorter in {better} of {len(cells)}", "in part"],
        ["SRPT has the least mean JCT on one machine",
         f"`gittins` is certainly shorter than `srtf` in {beaten} of {len(cells)}", "not with gangs"],
    ]  # fmt: skip
    return markdown(("claim", "here, all loads", ""), rows, words=3)


def fell(figures: Figures) -> str:
    """What the earlier page said, and what holds."""
    cells = every(figures)
    costs = [
        figures.change(where, policy, policy, base_where={**where, "overheads": "none"}).percent
        for where in cells
        for policy in PREEMPTIVE
    ]
    models = _of_models(figures, cells)
    gentle = [where for where in cells if where["load"] <= 0.85]
    philly = [where for where in cells if where["workload"] == "Philly"]
    return "\n".join(
        [
            f"* Overheads change mean JCT by {span(costs)} for `las`, `tiresias` and `srtf` (earlier: under 2 % nearly "
            "everywhere).",
            f"* Models matter: {span(models)} for five policies (earlier: up to 6 % on ITP cluster04, 11 % on Philly).",
            f"* `las` is {span(changes(figures, gentle, 'las', 'srtf'))} to `srtf` up to load 0.85 (earlier: 3 to "
            "15 % behind, 20 % on Philly).",
            f"* `easy` is {span(changes(figures, philly, 'easy', BACKFILL))} to `fifo-backfill` on Philly (earlier: "
            "within 11 %).",
            f"* Spreading is {span(changes(figures, cells, f'{BACKFILL}, spread', BACKFILL))} for `fifo-backfill`, "
            f"{span(changes(figures, cells, 'easy, spread', 'easy'))} for `easy` and "
            f"{span(changes(figures, cells, 'fifo, spread', 'fifo'))} for `fifo` (earlier: 11 to 75 %, nearly four "
            "times as slow, and −8 % at best).",
        ]
    )


def _of_models(figures: Figures, cells: Sequence[Where]) -> list[float]:
    """Change of mean JCT when jobs have models."""
    return [
        100 * (figures.mean(where, policy) / figures.mean({**where, "models": False}, policy) - 1)
        for where in cells
        for policy in FREE
    ]


def runs(figures: Figures) -> str:
    """How many there are, and how many jobs count."""
    jobs = figures.frame.filter(policy="fifo")["jobs"]
    return (
        f"{figures.frame.height:,} runs; {jobs.min():,} to {jobs.max():,} jobs count in a run, and "  # ty: ignore
        f"{figures.frame['unfinished'].sum()} of them did not end."
    )


BLOCKS: Final = {
    "answer": answer, "untold": untold, "needing": needing, "places": places, "fairness": fairness,
    "claims": claims, "fell": fell, "runs": runs,
}  # fmt: skip
