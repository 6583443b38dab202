"""What is filled into the page of the classical policies."""

from collections.abc import Sequence
from typing import Final

from benchmarks.results.figures import Difference, Figures, Where, markdown, plain, span

BACKFILL, LADDER = "fifo-backfill", "las, 20 thresholds"
TIGHT: Final = f"{LADDER}, tightest"
WITHOUT: Final = ("fifo", BACKFILL, "kueue", "tiresias", "las", LADDER, TIGHT, "gittins")
SLURM, SLURM_EASY = "multifactor", "multifactor, easy"
NEEDING: Final = ("sjf", "sjf-backfill", "easy", SLURM, SLURM_EASY, "srtf")
PLACES: Final = ("few-racks", "tightest", "spread")
FAIRNESS: Final = (BACKFILL, "easy", "sjf-backfill", LADDER, "srtf", "gittins")
YARN: Final = 5.5
"""Times by which Tiresias is better than a production manager, by its paper."""
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

    queued = [where for where in hard if figures.ran(where, "kueue")]
    classical = (*WITHOUT[:2], *WITHOUT[3:6])
    other = [f"{named(where)}: `{best}`" for where in hard if (best := figures.best(where, classical)) != LADDER]
    spread, near = (
        [figures.change(where, f"{BACKFILL}, {place}", BACKFILL) for where in every(figures)]
        for place in ("spread", "few-racks")
    )
    nearer = to(f"{BACKFILL}, few-racks", BACKFILL)
    return "\n".join(
        [
            f"* **Without durations: `las` with 20 thresholds**, {to(LADDER, BACKFILL)} relative to `fifo-backfill`. "
            f"It is the best classical policy on {len(hard) - len(other)} of {len(hard)} workloads "
            f"({'; '.join(other)}), placed on whole nodes. With `--placement tightest` it is {to(TIGHT, LADDER)} "
            f"relative to that. [`gittins`](gittins.md), our default, is {to('gittins', LADDER)} relative to the "
            f"first and {to('gittins', TIGHT)} to the second.",
            "* **Without preemption: let jobs overtake.** `fifo-backfill` is "
            f"{to(BACKFILL, 'fifo')} relative to `fifo`. With durations, `sjf-backfill` is "
            f"{to('sjf-backfill', BACKFILL)} relative to `fifo-backfill`.",
            f"* **With true durations: `srtf`**, {to('srtf', LADDER)} relative to `las` with 20 thresholds. Errors of "
            f"σ = 1 change it by {to('srtf, σ = 1', 'srtf')}.",
            f"* **`easy` only if the first job must not be overtaken**: {to('easy', BACKFILL)} relative to "
            "`fifo-backfill`.",
            f"* **Placement: consolidated, in few racks.** With `fifo-backfill`, `few-racks` is {nearer} relative to "
            f"`consolidated`. At all loads, it is worse beyond the interval in {_longer(near)} of {len(near)} cells. "
            f"`spread` is worse in {_longer(spread)} and better in {_shorter(spread)}.",
            f"* **Queues.** `kueue` with equal quotas is {to('kueue', BACKFILL, queued)} relative to `fifo-backfill`, "
            f"`multifactor` {to(SLURM, BACKFILL)}. Slurm's backfilling, with reservations for up to 500 jobs, is "
            f"{to(SLURM, SLURM_EASY)} relative to a reservation for the first job alone.",
        ]
    )


def _longer(changes: Sequence[Difference]) -> int:
    """How many are above 0 beyond the interval."""
    return sum(change.low > 0 for change in changes)


def _shorter(changes: Sequence[Difference]) -> int:
    """How many are below 0 beyond the interval."""
    return sum(change.high < 0 for change in changes)


def without(figures: Figures) -> str:
    """Percent above the bound of policies that require no durations."""
    hard = hardest(figures)
    rows = [[policy, *figures.told(policy), *(_above(figures, where, policy) for where in hard)] for policy in WITHOUT]
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
    if not figures.ran(where, policy):
        return "–"
    return plain(figures.mean(where, policy, "above_bound_percent"))


