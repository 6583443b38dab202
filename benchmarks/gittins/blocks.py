"""What is filled into the page of `gittins`."""

from collections.abc import Sequence
from typing import Final

import polars as pl

from benchmarks.gittins.contestants import COSTLY, GITTINS, NONE, ORACLES, PERIODIC, RIVALS
from benchmarks.gittins.figures import above, against, best, closed, distance, has_days
from benchmarks.results.figures import Figures, Where, how_many_sure, markdown, signed, spread
from benchmarks.results.trials import DATA

SHOWN: Final = ("las, 20 thresholds", "las, 20 thresholds, tightest", "dally", "dally, 600 s", GITTINS)
HINTS: Final = tuple(f"gittins, {hint}" for hint in ("R² 0.8", "R² 0.6", "R² 0.25", "shuffled", "reversed halfway"))
PROTOTYPES: Final = {"workload": "ITP cluster04", "load": 1.0, "models": False, "overheads": "realistic"}
LONGER_DAYS: Final = 7
LEAST_DISTANCE: Final = 0.5
"""Points of the bound between the best policies without durations and with true ones."""
TO_THE_END: Final = ("fifo-backfill", "kueue", "sjf-backfill, oracle", "gittins, preempt=false")


def every(figures: Figures) -> list[Where]:
    """All cells."""
    found = figures.cells("workload", "load", "models", "overheads")
    return [where for where in found if where["overheads"] == "realistic"]


def name_of(where: Where) -> str:
    """As tables have it."""
    return f"{where['workload']} {where['load']}"


def hardest(figures: Figures) -> list[Where]:
    """Each workload at its highest load, with models."""
    return list({where["workload"]: where for where in every(figures) if where["models"]}.values())


def deep(figures: Figures) -> list[Where]:
    """Those of `hardest` where hints and parameters are looked at."""
    return [where for where in hardest(figures) if figures.ran(where, HINTS[1])]


def main_table(figures: Figures) -> str:
    """Percent above the bound of the best known policies."""
    rows = [
        [name_of(place), *(_figure(above(figures, place, policy)) for policy in SHOWN), best(figures, place),
         str(against(figures, place, GITTINS, best(figures, place)))]
        for place in hardest(figures)
    ]  # fmt: skip
    return markdown(("workload, load", *SHOWN, "best of the others", "gittins to it, %"), rows)


def losses(figures: Figures) -> str:
    """Where another policy that requires no durations is better beyond the interval."""
    found = {(name, rival): against(figures, place, GITTINS, rival)
             for name, place in _named(every(figures)).items() for rival in RIVALS}  # fmt: skip
    worse = [f"{name} ({rival}: +{change.percent:.2f} %)" for (name, rival), change in found.items() if change.low > 0]
    head = f"Compared with {len(RIVALS)} policies in {len(every(figures))} cells, `gittins` is worse beyond the paired "
    return f"{head}interval in {len(worse)}: {'; '.join(worse)}." if worse else f"{head}interval in none."


def _named(places: Sequence[Where]) -> dict[str, Where]:
    return {name_of(place) + ("" if place["models"] else ", no models"): place for place in places}


def wide(figures: Figures) -> list[Where]:
    """Those of `deep` where true durations are worth so much that shares of it tell something."""
    return [place for place in deep(figures) if distance(figures, place, ORACLES) > LEAST_DISTANCE]


def hints(figures: Figures) -> str:
    """Share closed of what is between the best without durations and the best with true ones."""

    def shown(place: Where, policy: str) -> str:
        return signed(closed(figures, place, policy, ORACLES).mean(), 0).removeprefix("+")

    rows = [[name_of(place), *(shown(place, policy) for policy in (NONE, GITTINS, *HINTS))] for place in wide(figures)]
    columns = ("no predictor", "history", *(hint.removeprefix("gittins, ") for hint in HINTS))
    return markdown(("workload, load", *columns), rows)


def unhinted(figures: Figures) -> str:
    """Why the other workloads are not in the table of hints."""
    left = [place for place in hardest(figures) if place not in wide(figures)]
    found = ", ".join(
        f"{place['workload']} ({_figure(above(figures, place, best(figures, place)))} % above the bound)"
        for place in left
    )
    return f"Not in the table, for the best policy without durations leaves hints nothing to gain: {found}."


def misled(figures: Figures) -> str:
    """What wrong hints do to `srtf` and to `gittins`."""
    found = []
    for how in ("shuffled", "reversed halfway"):
        theirs, ours = (
            [above(figures, place, f"{policy}, {how}") for place in deep(figures)] for policy in ("srtf", "gittins")
        )
        found.append(
            f"{how}, {_figure(min(theirs))} to {_figure(max(theirs))} % above the bound (`gittins` "
            f"{_figure(min(ours))} to {_figure(max(ours))} %)"
        )
    return f"Wrong hints mislead `srtf`: {'; '.join(found)}."


