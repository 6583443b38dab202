"""What is filled into MARL's page."""

from collections.abc import Callable, Iterable
from typing import Final

import polars as pl

from benchmarks.marl.cells import ABLATED, CLAIM, EIGHT, Cell
from benchmarks.marl.contestants import DIVIDED, MARL, SCORER, SINGLE
from benchmarks.placement.means import BOUND, Means, of_page
from benchmarks.results.figures import bold, markdown, signed, span, spread
from benchmarks.results.trials import study

FIFO, SJF, PACKED = "fifo-backfill", "sjf-backfill", "packed"
CLAIMED: Final = 20.0
"""Percent below the baselines, in the paper."""
FEW_CORES, ITP, PHILLY = Cell(cpus=8), Cell("ITP cluster04"), Cell("Philly")
SHOWN: Final = (
    *CLAIM[:4], Cell("philly"), Cell("philly", 0.9), Cell(nic_gbps=25.0), FEW_CORES, ITP, PHILLY,
)  # fmt: skip
COLUMNS: Final = (BOUND, PACKED, FIFO, SJF, DIVIDED, SINGLE, MARL)
PARTS: Final = {
    MARL: "MARL",
    "no graph": "without the graph network",
    f"{MARL}, no forwarding": "without forwarding",
    "no interference model": "without an interference model",
    "measured combinations only": "rewarded only by measured combinations",
    "true interference": "with the true interference",
    "no trained scorer, no caution": "from random weights, no scorer, no caution",
    "scorer without waiting": "from a scorer that never waits",
    f"{SCORER}, no waiting": "`scorer`, never waiting",
    f"{SCORER}, no forwarding": "`scorer`, without forwarding",
}


def _is_hard(cell: Cell) -> bool:
    """Where gangs are wide and many wait."""
    return (cell.sizes, cell.load) == ("1-16", 0.9)


def _span(means: Means, cells: Iterable[Cell], who: str, other: str) -> str:
    return span([means.above(cell, who, other).percent for cell in cells])


def _below(means: Means, who: str) -> str:
    found = [means.below(cell, who).percent for cell in CLAIM]
    return f"{min(found):.0f} to {max(found):.0f} %"


def _removed(means: Means, load: float) -> str:
    """Percent of the scorer's delay, in the paper's cells."""
    found = [means.removed(cell, MARL, DIVIDED).percent for cell in CLAIM if cell.load == load]
    return f"{min(found):.0f} to {max(found):.0f} %"


def answer(means: Means) -> str:
    """The bullets."""
    cells, changes = means.cells, {cell: means.above(cell, MARL, DIVIDED) for cell in means.cells}
    hard, others = ([cell for cell in cells if _is_hard(cell) is wanted] for wanted in (True, False))
    ahead = [cell for cell in cells if changes[cell].high < 0]
    little = [changes[cell].percent for cell in ahead if not _is_hard(cell)]
    bounded = sum(means.below(cell, BOUND).percent < CLAIMED for cell in cells)
    late, early = ([cell for cell in CLAIM if cell.load == load] for load in (0.9, 0.7))
    return f"""\
* **The paper's claim holds.** On fat-tree, VL2 and BCube with 10 Gb/s cards, MARL's mean JCT is {_below(means, MARL)}
  below the best of LB, Tetris and LIF.
* **Most of that is packing.** `packed`, which puts a gang on few servers, is {_below(means, PACKED)} below them. In
  {bounded} of {len(cells)} cells even the bound is less than {CLAIMED:.0f} % below.
* **Learning gains little over our linear `scorer`**, which has seven weights. Relative to it with as many
  schedulers MARL is significantly ahead in {len(ahead)} of {len(cells)} cells: mean JCT
  {_span(means, hard, MARL, DIVIDED)} with 1–16 GPUs at load 0.9, {span(little)} elsewhere.
* **Of the delay that can be removed** that is {_removed(means, 0.7)} at load 0.7, {_removed(means, 0.9)} at 0.9.
* **It can be worse.** With 2 cores a GPU, which no training had, it is {changes[FEW_CORES]} % relative to `scorer`.
  On 1,024 servers it is {span(_scale()[1024])} (one workload).
* **`fifo-backfill` uses no durations and is close.** It is {_span(means, others, FIFO, SCORER)} relative to `scorer`
  with one scheduler; with 1–16 GPUs at load 0.9, {_span(means, hard, FIFO, SCORER)}.
* **At load 0.9 the order of jobs matters more.** In the paper's cells `sjf-backfill`, which uses true durations, is
  {_span(means, late, SJF, MARL)} relative to MARL, and {_span(means, early, SJF, MARL)} at load 0.7.
* **Recommendation.** Run `scorer`, or `fifo-backfill` if durations are unknown. At load 0.9, first try `sjf-backfill`
  if they are known. Train `marl` on your cluster if a change of mean JCT by
  {span(little)} is worth it.
"""


