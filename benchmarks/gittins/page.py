"""``python -m benchmarks.gittins.page [--from FILE]``: the data file, the picture and the figures of its page."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import polars as pl

from benchmarks.blocks import fill
from benchmarks.gittins.contestants import GITTINS, NONE, TOLD
from benchmarks.gittins.figures import RIVALS, Figures, Place, pairs, table
from benchmarks.gittins.picture import draw
from benchmarks.gittins.runs import DEEP
from benchmarks.results.figures import Difference, markdown, signed, span

PAGE = Path("docs/results/gittins.md")
SHOWN = ("las, 20 thresholds", "dally", "dally, 600 s", NONE, GITTINS)
HINTS = ("gittins, R² 0.8", "gittins, R² 0.6", "gittins, R² 0.25", "gittins, shuffled", "gittins, reversed halfway")
EARLIER = ("sjf", "sjf-backfill", "srtf", "easy")
TO_THE_END = ("fifo-backfill", "kueue", "sjf-backfill, oracle", "gittins, preempt=false")
SPEED = Path("docs/results/data/gittins-speed.csv")


def hardest(figures: Figures) -> list[Place]:
    """Each workload at its highest load, with models."""
    highest: dict[str, Place] = {}
    for place in figures.places:
        if place.models and place.load >= highest.get(place.workload, place).load:
            highest[place.workload] = place
    return list(highest.values())


def deep(figures: Figures) -> list[Place]:
    """Where hints and parameters are looked at, at the highest load."""
    return [place for place in hardest(figures) if place.load in DEEP.get(place.workload, ())]


def main_table(figures: Figures) -> str:
    """Percent above the bound of the best known policies."""
    rows = [
        [place.name, *(_figure(figures.above(place, policy)) for policy in SHOWN), figures.best(place),
         str(figures.against(place, GITTINS, figures.best(place)))]
        for place in hardest(figures)
    ]  # fmt: skip
    return markdown(("workload, load", *SHOWN, "best of the others", "gittins to it, %"), rows)


def losses(figures: Figures) -> str:
    """Where another policy that is told nothing is better beyond the interval."""
    told, places = [], figures.places
    for place in places:
        for rival in figures.rivals(place):
            found = figures.against(place, GITTINS, rival)
            if found.low > 0:
                models = "with models" if place.models else "without models"
                told.append(f"{place.name} {models} ({rival}: +{found.percent:.2f} %)")
    head = (
        f"Compared with {len(RIVALS)} policies in {len(places)} cells, `gittins` is worse beyond the paired interval in"
    )
    return f"{head} {len(told)}: {'; '.join(told)}." if told else f"{head} none."


def hints(figures: Figures) -> str:
    """Share closed of what is between the best that is told nothing and the best that is told all."""
    rows = [
        [place.name, *(f"{figures.closed(place, policy, TOLD):.0f}" for policy in (NONE, GITTINS, *HINTS))]
        for place in deep(figures)
    ]
    columns = ("no predictor", "history", *(hint.removeprefix("gittins, ") for hint in HINTS))
    return markdown(("workload, load", *columns), rows)


def misled(figures: Figures) -> str:
    """What wrong hints do to `gittins` and to `srtf`."""
    told = []
    for place in deep(figures):
        ours, theirs = (
            "/".join(_figure(figures.above(place, f"{policy}, {how}")) for how in ("shuffled", "reversed halfway"))
            for policy in ("gittins", "srtf")
        )
        told.append(f"{place.name} {theirs} (`gittins` {ours})")
    return f"`srtf` believes them. Percent above the bound, shuffled/reversed: {'; '.join(told)}."


def keeping(figures: Figures) -> str:
    """Policies that preempt nothing; also where the prototype was measured."""
    places = {place.name: place for place in deep(figures)}
    without = Place("ITP cluster04", 1.0, models=False)
    places[f"{without.name}, no models"] = without
    rows = [[name, *(_with_tail(figures, place, who) for who in TO_THE_END)] for name, place in places.items()]
    return markdown(("workload, load", *TO_THE_END), rows)


def _with_tail(figures: Figures, place: Place, policy: str) -> str:
    return f"{_figure(figures.above(place, policy))}/{_figure(figures.mean(place, policy, 'slowdown_p99'))}"


def tail(figures: Figures) -> str:
    """Mean and worst slow-down by ageing."""
    shown = (GITTINS, *(f"gittins, ageing={a}" for a in ("0.01", "1")), "dally")
    rows = [
        [place.name, *(f"{_figure(figures.above(place, p))}/{figures.mean(place, p, 'slowdown_p99'):.1f}/"
                       f"{figures.mean(place, p, 'slowdown_max'):,.0f}" for p in shown)]
        for place in deep(figures)
    ]  # fmt: skip
    return markdown(("workload, load", *shown), rows)


def price(figures: Figures) -> str:
    """What ageing costs."""
    told = []
    for ageing in ("0.01", "1"):
        changes = {p.name: figures.against(p, f"gittins, ageing={ageing}", GITTINS) for p in deep(figures)}
        worst = max(changes, key=lambda name: changes[name].percent)
        told.append(f"{ageing}: {changes[worst]} % ({worst})")
    return f"Most that it adds to mean JCT: {'; '.join(told)}."


def slow(figures: Figures) -> str:
    """Policies too slow for large clusters."""
    places = [place for place in figures.places if (place, "gandiva") in figures.runs]
    times = [_ratio(figures, place, "gandiva", GITTINS) for place in places]
    many = f"{min(times):.0f} to {max(times):.0f} times"
    return f"`gandiva` takes minutes on large clusters. It ran on ITP: {many} the mean JCT of `gittins`."


def learnt(figures: Figures) -> str:
    """Estimates from history for policies that need durations."""

    def all_three(place: Place, policy: str) -> str:
        return "/".join(_figure(figures.above(place, f"{policy}, {told}")) for told in ("history", "limit", "oracle"))

    rows = [[place.name, *(all_three(place, policy) for policy in EARLIER)] for place in deep(figures)]
    return markdown(("workload, load", *EARLIER), rows)


def speed(_: Figures) -> str:
    """Jobs a second, by `speed.py`."""
    rates = pl.read_csv(SPEED).filter(policy=GITTINS).select("load", pl.col("median", "least", "most") / 1000)
    told = [f"load {load} {median:.0f} [{least:.0f}, {most:.0f}]" for load, median, least, most in rates.rows()]
    head = "Thousand jobs a second on the 584 GPUs of suite itp, refits included, median [range] of five runs:"
    return f"{head} {'; '.join(told)}."


def _figure(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    hard, hinted = hardest(figures), deep(figures)
    gains = {place.name: figures.against(place, GITTINS, figures.best(place)).percent for place in hard}
    learns = [figures.against(place, GITTINS, NONE) for place in figures.places]
    hints = {place.name: figures.against(place, HINTS[1], NONE) for place in hinted}
    kept = {who: [figures.against(p, "gittins, preempt=false", who) for p in hinted] for who in TO_THE_END[:2]}
    tails = {p.name: _ratio(figures, p, GITTINS, "dally", "slowdown_max") for p in hinted}
    (worst, most), (_, longest) = _ends(gains), _ends(tails)
    best, least = _ends({name: hint.percent for name, hint in hints.items()})
    return "\n".join(
        [
            "* **Yes.** At the highest load of each workload its mean JCT differs from that of the best other policy "
            f"by {signed(gains[most])} % ({most}) to {signed(gains[worst])} % ({worst}). On ITP cluster08 no job is "
            "shorter than ten minutes, and policies that favour jobs with little service do badly.",
            f"* **The price is the tail**: its longest slow-down is up to {tails[longest]:.0f} times that of `dally` "
            f"({longest}).",
            "* **Its estimates from history change little**: mean JCT by "
            f"{_span(learns)} %, beyond the interval in {_sure(learns)} of {len(learns)} cells.",
            f"* **Hints pay on some logs**: with R² 0.6 mean JCT changes by {hints[best]} % ({best}) to "
            f"{hints[least]} % ({least}) against no predictor. Wrong hints do little harm.",
            "* **Where nothing may be preempted** its mean JCT changes by "
            f"{_span(kept['fifo-backfill'])} % against `fifo-backfill` (beyond the interval in "
            f"{_sure(kept['fifo-backfill'])} of {len(hinted)} cells) and by {_span(kept['kueue'])} % against `kueue` "
            f"({_sure(kept['kueue'])} of {len(hinted)}).",
        ]
    )


def _span(changes: Sequence[Difference]) -> str:
    """``−0.9 to +1.2``."""
    return span([change.percent for change in changes], "")


def _sure(changes: Sequence[Difference]) -> int:
    """How many are beyond their intervals."""
    return sum(change.is_sure for change in changes)


def _ratio(figures: Figures, place: Place, policy: str, other: str, figure: str = "jct_mean_s") -> float:
    return figures.mean(place, policy, figure) / figures.mean(place, other, figure)


def _ends(values: dict[str, float]) -> tuple[str, str]:
    """The names of the least and of the greatest."""
    return min(values, key=values.__getitem__), max(values, key=values.__getitem__)


def goals(figures: Figures) -> str:
    """What the hints were to reach."""
    wanted = {"suite itp 0.95": 20, "ITP cluster04 1.0": 60, "ITP cluster08 1.0": 60}
    told = [
        f"{place.name} {figures.closed(place, HINTS[1], TOLD):.0f} % (goal {wanted[place.name]} %)"
        for place in deep(figures)
        if place.name in wanted
    ]
    return f"With R² 0.6: {'; '.join(told)}."


def harm(figures: Figures) -> str:
    """Whether wrong hints are worse than none."""
    told = []
    for place in deep(figures):
        for hint in HINTS[3:]:
            found = figures.against(place, hint, NONE)
            if found.low > 0:
                told.append(f"{place.name}, {hint.removeprefix('gittins, ')}: {found}")
    many = 2 * len(deep(figures))
    said = "Mean JCT with wrong hints is longer than without a predictor, beyond the interval, in"
    head = f"{said} {len(told)} of {many} cases"
    return f"{head} (%, {'; '.join(told)})." if told else f"{head}."


BLOCKS = {
    "answer": answer,
    "main": main_table,
    "losses": losses,
    "hints": hints,
    "goals": goals,
    "misled": misled,
    "harm": harm,
    "keeping": keeping,
    "tail": tail,
    "price": price,
    "slow": slow,
    "learnt": learnt,
    "speed": speed,
}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gittins.page", description=__doc__)
    parser.add_argument("--from", dest="runs", type=Path, default=Path("out/gittins/runs.jsonl"))
    parser.add_argument("--page", type=Path, default=PAGE)
    given = parser.parse_args()
    figures = Figures(given.runs)
    table(figures).write_csv(given.page.parent / "data" / "gittins.csv")
    pairs(figures).write_csv(given.page.parent / "data" / "gittins-pairs.csv")
    draw(figures, hardest(figures), given.page.with_suffix(".svg"))
    fill(given.page, {name: make(figures) for name, make in BLOCKS.items()})


if __name__ == "__main__":
    main()
