"""What is filled into the page of the classical policies."""

from collections.abc import Sequence
from typing import Final

from benchmarks.results.figures import Difference, Figures, Where, markdown, plain, span

BACKFILL, LADDER = "fifo-backfill", "las, 20 thresholds"
UNTOLD: Final = ("fifo", BACKFILL, "kueue", "tiresias", "las", LADDER, "gittins")
NEEDING: Final = ("sjf", "sjf-backfill", "easy", "multifactor", "srtf")
PLACES: Final = ("few-racks", "tightest", "spread")
FAIRNESS: Final = (BACKFILL, "easy", "sjf-backfill", LADDER, "srtf", "gittins")
PREEMPTIVE: Final = ("las", "tiresias", "srtf")
FREE: Final = ("fifo", BACKFILL, *PREEMPTIVE)
MODERATE: Final = 0.85
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
    classical = (*UNTOLD[:2], *UNTOLD[3:6])
    other = [f"{named(where)}: `{best}`" for where in hard if (best := figures.best(where, classical)) != LADDER]
    spread, near = (
        [figures.change(where, f"{BACKFILL}, {place}", BACKFILL) for where in every(figures)]
        for place in ("spread", "few-racks")
    )
    nearer = to(f"{BACKFILL}, few-racks", BACKFILL)
    return "\n".join(
        [
            "* **No durations known: `las` with 20 thresholds**, "
            f"{to(LADDER, BACKFILL)} relative to `fifo-backfill`: the best classical policy in "
            f"{len(hard) - len(other)} of {len(hard)} workloads ({'; '.join(other)}). [`gittins`](gittins.md), our "
            f"default, is {to('gittins', LADDER)} relative to it.",
            "* **No preemption: let jobs overtake.** `fifo-backfill` is "
            f"{to(BACKFILL, 'fifo')} relative to `fifo`; with durations, `sjf-backfill` is "
            f"{to('sjf-backfill', BACKFILL)} relative to `fifo-backfill`.",
            f"* **True durations: `srtf`**, {to('srtf', LADDER)} relative to `las` with 20 thresholds. Errors of σ = 1 "
            f"change it by {to('srtf, σ = 1', 'srtf')}.",
            f"* **`easy` only if the first job must not be overtaken**: {to('easy', BACKFILL)} relative to "
            "`fifo-backfill`.",
            f"* **Consolidated, in few racks.** With `fifo-backfill`, `few-racks` is {nearer} relative to "
            f"`consolidated`. At all loads, it is worse beyond the interval in {_longer(near)} of {len(near)} cells, "
            f"`spread` in {_longer(spread)} (better in {_shorter(spread)}).",
            f"* **Queues.** `kueue` with equal quotas is {to('kueue', BACKFILL, queued)} relative to `fifo-backfill`, "
            f"`multifactor` {to('multifactor', BACKFILL)}.",
        ]
    )


def _longer(changes: Sequence[Difference]) -> int:
    """How many are above 0 beyond the interval."""
    return sum(change.low > 0 for change in changes)


def _shorter(changes: Sequence[Difference]) -> int:
    """How many are below 0 beyond the interval."""
    return sum(change.high < 0 for change in changes)


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
    worst = {who: [figures.mean(where, who, "fairness_rho_max") for where in hard] for who in FAIRNESS}
    most = ", ".join(f"`{who}` {max(values):,.0f}" for who, values in worst.items())
    lower = sum(easy < other for easy, other in zip(worst["easy"], worst[BACKFILL], strict=True))
    return f"{most}. `easy` has a lower one than `fifo-backfill` in {lower} of {len(hard)} workloads."


def claims(figures: Figures) -> str:
    """Of the sources."""
    cells = every(figures)
    fifo, backfill = (
        max(figures.mean(w, base) / figures.mean(w, "tiresias") for w in cells) for base in ("fifo", BACKFILL)
    )
    blurred = [figures.change(where, "easy, σ = 1", "easy") for where in cells]
    beaten = _shorter([figures.change(where, "gittins", "srtf") for where in cells])
    rows = [
        ["Tiresias: up to 5.5 times better mean JCT than a production manager based on YARN",
         f"up to {fifo:.1f} times against `fifo`, {backfill:.1f} against `fifo-backfill`",
         "against `fifo`" if backfill < YARN <= fifo else "see there"],
        ["Tiresias: comparable to perfect knowledge",
         f"{span(changes(figures, cells, 'tiresias', 'srtf'))} relative to `srtf`; `las` with 20 thresholds "
         f"{span(changes(figures, cells, LADDER, 'srtf'))}", "at low loads"],
        ["Inaccurate estimates help backfilling", f"`easy` with errors {span([c.percent for c in blurred])}; "
         f"shorter beyond the interval in {_shorter(blurred)} of {len(cells)} cells", "met"],
        ["Shortest remaining time first has the least mean JCT on one machine",
         f"`gittins` is ahead of `srtf` beyond the interval in {beaten} of {len(cells)}", "not with gangs"],
    ]  # fmt: skip
    return markdown(("claim", "here, all loads", "met?"), rows, words=3)


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
    return "\n".join(
        [
            f"* Overheads change `las`, `tiresias` and `srtf` by {span(costs)} (under 2 % nearly everywhere).",
            f"* Models change five policies by {span(models)} (up to 6 % on ITP cluster04, 11 % on Philly).",
            f"* `las` is {span(changes(figures, gentle, 'las', 'srtf'))} relative to `srtf` up to load 0.85 (3 to 15 % "
            "behind, 20 % on Philly).",
            f"* Spreading changes `fifo-backfill` by {span(changes(figures, cells, f'{BACKFILL}, spread', BACKFILL))} "
            f"(11 to 75 %), `easy` by {span(changes(figures, cells, 'easy, spread', 'easy'))} (nearly four times as "
            f"slow), `fifo` by {span(changes(figures, cells, 'fifo, spread', 'fifo'))} (−8 % at best).",
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
    jobs = figures.frame.filter(policy="fifo")["jobs"].to_list()
    unfinished = figures.frame["unfinished"].sum()
    return (
        f"{figures.frame.height:,} runs; {min(jobs):,} to {max(jobs):,} jobs count in each, and "
        f"{'all' if unfinished == 0 else f'all but {unfinished}'} of them ended."
    )


BLOCKS: Final = {
    "answer": answer, "untold": untold, "needing": needing, "places": places, "elsewhere": elsewhere,
    "fairness": fairness, "claims": claims, "fell": fell, "runs": runs,
}  # fmt: skip
