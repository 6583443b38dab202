"""What is filled into the page of Meta-RL's parts."""

from collections.abc import Callable
from typing import Final

from benchmarks.metarl.cells import BASE, CHANGED, LOGGED, SHORT
from benchmarks.metarl.contestants import (
    ADAPTING,
    ALWAYS,
    ANYWHERE,
    CEILING,
    FROZEN,
    HARMONY,
    ITSELF,
    NETWORK,
    NOTHING,
    PLAIN,
    UNEXPLORED,
)
from benchmarks.placement.means import Means
from benchmarks.results.figures import Difference, bold, markdown, spread
from benchmarks.results.trials import study

REGIMES: Final = (*BASE, *CHANGED)
VARIANTS: Final = {
    FROZEN: "frozen",
    NOTHING.label: "nothing meta-learnt",
    UNEXPLORED: "no exploration",
    ANYWHERE: "exploring anywhere",
    ALWAYS: "network always",
    NETWORK: "network while better",
    ADAPTING: "adapting network",
    PLAIN: "plainly trained network",
    HARMONY: "Harmony-like",
}
OF_SHORT: Final = (ITSELF, FROZEN, NOTHING.label)
OWN, OTHER = "no-network-1", "none"
"""Checkpoints whose model the page describes."""


def answer(means: Means) -> str:
    """The bullets."""

    def changes(who: str) -> list[Difference]:
        return [means.above(cell, who, ITSELF) for cell in CELLS if means.ran(cell, who)]

    frozen, untaught, alone, anywhere = (changes(who) for who in (FROZEN, NOTHING.label, UNEXPLORED, ANYWHERE))
    network, plain, harmony = (changes(who) for who in (NETWORK, PLAIN, HARMONY))
    return f"""\
* **Measuring** is what counts: frozen, mean JCT is {spread(frozen)}.
* **Meta-training** of the model matters in [short traces](#short-traces) only. In these long ones mean JCT without
  it is {spread(untaught)}.
* **Exploring** gains nothing certain: without it {spread(alone)}; anywhere within the bound {spread(anywhere)}.
* **A network** that decides while reviews find it better: {spread(network)}. A plainly trained one, unreviewed:
  {spread(plain)}; an actor and a critic, unreviewed: {spread(harmony)}. Their longest waits are up to weeks.
"""


def variants(means: Means) -> str:
    """Variants relative to `metarl`, mean JCT."""
    return _variants(means)


def variants_p99(means: Means) -> str:
    """The same of the 99th percentile."""
    return _variants(means.tails)


def variants_longest(means: Means) -> str:
    """The longest wait under each, h."""
    rows = [
        [said, *(f"{means.longest.typical(cell, who) / 3600:.1f}" if means.ran(cell, who) else "–" for cell in CELLS)]
        for who, said in ({ITSELF: "`metarl`"} | VARIANTS).items()
    ]
    return markdown(("variant", *NAMES), rows)


CELLS: Final = (*REGIMES, *LOGGED)
NAMES: Final = ("base", *(cell.change.removeprefix("an ") for cell in CHANGED), *(cell.sizes for cell in LOGGED))


def _variants(means: Means) -> str:
    rows = [
        [said, *(bold(means.above(cell, who, ITSELF)) if means.ran(cell, who) else "–" for cell in CELLS)]
        for who, said in VARIANTS.items()
    ]
    return markdown(("variant", *NAMES), rows)


def short(means: Means) -> str:
    """Short traces, relative to the true model."""
    rows = [
        [who.removeprefix("metarl, "),
         *(bold(of.above(cell, who, CEILING)) for cell in SHORT for of in (means, means.tails))]
        for who in OF_SHORT
    ]  # fmt: skip
    return markdown(("policy", *(f"{what}, {cell.submitted}" for cell in SHORT for what in ("mean", "p99"))), rows)


def model(means: Means) -> str:
    """How wrong its model is, and what exploring costs."""
    rows = {(row["cell"], row["checkpoint"]): row for row in study("metarl-model").rows(named=True)}
    own, nothing = (rows[BASE[0].name, checkpoint] for checkpoint in (OWN, OTHER))
    explored, rest = ([f"{own[f'{who}, {q}']:.2f}" for q in ("p50", "p99")] for who in ("explored", "others"))
    first = "error at first sight, %"
    return f"""\
* **Error** of forecast slow-downs where these jobs have not shared a server before: {own[first]:.1f} %, and
  {nothing[first]:.1f} % with nothing meta-learnt. Later: {own["error later, %"]:.1f} %.
* **Calibration**: two deviations of the five laws should hold 95 % of these. They hold {own["within, %"]:.0f} %.
* **Exploring** takes {own["explored GPU time, %"]:.1f} % of the GPU time. Explored jobs run {explored[0]} times
  (median) and {explored[1]} times (p99) as long as alone; others {rest[0]} and {rest[1]} times.
"""


OF_PARTS: Final[dict[str, Callable[[Means], str]]] = {
    "answer": answer, "variants": variants, "variants-p99": variants_p99, "variants-longest": variants_longest,
    "short": short, "model": model,
}  # fmt: skip
