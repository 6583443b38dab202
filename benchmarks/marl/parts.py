"""What is filled into the page of MARL's parts."""

from collections.abc import Callable
from typing import Any, Final

import polars as pl

from benchmarks.marl.cells import ABLATED, EIGHT
from benchmarks.marl.contestants import ACTORS, ALONE, MARL, MARL_FIFO, SCORER, SCORER_FIFO
from benchmarks.placement.means import Means
from benchmarks.results.figures import Difference, bold, markdown, signed
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
    rows = [
        [said, *(bold(of.above(cell, who, scorer)) for cell in ABLATED for of in (means, means.tails, means.longest))]
        for who, (said, scorer) in VARIANTS.items()
    ]
    heads = [f"{what}, {cell.load:g}" for cell in ABLATED for what in ("mean", "p99", "longest")]
    return markdown(("variant", *heads), rows)


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
        [said, *(bold(of.above(cell, who, other)) for cell in EIGHT for of in (means, means.tails, means.longest))]
        for who, other, said in (
            (SCORER, ALONE, "`scorer`, eight schedulers instead of one"),
            (f"{SCORER}, no forwarding", SCORER, "`scorer` without forwarding"),
            (f"{MARL}, no forwarding", MARL, "MARL without forwarding"),
            (f"{ACTORS}, no forwarding", ACTORS, "actor-critic without forwarding"),
        )
    ]
    heads = [f"{what}, {cell.load:g}" for cell in EIGHT for what in ("mean", "p99", "longest")]
    return markdown(("change", *heads), rows)


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
    "variants": variants, "embeddings": embeddings, "eight": eight, "choices": choices, "scale": scale,
}  # fmt: skip