def keeping(figures: Figures) -> str:
    """Policies that preempt nothing; also where the prototype was measured."""
    places = _named([*deep(figures), PROTOTYPES])
    rows = [[name, *(_with_tail(figures, place, who) for who in TO_THE_END)] for name, place in places.items()]
    return markdown(("workload, load", *TO_THE_END), rows)


def _with_tail(figures: Figures, place: Where, policy: str) -> str:
    return f"{_figure(above(figures, place, policy))}/{_figure(figures.mean(place, policy, 'slowdown_p99'))}"


def costly(figures: Figures) -> str:
    """Percent above the bound if preempted jobs write a checkpoint, and if they lose work."""

    def both(place: Where, who: str) -> str:
        return f"{_figure(above(figures, place, who))}/{_figure(above(figures, losing(place), who))}"

    shown = [who.label for who in COSTLY[2:]]
    return markdown(
        ("workload, load", *shown), [[name_of(p), *(both(p, who) for who in shown)] for p in hardest(figures)]
    )


def losing(place: Where) -> Where:
    """The same cell where preempted jobs lose work."""
    return {**place, "overheads": PERIODIC}


def weighing(figures: Figures, other: str) -> str:
    """Mean JCT of the default against one of its variants where work is lost."""
    changes = [against(figures, losing(place), GITTINS, other) for place in hardest(figures)]
    return f"{spread(changes, '')} % (beyond the interval in {how_many_sure(changes)} cells)"


def tail(figures: Figures) -> str:
    """Mean JCT and slow-downs with a bound on waiting and without, and the longest wait."""
    shown = (GITTINS, "gittins, patience_s=0", "dally")
    rows = [
        [name_of(place), *(f"{_figure(above(figures, place, p))}/{figures.mean(place, p, 'slowdown_p99'):.1f}/"
                       f"{figures.mean(place, p, 'slowdown_max'):,.0f}" for p in shown)]
        for place in deep(figures)
    ]  # fmt: skip
    return markdown(("workload, load", *shown), rows)


def price(figures: Figures) -> str:
    """What ageing costs."""
    found = []
    for ageing in ("0.01", "1"):
        changes = {name_of(p): against(figures, p, f"gittins, ageing={ageing}", GITTINS) for p in deep(figures)}
        worst = max(changes, key=lambda name: changes[name].percent)
        found.append(f"{ageing}: {changes[worst]} % ({worst})")
    return f"Most that `ageing` adds to mean JCT: {'; '.join(found)}."


def slow(figures: Figures) -> str:
    """Policies too slow for large clusters."""
    places = [place for place in every(figures) if figures.ran(place, "gandiva")]
    times = [_ratio(figures, place, "gandiva", GITTINS) for place in places]
    many = f"{min(times):.0f} to {max(times):.0f} times"
    return f"`gandiva` takes minutes on large clusters. It ran on ITP: {many} the mean JCT of `gittins`."


def learnt(figures: Figures) -> str:
    """What `srtf` makes of estimates from history."""

    def ends(how: str) -> str:
        found = [above(figures, place, f"srtf, {how}") for place in deep(figures)]
        return f"{_figure(min(found))} to {_figure(max(found))}"

    return (
        f"Nor does `srtf` gain by estimates from history: {ends('history')} % above the bound, against "
        f"{ends('oracle')} % with true durations."
    )


