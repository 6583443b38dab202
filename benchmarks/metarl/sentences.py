"""What is filled into Meta-RL's page."""

from collections.abc import Callable, Iterable
from typing import Final

import polars as pl

from benchmarks.metarl.cells import BASE, CHANGED, DEEP, SHORT, Cell
from benchmarks.metarl.contestants import (
    ADAPTING,
    ALWAYS,
    BY_SUBMISSION,
    CEILING,
    CEILING_FIFO,
    FIFO,
    FROZEN,
    ITSELF,
    LIF,
    NETWORK,
    NOTHING,
    PACKED,
    SJF,
    UNEXPLORED,
)
from benchmarks.metarl.parts import OF_PARTS as PARTS
from benchmarks.metarl.parts import REGIMES
from benchmarks.placement.means import BOUND, Means, of_page
from benchmarks.results.figures import Difference, bold, how_many_sure, markdown, signed, span, spread
from benchmarks.results.trials import study

BASELINES: Final = ("lb", "tetris-place", LIF)
UNTAUGHT: Final = NOTHING.label
WIDE, ITP, PHILLY = Cell("1-16"), Cell("ITP cluster04"), Cell("Philly")
SHOWN: Final = (*REGIMES, WIDE, Cell(nic_gbps=100.0, cpus=48), ITP, PHILLY)
COLUMNS: Final = (BOUND, PACKED, SJF, CEILING, FROZEN, ITSELF)
POLICIES: Final = {
    FIFO: "`fifo-backfill`",
    SJF: "`sjf-backfill`",
    CEILING_FIFO: "true model, fifo",
    CEILING: "true model",
    BY_SUBMISSION: "`metarl`, fifo",
    ITSELF: "`metarl`",
}


def _changes(means: Means, cells: Iterable[Cell], who: str, other: str) -> list[Difference]:
    return [means.above(cell, who, other) for cell in cells]


def _below(means: Means, cells: Iterable[Cell], who: str) -> str:
    found = [round(means.below(cell, who).percent) for cell in cells]
    return f"{min(found)} to {max(found)} %" if min(found) < max(found) else f"{min(found)} %"


def answer(means: Means) -> str:
    """The bullets."""
    frozen = _changes(means, REGIMES, ITSELF, FROZEN)
    untaught = _changes(means, REGIMES, UNTAUGHT, ITSELF)
    true = {cell: means.above(cell, ITSELF, CEILING) for cell in means.cells}
    lower, higher = sum(change.high < 0 for change in true.values()), sum(change.low > 0 for change in true.values())
    network = _changes(means, DEEP, NETWORK, ITSELF)
    waits = _changes(means.longest, [cell for cell in DEEP if cell != PHILLY], NETWORK, ITSELF)
    unexplored = _changes(means, (*REGIMES, ITP, PHILLY), UNEXPLORED, ITSELF)
    plain = _changes(means, means.cells, ITSELF, SJF)
    lower_sjf = sum(change.high < 0 for change in plain)
    return f"""\
* **The paper's claim holds.** Mean JCT is {_below(means, BASE, ITSELF)} below the best of LB, Tetris and LIF in the
  base cell, and {_below(means, CHANGED, ITSELF)} after a change ({_below(means, REGIMES, BY_SUBMISSION)} by submission,
  the order of these three). Most of this is packing: `packed` is {_below(means, REGIMES, PACKED)} below them.
* **Measuring while it runs gains most.** Relative to its frozen self: {spread(frozen)} in the base cell and after
  changes, {means.above(ITP, ITSELF, FROZEN)} % on ITP, {means.above(PHILLY, ITSELF, FROZEN)} % on Philly.
* **It is near a linear scheduler with the true interference**: {spread(list(true.values()))} relative to that `scorer`,
  significantly lower in {lower} and higher in {higher} of {len(true)} cells.
* **A network beside the scorer shortens the mean and lengthens the longest waits**, so it ships without. While
  [reviews](../papers/metarl.md#5-adapting-in-a-run-set-metarlsteps3) find it better it decides: mean JCT
  {spread(network)} (significant in {how_many_sure(network)} cells), the longest wait {spread(waits)}. On ITP without
  reviews: mean JCT {means.above(ITP, ALWAYS, ITSELF)} %.
* **Meta-training shows in short traces.** In the first 60 jobs mean JCT without it is
  {means.above(Cell(submitted=60), UNTAUGHT, ITSELF)} %; in long ones {spread(untaught)} (significant in
  {how_many_sure(untaught)}). Without exploring it is {spread(unexplored)} ({how_many_sure(unexplored)}).
* **Recommendation.** Run `metarl` if jobs slow each other on nodes, name their models, and have known durations,
  and if speeds can be measured. Relative to `sjf-backfill` it is {spread(plain)}: lower in {lower_sjf} of {len(plain)}
  cells, and highest with 1–16 GPUs at load 0.9, where it should not be run.
"""


