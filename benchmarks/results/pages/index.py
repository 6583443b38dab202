"""All policies on the same jobs: generated ones like three clusters, and three logs, each at its highest load."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.classical.cases import Case, cases_by_name
from benchmarks.gittins.contestants import LADDER_GPU_S
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


UNTOLD: Final = (
    Contestant("fifo-backfill", "fifo-backfill"),
    Contestant("kueue", "kueue"),
    Contestant("las, 20 thresholds", "las", {"thresholds_gpu_s": LADDER_GPU_S}),
    Contestant("tiresias", "tiresias"),
    Contestant("dally", "dally"),
    Contestant("dally-whole-nodes", "dally-whole-nodes"),
    Contestant("gittins", "gittins"),
)
"""Told no durations."""
TOLD: Final = (
    Contestant("easy", "easy", estimate="lognormal:1"),
    Contestant("srtf, σ = 1", "srtf", estimate="lognormal:1", placement="tightest"),
    Contestant("gittins, σ = 1", "gittins", {"predictor": "estimate"}, estimate="lognormal:1"),
    Contestant("sjf-bsbf, σ = 1", "sjf-bsbf", estimate="lognormal:1"),
)
"""Told durations with errors: a factor of e to 1 standard deviation."""
ORACLES: Final = (
    Contestant("srtf", "srtf", placement="tightest"),
    Contestant("gittins, told", "gittins", {"predictor": "estimate"}, estimate="oracle"),
    Contestant("sjf-bsbf", "sjf-bsbf"),
)
LEARNED: Final = tuple(Contestant(name, name) for name in ("topdrl", "metarl", "marl"))
"""With the weights that are shipped; told true durations."""


def trials(data: Path) -> Iterator[Trial]:
    """Fast policies first: they are done in a minute."""
    places = [(Cell(name, max(_case(name, data).loads)), _case(name, data).seeds) for name in WORKLOADS]
    for who in ((*UNTOLD, *TOLD, *ORACLES), *((learned,) for learned in LEARNED)):
        yield from (Trial(cell, seed, who) for cell, seeds in places for seed in SEEDS if seed in seeds)


def _case(name: str, data: Path) -> Case:
    return cases_by_name(data / "traces")[name]


def setting(cell: Cell, seed: int, data: Path) -> Setting:
    """The jobs with typical models, realistic overheads; gangs wider than the cluster are left out."""
    case = _case(cell.workload, data)
    options = {"assign_models": 0, "oversized": "drop", "overheads": "realistic"}
    return Setting(case.workload(cell.load, seed), case.cluster, options, case.warmup_ratio)


def cells(figures: Figures) -> list[Where]:
    """The columns of the tables."""
    return figures.cells("workload", "load")


def above(figures: Figures, where: Where, who: Contestant) -> float:
    """Percent of mean JCT above the lower bound."""
    return figures.mean(where, who.label, "above_bound_percent")


def table(figures: Figures, group: Sequence[Contestant]) -> str:
    """Mean JCT above the bound, and the worst fairness, in each cell."""
    columns = ("policy", "told of durations", *(f"{c['workload']} {c['load']:g}" for c in cells(figures)))
    return markdown(columns, [[who.label, figures.told(who.label)[0], *_row(figures, who)] for who in group], words=2)


def _row(figures: Figures, who: Contestant) -> list[str]:
    return [
        f"{plain(above(figures, c, who))} / {plain(figures.mean(c, who.label, 'fairness_rho_max'))}"
        for c in cells(figures)
    ]


def _best(figures: Figures, group: Sequence[Contestant], where: Where) -> Contestant:
    return min(group, key=lambda who: above(figures, where, who))


def answer(figures: Figures) -> str:
    """Which policy leads where."""
    leads: dict[str, list[str]] = {}
    for cell in cells(figures):
        leads.setdefault(_best(figures, UNTOLD, cell).label, []).append(str(cell["workload"]))
    told = [f"`{who}` ({', '.join(where)})" for who, where in sorted(leads.items(), key=lambda item: -len(item[1]))]
    ours, backfill = ([above(figures, c, who) for c in cells(figures)] for who in (UNTOLD[-1], UNTOLD[0]))
    learnt = [above(figures, c, _best(figures, LEARNED, c)) for c in cells(figures)]
    better = sum(mine < other for mine, other in zip(learnt, backfill, strict=True))
    behind = sum(mine > other for mine, other in zip(learnt, ours, strict=True))
    return "\n".join(
        [
            f"* **Told nothing of durations**, least mean JCT: {'; '.join(told)}. `gittins` is {_plain(ours)} % above "
            f"the lower bound, `fifo-backfill` {_plain(backfill)} %.",
            f"* **No policy leads everywhere.** {_exceptions(figures)}",
            "* **The learned policies** (`topdrl`, `metarl`, `marl`, told true durations, with the shipped weights): "
            f"the best of them is ahead of `fifo-backfill` in {better} of {len(ours)} columns and behind `gittins`, "
            f"which is told nothing, in {behind}. They were trained on other clusters.",
            f"* **Fairness**: {_fairness(figures)}",
        ]
    )


def _plain(values: Sequence[float]) -> str:
    return f"{plain(min(values))} to {plain(max(values))}"


def _exceptions(figures: Figures) -> str:
    """How far the leader of most columns is behind, at most."""
    ours = UNTOLD[-1]
    gaps = {
        str(c["workload"]): above(figures, c, ours) - above(figures, c, _best(figures, UNTOLD, c))
        for c in cells(figures)
    }
    worst = max(gaps, key=lambda name: gaps[name])
    return f"`{ours.label}` is behind the best by at most {plain(gaps[worst])} points ({worst})."


def _fairness(figures: Figures) -> str:
    """Who has the least worst ρ, by column."""
    least: dict[str, int] = {}
    for cell in cells(figures):
        who = min(UNTOLD, key=lambda who: figures.mean(cell, who.label, "fairness_rho_max"))
        least[who.label] = least.get(who.label, 0) + 1
    told = ", ".join(f"`{who}` in {n}" for who, n in sorted(least.items(), key=lambda item: -item[1]))
    several = f"of {len(cells(figures))} columns"
    return (
        f"of the policies told nothing, the worst ρ (JCT to that with an equal share) is least under {told} {several}."
    )


BLOCKS = {
    "answer": answer,
    "untold": lambda figures: table(figures, UNTOLD),
    "told": lambda figures: table(figures, (*TOLD, *ORACLES, *LEARNED)),
}


def draw(figures: Figures, path: Path) -> None:
    """Mean JCT above the bound in each cell."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    from benchmarks.results.axes import above_bound

    mpl.rcParams["svg.hashsalt"] = "index"
    figure = Figure(figsize=(8.5, 4.0), layout="constrained")
    axes = figure.subplots()
    places = cells(figures)
    shown = (*UNTOLD, ORACLES[0], *LEARNED)
    for who, marker in zip(shown, "sPv^oDd|*xX", strict=True):
        values = [above(figures, c, who) for c in places]
        axes.plot(values, range(len(places)), marker, label=who.label, markersize=7, markeredgewidth=1.5)
    above_bound(axes, [f"{c['workload']} {c['load']:g}" for c in places])
    figure.legend(loc="outside upper center", ncols=6, frameon=False, fontsize=8)
    figure.savefig(path, metadata={"Date": None})
