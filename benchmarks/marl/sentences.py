"""What is filled into MARL's page, and into the page of its parts."""

from collections.abc import Callable, Iterable
from typing import Final

from benchmarks.marl.cells import CLAIM, HARD, STUDIED, Cell
from benchmarks.marl.contestants import (
    ACTORS,
    FIFO,
    HISTORY,
    MARL,
    MARL_FIFO,
    PACKED,
    SCORER,
    SCORER_FIFO,
    SINGLE,
    SJF,
)
from benchmarks.marl.parts import OF_PARTS as PARTS
from benchmarks.marl.variants import MIXED
from benchmarks.placement.means import BOUND, Means, of_page
from benchmarks.results.figures import bold, markdown, signed, span

CLAIMED: Final = 20.0
"""Percent below the baselines, in the paper."""
FEW_CORES, ITP, PHILLY = Cell(cpus=8), Cell("ITP cluster04"), Cell("Philly")
SHOWN: Final = (
    *CLAIM[:4], Cell("philly"), Cell("philly", 0.9), Cell(nic_gbps=25.0), FEW_CORES, ITP, PHILLY,
)  # fmt: skip
CALM: Final = (Cell("philly"), Cell(nic_gbps=25.0), PHILLY)
"""Where no job waits long."""
COLUMNS: Final = {
    BOUND: BOUND, PACKED: PACKED, SJF: SJF, SCORER: "`scorer`", MARL: "MARL", ACTORS: "actor-critic",
}  # fmt: skip
WAITS: Final = {
    FIFO: "`fifo-backfill`",
    SJF: "`sjf-backfill`",
    SCORER_FIFO: "`scorer`, fifo",
    SCORER: "`scorer`",
    SCORER + HISTORY: "`scorer`, history",
    MARL_FIFO: "MARL, fifo",
    MARL: "MARL",
    MARL + HISTORY: "MARL, history",
    MIXED.label: "MARL, mixed",
    ACTORS: "actor-critic",
}


def _span(means: Means, cells: Iterable[Cell], who: str, other: str) -> str:
    return span([means.above(cell, who, other).percent for cell in cells])


def _below(means: Means, who: str) -> str:
    found = [means.below(cell, who).percent for cell in CLAIM]
    return f"{min(found):.0f} to {max(found):.0f} %"


def _removed(means: Means, load: float) -> str:
    """Percent of the scorer's delay, in the paper's cells."""
    found = [means.removed(cell, MARL, SCORER).percent for cell in CLAIM if cell.load == load]
    return f"{signed(min(found), 0)} to {signed(max(found), 0)} %"


def _sure(means: Means, who: str, other: str) -> str:
    """In how many cells one is significantly ahead, and in how many behind."""
    changes = [means.above(cell, who, other) for cell in means.cells if means.ran(cell, who)]
    ahead, behind = sum(change.high < 0 for change in changes), sum(change.low > 0 for change in changes)
    return f"ahead in {ahead} and behind in {behind} of {len(changes)} cells"


def answer(means: Means) -> str:
    """The bullets."""
    late, early = ([cell for cell in CLAIM if cell.load == load] for load in (0.9, 0.7))
    bounded = sum(means.below(cell, BOUND).percent < CLAIMED for cell in means.cells)
    return f"""\
* **The paper's claim holds.** On fat-tree, VL2 and BCube with 10 Gb/s cards, MARL's mean JCT is {_below(means, MARL)}
  below the best of LB, Tetris and LIF, and {_below(means, ACTORS)} if it learns by rewards, as there.
* **Most of that is packing.** `packed`, which puts a gang on few servers, is {_below(means, PACKED)} below them. In
  {bounded} of {len(means.cells)} cells even the bound is less than {CLAIMED:.0f} % below.
* **At load 0.7 learning places a little better** than our linear `scorer`, which has seven weights: mean JCT
  {_span(means, early, MARL, SCORER)}. Of the delay that can be removed at all, this is {_removed(means, 0.7)}.
* **At load 0.9 the order of jobs matters more.** Shortest first instead of first come changes the mean JCT of `scorer`
  by {_span(means, late, SCORER, SCORER_FIFO)}. In that order MARL is {_span(means, late, MARL, SCORER)} relative to
  `scorer`. Over all cells it is significantly {_sure(means, MARL, SCORER)}.
* **The paper's way to learn is worse than `scorer`**: {_span(means, CLAIM, ACTORS, SCORER)} in the paper's cells,
  significantly {_sure(means, ACTORS, SCORER)}.
* **Who pays.** With 1–16 GPUs at load 0.9, the longest wait is {means.longest.typical_h(HARD, SCORER_FIFO)} h under
  `scorer` in the order of submission, {means.longest.typical_h(HARD, SCORER)} h shortest first, and
  {means.longest.typical_h(HARD, MARL)} h under MARL. Nothing bounds it but `patience_s`.
* **Without true durations** the shortest first does not pay there: `scorer` that learns durations from earlier jobs is
  {means.above(HARD, SCORER + HISTORY, FIFO)} % relative to `fifo-backfill`, which uses none. With 1–8 GPUs at load
  0.7 it is {means.above(Cell(), SCORER + HISTORY, FIFO)} %.
* **Recommendation.** Run `scorer` if durations are known, with `patience_s` to bound waits; else `fifo-backfill`. Train
  `marl` on your cluster if it is seldom full and a change of mean JCT by {_span(means, early, MARL, SCORER)} is worth
  longer waits.
"""