def places(figures: Figures) -> str:
    """Change of mean JCT by placement."""
    rows = [
        [named(where), *(str(figures.change(where, f"{BACKFILL}, {place}", BACKFILL)) for place in PLACES)]
        for where in hardest(figures)
    ]
    return markdown(("workload, load", *PLACES), rows)


def elsewhere(figures: Figures) -> str:
    """Placements of other policies."""
    hard = hardest(figures)
    srtf = (f"`{place}` {span(changes(figures, hard, f'srtf, {place}', 'srtf'))}" for place in PLACES)
    return f"`srtf` depends less on placement: {', '.join(srtf)}."


def fairness(figures: Figures) -> str:
    """The worst finish-time fairness."""
    hard = hardest(figures)
    worst = {who: [figures.greatest(where, who, "fairness_rho_max") for where in hard] for who in FAIRNESS}
    most = ", ".join(f"`{who}` {max(values):,.0f}" for who, values in worst.items())
    lower = sum(easy < other for easy, other in zip(worst["easy"], worst[BACKFILL], strict=True))
    return f"{most}. `easy` has a lower one than `fifo-backfill` in {lower} of {len(hard)} workloads."


def claims(figures: Figures) -> str:
    """Of the sources."""
    cells = every(figures)
    fifo, backfill = (
        max(figures.mean(w, base) / figures.mean(w, "tiresias") for w in cells) for base in ("fifo", BACKFILL)
    )
    near = [change for change in changes(figures, cells, "tiresias", "srtf") if abs(change) <= COMPARABLE]
    blurred = [figures.change(where, "easy, σ = 1", "easy") for where in cells]
    beaten = _shorter([figures.change(where, "gittins", "srtf") for where in cells])
    rows = [
        ["Tiresias: up to 5.5 times better mean JCT than a production manager based on YARN",
         f"up to {fifo:.1f} times against `fifo`, {backfill:.1f} against `fifo-backfill`",
         _met(against_fifo=fifo >= YARN, against_backfill=backfill >= YARN)],
        ["Tiresias: comparable to perfect knowledge",
         f"{span(changes(figures, cells, 'tiresias', 'srtf'))} relative to `srtf`; `las` with 20 thresholds "
         f"{span(changes(figures, cells, LADDER, 'srtf'))}",
         f"within {COMPARABLE} % in {len(near)} of {len(cells)} cells"],
        ["Inaccurate estimates help backfilling", f"`easy` with errors {span([c.percent for c in blurred])}",
         f"in {_shorter(blurred)} of {len(cells)} cells; worse in {_longer(blurred)}"],
        ["Shortest remaining time first has the least mean JCT on one machine",
         f"`gittins` is ahead of `srtf` beyond the interval in {beaten} of {len(cells)} cells",
         "not with gangs" if beaten else "met"],
    ]  # fmt: skip
    return markdown(("claim", "here, all loads", "met?"), rows, words=3)


COMPARABLE: Final = 5


def _met(**checks: bool) -> str:
    """For which of the baselines."""
    held = [name.replace("_", " ") for name, holds in checks.items() if holds]
    return "not met" if not held else "met" if len(held) == len(checks) else " and ".join(held)


def runs(figures: Figures) -> str:
    """How many there are, and how many jobs count."""
    jobs = figures.frame.filter(policy="fifo")["jobs"].to_list()
    unfinished = figures.frame["unfinished"].sum()
    return (
        f"{figures.frame.height:,} runs; {min(jobs):,} to {max(jobs):,} jobs count in each, and "
        f"{'all' if unfinished == 0 else f'all but {unfinished}'} of them ended."
    )


BLOCKS: Final = {
    "answer": answer, "without": without, "needing": needing, "places": places, "elsewhere": elsewhere,
    "fairness": fairness, "claims": claims, "runs": runs,
}  # fmt: skip