def speed(_: Figures) -> str:
    """Jobs a second, by ``python -m benchmarks.results.speed gittins``."""
    rates = (
        pl.read_csv(DATA / "gittins-speed.csv")
        .filter(policy=GITTINS)
        .select("load", pl.col("median", "least", "most") / 1000)
    )
    found = [f"load {load} {median:.0f} [{least:.0f}, {most:.0f}]" for load, median, least, most in rates.rows()]
    head = "Thousand jobs a second on 584 GPUs (suite itp), refits included, median [range] of five runs:"
    return f"{head} {'; '.join(found)}."


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    hard, hinted = hardest(figures), deep(figures)
    gains = {name_of(place): against(figures, place, GITTINS, best(figures, place)).percent for place in hard}
    learns = [against(figures, place, GITTINS, NONE) for place in every(figures)]
    hints = {name_of(place): against(figures, place, HINTS[1], NONE) for place in hinted}
    kept = {who: [against(figures, p, "gittins, preempt=false", who) for p in hinted] for who in TO_THE_END[:2]}
    tails = {name_of(p): _ratio(figures, p, GITTINS, "dally", "slowdown_max") for p in hinted}
    (worst, most), (_, longest) = _ends(gains), _ends(tails)
    most_gained, least_gained = _ends({name: hint.percent for name, hint in hints.items()})
    return "\n".join(
        [
            "* **Yes, but a rival is as good in most cells.** Against the best other policy, mean JCT at the highest "
            f"load changes by {signed(gains[most])} % ({most}) to {signed(gains[worst])} % ({worst}). At all loads it "
            f"is significantly lower in {_wins(figures)}.",
            f"* **The price is the tail**: its longest slow-down is up to {tails[longest]:.0f} times that of `dally` "
            f"({longest}), and wide gangs [wait longer](../adr/0018-no-gang-waits-for-ever.md) than in Slurm's order.",
            "* **Its estimates from history change little**: mean JCT by "
            f"{spread(learns, '')} %, beyond the interval in {how_many_sure(learns)} cells.",
            "* **Hints of durations are beneficial**: an R² of 0.6 changes mean JCT by "
            f"{hints[most_gained]} % ({most_gained}) to {hints[least_gained]} % ({least_gained}) against no predictor, "
            f"beyond the interval in {how_many_sure([*hints.values()])} cells.",
            "* **Where preempted jobs lose up to 30 minutes of work**, its mean JCT changes by "
            f"{weighing(figures, 'gittins, preempt=false')} against preempting nothing, and by "
            f"{weighing(figures, 'gittins, cost_weight=0')} against not weighing that cost.",
            "* **Where nothing may be preempted**, its mean JCT changes by "
            f"{spread(kept['fifo-backfill'], '')} % against `fifo-backfill` (beyond the interval in "
            f"{how_many_sure(kept['fifo-backfill'])} cells). Against `kueue` the change is "
            f"{spread(kept['kueue'], '')} % ({how_many_sure(kept['kueue'])}).",
        ]
    )


def _wins(figures: Figures) -> str:
    """Where the default is better than the best other policy beyond the interval."""
    cells = every(figures)
    won = [place for place in cells if against(figures, place, GITTINS, best(figures, place)).high < 0]
    names = sorted({str(place["workload"]) for place in won})
    return f"{len(won)} of {len(cells)} cells" + (f" ({', '.join(names)})" if won else "")


def _ratio(figures: Figures, place: Where, policy: str, other: str, figure: str = "jct_mean_s") -> float:
    return figures.mean(place, policy, figure) / figures.mean(place, other, figure)


def _ends(values: dict[str, float]) -> tuple[str, str]:
    """The names of the least and of the greatest."""
    return min(values, key=values.__getitem__), max(values, key=values.__getitem__)


def loads(figures: Figures) -> str:
    """What it gains against what most sites have, by load."""
    found: dict[str, list[str]] = {}
    for place in every(figures):
        if place["models"]:
            change = figures.change(place, GITTINS, "fifo-backfill").percent
            found.setdefault(str(place["workload"]), []).append(signed(change))
    gains = "; ".join(f"{workload} {'/'.join(changes)}" for workload, changes in found.items())
    return f"Mean JCT against `fifo-backfill` at load 0.7/0.85/highest, %: {gains}."


def harm(figures: Figures) -> str:
    """Whether wrong hints are worse than none."""
    changes = {f"{name}, {hint.removeprefix('gittins, ')}": against(figures, place, hint, NONE)
               for name, place in _named(deep(figures)).items() for hint in HINTS[3:]}  # fmt: skip
    worse = [f"{name}: {change}" for name, change in changes.items() if change.low > 0]
    head = "With wrong hints the mean JCT of `gittins` is longer than without, beyond the interval, in "
    head += f"{len(worse)} of {len(changes)} cases"
    return f"{head} (%, {'; '.join(worse)})." if worse else f"{head}."


def blocks_of_days(figures: Figures) -> str:
    """Whether longer blocks of days change what is significant against the best other policy."""
    places = [place for place in every(figures) if has_days(figures, place)]
    by_day, longer = (
        [against(figures, place, GITTINS, best(figures, place), days).is_sure for place in places]
        for days in (1, LONGER_DAYS)
    )
    gained = sum(not short and long for short, long in zip(by_day, longer, strict=True))
    lost = sum(short and not long for short, long in zip(by_day, longer, strict=True))
    return (
        f"Queues last for days: with blocks of {LONGER_DAYS} days, {gained} of {len(places)} comparisons with the best "
        f"other policy become significant, {lost} insignificant."
    )


BLOCKS: Final = {
    "answer": answer,
    "main": lambda figures: f"{main_table(figures)}\n{losses(figures)}",
    "hints": lambda figures: f"{hints(figures)}\n{unhinted(figures)}",
    "loads": loads,
    "misled": lambda figures: f"{misled(figures)} {harm(figures)} {learnt(figures)}",
    "costly": costly,
    "keeping": keeping,
    "tail": lambda figures: f"{tail(figures)}\n{price(figures)}",
    "slow": lambda figures: f"{slow(figures)}\n{blocks_of_days(figures)}",
    "speed": speed,
}