def table(means: Means) -> str:
    """Percent below the best of three, and MARL to the scorer."""
    rows = [
        [
            cell.name,
            *(signed(means.below(cell, who).percent, 0).removeprefix("+") for who in COLUMNS),
            str(means.above(cell, MARL, DIVIDED)),
            signed(means.removed(cell, MARL, DIVIDED).percent, 0).removeprefix("+"),
        ]
        for cell in SHOWN
    ]
    names = (BOUND, PACKED, FIFO, SJF, "scorer", "single agent", "MARL", "MARL to scorer", "of the delay")
    return markdown(("cell", *names), rows)


def parts(means: Means) -> str:
    """Variants relative to the scorer."""
    rows = [[said, *(bold(means.above(cell, who, DIVIDED)) for cell in ABLATED)] for who, said in PARTS.items()]
    return markdown(("variant", *(f"load {cell.load:g}" for cell in ABLATED)), rows)


def eight(means: Means) -> str:
    """What forwarding is worth."""
    without = {
        who: span([means.above(cell, f"{who}, no forwarding", who).percent for cell in EIGHT]) for who in (SCORER, MARL)
    }
    return (
        "* **With eight schedulers** (Philly-like), `scorer` without forwarding is "
        f"{without[SCORER]} relative to one scheduler; with forwarding, {_span(means, EIGHT, DIVIDED, SCORER)}. "
        f"MARL without it is {without[MARL]} relative to MARL with it.\n"
    )


def choices(means: Means) -> str:
    """How often MARL differs from the scorer."""
    one, two = study("marl-choices").head(2).rows(named=True)
    return (
        f"**How often it differs from `scorer`**: in {one['otherwise']:.0f} % of its decisions at load 0.7, and in "
        f"{two['otherwise']:.0f} % at 0.9 (1–8 GPUs). At load 0.7, {one['another place']:.1f} % of decisions choose "
        f"another place, and {one['place instead of wait']:.1f} % place a gang that `scorer` would let wait.\n"
    )


def _scale() -> dict[int, list[float]]:
    """Of each number of servers, percent of MARL's mean JCT above the scorer's, by number of schedulers."""
    rows = study("marl-scale").filter((pl.col("who") == MARL) | (pl.col("decision_ms") == 0))
    found = {(row["servers"], row["schedulers"], row["who"]): row["mean_jct_s"] for row in rows.rows(named=True)}
    return {n: [100 * (found[n, p, MARL] / found[n, p, SCORER] - 1) for p in (1, 4, 16)] for n in (128, 1024)}


def scale(means: Means) -> str:
    """Whether several schedulers are needed."""
    rows = study("marl-scale").filter(servers=1024)
    scorer = {p: rows.filter(who=SCORER, schedulers=p) for p in (1, 4)}
    slow = scorer[1]["decision_ms"].max()
    quick = scorer[1].filter(pl.col("decision_ms") < slow)
    cost = {p: f"{signed(of.filter(decision_ms=slow)['to_one_pct'].item())} %" for p, of in scorer.items()}
    network = rows.filter(pl.col("decision_ms") > 0, who=MARL)["decision_ms"].max()
    words = (
        f"Not for speed. With 1,024 servers a decision of MARL's network takes {network:.1f} ms of one core. "
        "If one linear scheduler takes "
        f"{quick['decision_ms'].max() / 1e3:.0f} s a decision, mean JCT changes by "
        f"{signed(quick['to_one_pct'].max(), 2)} %. If it takes "
        f"{slow / 1e3:.0f} s, the change is {cost[1]}, and {cost[4]} with four schedulers.\n\n"
        "Nor for quality. Mean JCT of MARL relative to `scorer` with as many schedulers, % (1–8 GPUs, load 0.9, one "
        "workload of 12 jobs a server):\n\n"
    )
    body = [[f"{n:,}", *(signed(value) for value in values)] for n, values in _scale().items()]
    return words + markdown(("servers", "P = 1", "P = 4", "P = 16"), body)


def claims(means: Means) -> str:
    """The paper's and ours."""
    changes = [means.above(cell, MARL, DIVIDED) for cell in means.cells]
    graph = [means.above(cell, "no graph", MARL) for cell in ABLATED]
    truth = [means.above(cell, "true interference", MARL) for cell in ABLATED]
    without = means.above(ABLATED[0], "no interference model", MARL)
    worse = sum(change.low > 0 for change in changes)
    return markdown(
        ("claim", "measured", "met"),
        [
            [f"mean JCT > {CLAIMED:.0f} % below LB, Tetris and LIF", f"{_below(means, MARL)} in {len(CLAIM)} cells",
             f"yes; `packed` alone is {_below(means, PACKED)} below"],
            ["several schedulers scale better than one", "one is fast enough for 1,024 servers", "not for speed"],
            ["hierarchical graph networks", f"without them {spread(graph)}", "no"],
            ["a learned interference model replaces measuring",
             f"the truth instead: {spread(truth)}; no model, load 0.7: {without} %", "yes"],
            ["ours: nowhere worse than `scorer`",
             f"significantly worse in {worse} of {len(changes)} cells", "no"],
        ],
        words=3,
    )  # fmt: skip


MADE: Final[dict[str, Callable[[Means], str]]] = {
    "answer": answer, "figures": table, "parts": parts, "eight": eight, "choices": choices,
    "scale": scale, "claims": claims,
}  # fmt: skip
BLOCKS: Final = {name: of_page(make, Cell) for name, make in MADE.items()}
