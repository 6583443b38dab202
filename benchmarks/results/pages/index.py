"""All policies on the same jobs: generated ones like three clusters, and three logs, each at its highest load."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from benchmarks.classical.cases import Case, cases_by_name
from benchmarks.gittins.contestants import KEEPING, LADDER_GPU_S, PERIODIC
from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.figures import Figures, Where, markdown, plain
from benchmarks.results.trials import Trial

SEEDS: Final = (0, 1, 2)
WORKLOADS: Final = ("suite philly", "suite itp", "suite helios", "Philly", "ITP cluster04", "ITP cluster08")


@dataclass(frozen=True)
class Cell:
    """One source of jobs."""

    workload: str
    load: float
    overheads: str = "realistic"


FINE: Final = "las, 20 thresholds, tightest"
WITHOUT: Final = (
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("kueue", "kueue"),
    Contestant("las, tightest", "las", placement="tightest"),
    Contestant("las, 20 thresholds", "las", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant(FINE, "las", {"thresholds_gpu_s": LADDER_GPU_S}, placement="tightest"),
    Contestant("tiresias", "tiresias"),
    Contestant("dally", "dally"),
    Contestant("dally-whole-nodes", "dally-whole-nodes"),
    Contestant("gittins", "gittins"),
)
"""They require no durations."""
BACKFILL, OURS = WITHOUT[0], WITHOUT[-1]
COSTLY: Final = tuple(
    (*(who for who in WITHOUT if who.policy in ("fifo-backfill", "dally", "gittins") or who.label == FINE), KEEPING)
)
"""Those that are shown where preempted jobs lose work."""
ESTIMATED: Final = (
    Contestant("easy", "easy", estimate="lognormal:1"),
    Contestant("srtf, σ = 1", "srtf", estimate="lognormal:1"),
    Contestant("gittins, σ = 1", "gittins", {"predictor": "estimate"}, estimate="lognormal:1"),
    Contestant("sjf-bsbf, σ = 1", "sjf-bsbf", estimate="lognormal:1"),
)
"""They use durations with errors: a log-normal factor with σ = 1."""
ORACLES: Final = (
    Contestant("srtf", "srtf"),
    Contestant("gittins, true durations", "gittins", {"predictor": "estimate"}, estimate="oracle"),
    Contestant("sjf-bsbf", "sjf-bsbf"),
)
LEARNED: Final = (
    Contestant("topdrl", "topdrl"),
    Contestant("metarl", "metarl"),
    Contestant("marl", "marl"),
)
"""With the shipped weights; they use true durations."""


def trials(data: Path) -> Iterator[Trial]:
    """Fast policies first: they are done in a minute."""
    places = [(Cell(name, max(_case(name, data).loads)), _case(name, data).seeds) for name in WORKLOADS]
    for who in ((*WITHOUT, *ESTIMATED, *ORACLES), *((learned,) for learned in LEARNED)):
        yield from (Trial(cell, seed, who) for cell, seeds in places for seed in SEEDS if seed in seeds)
    for cell, seeds in places:
        yield from (Trial(cell, seed, (KEEPING,)) for seed in SEEDS if seed in seeds)
        yield from (Trial(replace(cell, overheads=PERIODIC), seed, COSTLY) for seed in SEEDS if seed in seeds)


def _case(name: str, data: Path) -> Case:
    return cases_by_name(data / "traces")[name]


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """The jobs with typical models, realistic overheads; gangs wider than the cluster are left out."""
    case = _case(cell.workload, data)
    options = {"assign_models": 0, "oversized": "drop", "overheads": cell.overheads}
    return Setting(case.workload(cell.load, seed), case.cluster, options, case.warmup_ratio)


def cells(figures: Figures, overheads: str = "realistic") -> list[Where]:
    """The columns of a table."""
    return [cell for cell in figures.cells("workload", "load", "overheads") if cell["overheads"] == overheads]


def above(figures: Figures, where: Where, who: Contestant) -> float:
    """Percent of mean JCT above the lower bound."""
    return figures.mean(where, who.label, "above_bound_percent")


def _heads(figures: Figures) -> list[str]:
    return [f"{c['workload']} {c['load']:g}" for c in cells(figures)]


def table(figures: Figures, group: Sequence[Contestant]) -> str:
    """Mean JCT above the bound, and the worst fairness, in each cell."""
    rows = [[who.label, figures.told(who.label)[0], *_row(figures, who)] for who in group]
    return markdown(("policy", "durations", *_heads(figures)), rows, words=2)


def _row(figures: Figures, who: Contestant) -> list[str]:
    return [
        f"{plain(above(figures, c, who))} / {plain(figures.greatest(c, who.label, 'fairness_rho_max'))}"
        for c in cells(figures)
    ]


def costly(figures: Figures) -> str:
    """Mean JCT above the bound if preempted jobs lose work."""
    rows = [[who.label, *(plain(above(figures, c, who)) for c in cells(figures, PERIODIC))] for who in COSTLY[1:]]
    return markdown(("policy", *_heads(figures)), rows)


def _best(figures: Figures, group: Sequence[Contestant], where: Where) -> Contestant:
    return min(group, key=lambda who: above(figures, where, who))


def gains(figures: Figures, other: Contestant = BACKFILL, overheads: str = "realistic") -> list[float]:
    """Percent by which the mean JCT of the default is below that of another policy, in each cell."""
    return [-figures.change(cell, OURS.label, other.label).percent for cell in cells(figures, overheads)]


def answer(figures: Figures) -> str:
    """Which policy to use, what it gains, and on which conditions."""
    least, most = min(gains(figures)), max(gains(figures))
    return "\n".join(
        [
            f"* **Use `{OURS.label}`**, our default. It requires no durations: it learns them from completed jobs.",
            f"* **Gain**: mean JCT is {least:.1f} to {most:.1f} % below that of `{BACKFILL.label}`. {_leads(figures)}",
            "* **Conditions**: high load and preemption. [At lower loads](gittins.md#at-lower-loads) and "
            "[without preemption](gittins.md#without-preemption) it gains less. It uses the progress of jobs, and "
            f"profiles of models that have one. {_if_work_is_lost(figures)}",
            f"* **Price**: {_fairness(figures)}",
            f"* **Learned policies** (`topdrl`, `metarl`, `marl`) use true durations. {_learned(figures)}",
        ]
    )


def _if_work_is_lost(figures: Figures) -> str:
    """What the default gains where preempted jobs lose work, and whether it would gain more without preemption."""
    found, kept = gains(figures, BACKFILL, PERIODIC), gains(figures, KEEPING, PERIODIC)
    better = sum(gain < 0 for gain in kept)
    return (
        "Where preempted jobs [lose up to 30 minutes of work](#if-preempted-jobs-lose-work), it gains "
        f"{min(found):.1f} to {max(found):.1f} %; preempting nothing is better on {better} of {len(kept)} workloads."
    )


CERTAIN: Final = "Its lead over the best of the others is significant only on ITP cluster08 ([intervals](gittins.md))."


def _leads(figures: Figures) -> str:
    """In how many columns the default has the least mean JCT, and how far it is behind elsewhere."""
    gaps = {str(c["workload"]): -above(figures, c, _best(figures, WITHOUT, c)) for c in cells(figures)}
    for cell in cells(figures):
        gaps[str(cell["workload"])] += above(figures, cell, OURS)
    behind = {name: gap for name, gap in gaps.items() if gap > 0}
    first = f"It has the least mean JCT of the policies without durations on {len(gaps) - len(behind)} of {len(gaps)}"
    if not behind:
        return f"{first} workloads. {CERTAIN}"
    worst = max(behind, key=lambda name: behind[name])
    return f"{first} workloads, and is at most {plain(behind[worst])} points of the bound behind ({worst}). {CERTAIN}"


def _learned(figures: Figures) -> str:
    """The best of them against two policies without durations."""
    best = {str(c): above(figures, c, _best(figures, LEARNED, c)) for c in cells(figures)}
    better = sum(best[str(c)] < above(figures, c, BACKFILL) for c in cells(figures))
    worse = sum(best[str(c)] > above(figures, c, OURS) for c in cells(figures))
    return (
        f"The best of them is ahead of `{BACKFILL.label}` on {better} of {len(best)} workloads and behind "
        f"`{OURS.label}` on {worse}. They do not preempt, and were trained on other clusters."
    )


def _fairness(figures: Figures) -> str:
    """The worst ρ of the default and of the policy where it is least."""

    def worst(who: Contestant) -> float:
        return max(figures.greatest(cell, who.label, "fairness_rho_max") for cell in cells(figures))

    least = min(WITHOUT, key=worst)
    return (
        "wide gangs [wait long](../adr/0018-no-gang-waits-for-ever.md). The worst ρ, a job's JCT over that with an "
        "equal share of the cluster, is up to "
        f"{plain(worst(OURS))}. It is up to {plain(worst(least))} with `{least.label}` and up to "
        f"{plain(worst(BACKFILL))} with `{BACKFILL.label}`."
    )


BLOCKS = {
    "answer": answer,
    "without": lambda figures: table(figures, WITHOUT),
    "costly": costly,
    "with": lambda figures: table(figures, (*ESTIMATED, *ORACLES, *LEARNED)),
}


def draw(figures: Figures, path: Path) -> None:
    """Mean JCT above the bound in each cell."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from benchmarks.results.axes import above_bound

    mpl.rcParams["svg.hashsalt"] = "index"
    figure = Figure(figsize=(8.5, 4.2), layout="constrained")
    axes = figure.subplots()
    places = cells(figures)
    shown = (*WITHOUT, ORACLES[0], *LEARNED)
    for k, (who, marker) in enumerate(zip(shown, "sP<v>^oDd|*xX", strict=True)):
        values, named = [above(figures, c, who) for c in places], who.label
        label = f"{named}, true durations" if who in ORACLES or who in LEARNED else named
        colour = f"C{k}" if k < 10 else "black"
        axes.plot(values, range(len(places)), marker, color=colour, label=label, markersize=7, markeredgewidth=1.5)
    above_bound(axes, [f"{c['workload']}, load {c['load']:g}" for c in places])
    figure.legend(loc="outside upper center", ncols=4, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