def table(means: Means) -> str:
    """Percent below the best of three; MARL to the scorer."""
    rows = [
        [
            cell.name,
            *(signed(means.below(cell, who).percent, 0).removeprefix("+") for who in COLUMNS),
            str(means.above(cell, MARL, SCORER)),
            signed(means.removed(cell, MARL, SCORER).percent, 0),
        ]
        for cell in SHOWN
    ]
    return markdown(("cell", *COLUMNS.values(), "MARL to `scorer`", "of the delay"), rows)


def tails(means: Means) -> str:
    """Who waits longest where the table above shows means."""
    rows = [
        [
            cell.name,
            *(bold(means.tails.above(cell, who, SCORER)) for who in (SJF, MARL, ACTORS)),
            *(means.longest.typical_h(cell, who) for who in (SCORER_FIFO, SCORER, SJF, MARL, ACTORS)),
        ]
        for cell in SHOWN
        if cell not in CALM
    ]
    p99 = [f"p99, {COLUMNS[who]}" for who in (SJF, MARL, ACTORS)]
    longest = ["longest, `scorer`, fifo", "`scorer`", *(COLUMNS[who] for who in (SJF, MARL, ACTORS))]
    return markdown(("cell", *p99, *longest), rows)


def waits(means: Means) -> str:
    """Orders and estimates: means, tails and longest waits, h."""
    rows = [
        [said, *(of.typical_h(cell, who) for cell in STUDIED for of in (means, means.tails, means.longest))]
        for who, said in WAITS.items()
    ]
    heads = [f"{what}, {cell.load:g}" for cell in STUDIED for what in ("mean", "p99", "longest")]
    return markdown(("policy", *heads), rows)


def claims(means: Means) -> str:
    """The paper's and ours."""
    changes = [means.above(cell, MARL, SCORER) for cell in means.cells]
    worse = sum(change.low > 0 for change in changes)
    alone = [means.above(cell, SINGLE, MARL_FIFO) for cell in STUDIED]
    return markdown(
        ("claim", "measured", "met"),
        [
            [f"mean JCT > {CLAIMED:.0f} % below LB, Tetris and LIF", f"{_below(means, MARL)} in {len(CLAIM)} cells",
             f"yes; `packed` alone is {_below(means, PACKED)} below"],
            ["several schedulers are better than one",
             f"one, without the graph network: {span([change.percent for change in alone])}", "not shown"],
            ["agents that learn together", f"{_span(means, CLAIM, ACTORS, MARL)} relative to ours", "no"],
            ["ours: nowhere worse than `scorer`",
             f"significantly worse in {worse} of {len(changes)} cells", "yes" if not worse else "no"],
        ],
        words=3,
    )  # fmt: skip


MADE: Final[dict[str, Callable[[Means], str]]] = {
    "answer": answer, "figures": table, "tails": tails, "waits": waits, "claims": claims,
}  # fmt: skip
BLOCKS: Final = {name: of_page(make, Cell) for name, make in MADE.items()}
OF_PARTS: Final = {name: of_page(make, Cell) for name, make in PARTS.items()}