def table(means: Means) -> str:
    """Percent below the best of three, and `metarl` to two others."""
    rows = [
        ["base" if cell in BASE else cell.name,
         *(signed(means.below(cell, who).percent, 0).removeprefix("+") for who in COLUMNS),
         *(str(means.above(cell, ITSELF, other)) for other in (FROZEN, CEILING))]
        for cell in SHOWN
    ]  # fmt: skip
    names = (BOUND, PACKED, SJF, "true model", "frozen", ITSELF, "to frozen", "to true model")
    return markdown(("cell", *names), rows)


def waits(means: Means) -> str:
    """Means, tails and longest waits, h."""
    cells = (BASE[0], Cell("1-16", 0.9))
    rows = [
        [said, *(of.typical_h(cell, who) if of.ran(cell, who) else "–"
                 for cell in cells for of in (means, means.tails, means.longest))]
        for who, said in POLICIES.items()
    ]  # fmt: skip
    heads = [f"{what}, {where}" for where in ("base", "1–16") for what in ("mean", "p99", "longest")]
    return markdown(("policy", *heads), rows)


def tails(means: Means) -> str:
    """Of `metarl` and others."""
    rows = [
        ["base" if cell in BASE else cell.name,
         *(bold(means.tails.above(cell, ITSELF, other)) for other in (SJF, CEILING)),
         *(means.longest.typical_h(cell, who) for who in (SJF, CEILING, ITSELF))]
        for cell in SHOWN if cell not in (CHANGED[0], PHILLY)
    ]  # fmt: skip
    heads = ("p99, to `sjf-backfill`", "p99, to true model", "longest, `sjf-backfill`", "true model", "`metarl`")
    return markdown(("cell", *heads), rows)


def others(means: Means) -> str:
    """Cells that the table leaves out."""
    weak, wrong = (means.above(cell, ITSELF, CEILING) for cell in (Cell(sigma=0.05), Cell(estimate="lognormal:1")))
    return (
        f"With weak pair effects (σ = 0.05), `metarl` is {weak} % relative to the true model. With lognormal errors of "
        f"durations (σ = 1), it is {wrong} %.\n"
    )


def noise(means: Means) -> str:
    """What errors of measurement cost."""
    rows = study("metarl-noise").filter(pl.col("noise") > 0).rows(named=True)
    body = [
        [f"{who}", *(signed(row["to exact"]) for row in rows if row["figure"] == figure)]
        for figure, who in (("mean", "mean JCT"), ("p99", "p99"), ("longest", "longest wait"))
    ]
    return markdown(("", *(f"{row['noise']:.0%}".replace("%", " %") for row in rows if row["figure"] == "mean")), body)


def drift(means: Means) -> str:
    """The log in half months."""
    *early, last = study("metarl-drift").filter(who=ITSELF).rows(named=True)
    *frozen, _ = study("metarl-drift").filter(who=FROZEN)["to true model"].to_list()
    changes = [row["to true model"] for row in early]
    change = Difference(*(last[f"to true model{end}"] for end in ("", ", low", ", high")))
    return (
        f"**ITP's whole log**, by half months, relative to the true model: {span(changes)} in the first {len(early)} "
        f"(frozen {span(frozen)}), {change} % in the last ([data](data/metarl-drift.csv)).\n"
    )


def claims(means: Means) -> str:
    """The paper's and ours."""
    published = [cell for cell in SHORT if 60 <= cell.submitted <= 200]
    true = [means.above(cell, ITSELF, CEILING) for cell in means.cells]
    explored = _changes(means, (*REGIMES, ITP, PHILLY), UNEXPLORED, ITSELF)
    worse = sum(change.low > 0 for change in true)
    return markdown(
        ("claim", "measured", "met"),
        [
            ["mean JCT 12–16 % below the baselines",
             f"{_below(means, BASE, ITSELF)} in the base cell (bound {_below(means, BASE, BOUND)}); "
             f"{_below(means, published, ITSELF)} in 60–200 jobs (bound {_below(means, published, BOUND)})",
             "yes in long traces"],
            ["16–22 % below after a change",
             f"{_below(means, CHANGED, ITSELF)} after five changes (bound {_below(means, CHANGED, BOUND)})", "yes"],
            ["meta-learning is sample-efficient",
             f"in the first 60 jobs, untrained: {means.above(Cell(submitted=60), UNTAUGHT, ITSELF)} %", "yes"],
            ["the policy adapts quickly",
             "the corrected model does at once; gradient steps of a network instead of reviews: "
             f"{span([means.above(cell, ADAPTING, NETWORK).percent for cell in DEEP])}", "in part"],
            ["directed exploration", f"none: {spread(explored)}", "not shown"],
            ["ours: not worse than `scorer` with the true model",
             f"significantly worse in {worse} of {len(true)} cells", "yes" if not worse else "no"],
        ],
        words=3,
    )  # fmt: skip


MADE: Final[dict[str, Callable[[Means], str]]] = {
    "answer": answer, "figures": table, "others": others, "tails": tails, "waits": waits, "drift": drift,
    "noise": noise, "claims": claims,
}  # fmt: skip
BLOCKS: Final = {name: of_page(make, Cell, BASELINES) for name, make in MADE.items()}
OF_PARTS: Final = {name: of_page(make, Cell, BASELINES) for name, make in PARTS.items()}
