"""What is filled into the page of MARL's parts."""

from collections.abc import Callable, Sequence
from typing import Any, Final

import polars as pl

from benchmarks.marl.cells import ABLATED, EIGHT, Cell
from benchmarks.marl.contestants import ACTORS, ALONE, MARL, MARL_FIFO, SCORER, SCORER_FIFO
from benchmarks.placement.means import Means
from benchmarks.results.figures import Difference, bold, markdown, signed, spread
from benchmarks.results.trials import study

VARIANTS: Final = {
    MARL_FIFO: ("MARL", SCORER_FIFO),
    "no graph": ("without the graph network", SCORER_FIFO),
    "no interference model": ("without an interference model", SCORER_FIFO),
    "measured combinations only": ("rewarded only by measured combinations", SCORER_FIFO),
    "true interference": ("with the true interference", SCORER_FIFO),
    "no trained scorer, no caution": ("from random weights, no scorer, no caution", SCORER_FIFO),
    "scorer without waiting": ("from a scorer that never waits", SCORER_FIFO),
    ACTORS: ("actor-critic", SCORER),
    "actor-critic, nothing sent": ("actor-critic, nothing sent", SCORER),
    "actor-critic, no graph": ("actor-critic, without the graph network", SCORER),
}
"""By name: as the table has it, and the scorer in the same order of jobs."""


def variants(means: Means) -> str:
    """Variants relative to the scorer in the same order."""
    rows = [[said, *_figures(means, ABLATED, who, scorer)] for who, (said, scorer) in VARIANTS.items()]
    return markdown(("variant", *_heads(ABLATED)), rows)


def _figures(means: Means, cells: Sequence[Cell], who: str, other: str) -> list[str]:
    """Percent of mean JCT and of its 99th percentile, and the longest wait, h, in each cell."""
    return [
        said
        for cell in cells
        for said in (
            *(bold(of.above(cell, who, other)) for of in (means, means.tails)),
            f"{means.longest.typical(cell, who) / 3600:.1f}",
        )
    ]


def _heads(cells: Sequence[Cell]) -> list[str]:
    return [f"{what}, {cell.load:g}" for cell in cells for what in ("mean", "p99", "longest")]


def answer(means: Means) -> str:
    """The bullets."""
    graph = [means.above(cell, "no graph", MARL_FIFO) for cell in ABLATED]
    blind = means.above(ABLATED[0], "no interference model", MARL_FIFO)
    truth = [means.above(cell, "true interference", MARL_FIFO) for cell in ABLATED]
    silent, alone = (
        [means.above(cell, f"actor-critic, {part}", ACTORS) for cell in ABLATED]
        for part in ("nothing sent", "no graph")
    )
    forwarding = [means.above(cell, f"{who}, no forwarding", who) for who in (SCORER, MARL, ACTORS) for cell in EIGHT]
    return f"""\
* **In ours the graph network does nothing**: without it mean JCT is {spread(graph)}. The features of candidate
  placements are enough, and [little changes](#the-graph-network) if what it says is spoilt. All its schedulers see
  the whole cluster with the same weights, and there is no critic.
* **In the paper's way both parts count.** Without the graph network mean JCT of the actors is {spread(alone)}, and
  {spread(silent)} if schedulers send each other nothing (one training each).
* **A learned model of interference is as good as the truth**, which changes mean JCT by {spread(truth)}. Without a
  model it is {blind} % at load 0.7.
* **Forwarding is worth most**: without it mean JCT is {spread(forwarding)}.
"""


def embeddings(means: Means) -> str:
    """What the decisions take from the graph network."""
    rows = [
        [row["cell"], row["who"], row["embeddings"], *(bold(_change(row, name)) for name in ("mean", "p99", "longest"))]
        for row in study("marl-embeddings").rows(named=True)
    ]
    return markdown(("cell", "network", "embeddings", "mean", "p99", "longest"), rows, words=3)


def _change(row: dict[str, Any], name: str) -> Difference:
    return Difference(*(row[f"{name}{end}"] for end in ("", ", low", ", high")))


def eight(means: Means) -> str:
    """What forwarding is worth, and what dividing costs."""
    rows = [
        [said, *_figures(means, EIGHT, who, other)]
        for who, other, said in (
            (SCORER, ALONE, "`scorer`, eight schedulers instead of one"),
            (f"{SCORER}, no forwarding", SCORER, "`scorer` without forwarding"),
            (f"{MARL}, no forwarding", MARL, "MARL without forwarding"),
            (f"{ACTORS}, no forwarding", ACTORS, "actor-critic without forwarding"),
        )
    ]
    return markdown(("change", *_heads(EIGHT)), rows)


def choices(means: Means) -> str:
    """How often MARL differs from the scorer."""
    one, two = study("marl-choices").head(2).rows(named=True)
    return (
        f"In {one['otherwise']:.0f} % of its decisions at load 0.7, and in {two['otherwise']:.0f} % at 0.9 "
        f"(1–8 GPUs). At load 0.7, {one['another place']:.1f} % of decisions choose another place, and "
        f"{one['place instead of wait']:.1f} % place a gang that `scorer` would let wait.\n"
    )


def scales() -> dict[int, list[float]]:
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
        "Mean JCT of MARL relative to `scorer` with as many schedulers, % (1–8 GPUs, load 0.9, one workload of 12 jobs "
        "a server):\n\n"
    )
    body = [[f"{n:,}", *(signed(value) for value in values)] for n, values in scales().items()]
    return words + markdown(("servers", "P = 1", "P = 4", "P = 16"), body)


OF_PARTS: Final[dict[str, Callable[[Means], str]]] = {
    "answer": answer, "variants": variants, "embeddings": embeddings, "eight": eight, "choices": choices,
    "scale": scale,
}  # fmt: skip
