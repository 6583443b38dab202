"""What the page compares: sets of jobs, means of trainings, and the best of several policies."""

from collections.abc import Iterable
from typing import Any, Final

import polars as pl

from benchmarks.results.figures import Difference, Figures, Where
from benchmarks.topdrl.contestants import (
    AT_ANY_SITE,
    DEEPRM,
    DEEPRMS,
    DEEPRMS_MISLED,
    FIVE,
    MISLEADING,
    NEAREST,
    OF_THE_PAPER,
    PROXIMITIES,
    PROXIMITY,
    TOPDRLS,
)

OWN: Final = {"workload": "TopDRL's", "gpus": 32}
PAPER: Final = (*(who.label for who in OF_THE_PAPER), DEEPRM, PROXIMITY)
NEAR: Final = tuple(who.label for who in NEAREST)
SITE: Final = tuple(who.label for who in AT_ANY_SITE)
WORK, JCT = "throughput", "jct_mean_s"
TRAINED: Final = {FIVE: TOPDRLS, DEEPRM: DEEPRMS, f"{DEEPRM}, {MISLEADING}": DEEPRMS_MISLED, PROXIMITY: PROXIMITIES}
"""By the label of their mean, the trainings."""


def pooled(figures: Figures) -> Figures:
    """Also the mean of each agent's trainings, seed by seed, where all were run."""
    by = ["what", "workload", "gpus", "overheads", "seed"]
    frames = [figures.frame]
    for label, trainings in TRAINED.items():
        rows = figures.frame.filter(pl.col("policy").is_in([who.label for who in trainings]))
        numbers = [name for name in rows.columns if rows[name].dtype.is_numeric() and name not in by]
        means = pl.col(numbers).cast(pl.Float64).mean()
        uses = pl.col("durations", "profiles", "progress").first()
        found = rows.filter(pl.len().over(by) == len(trainings)).group_by(by, maintain_order=True).agg(means, uses)
        frames.append(found.with_columns(policy=pl.lit(label)))
    return Figures(pl.concat(frames, how="diagonal_relaxed"))


def cells(figures: Figures, what: str, overheads: str = "realistic") -> list[dict[str, Any]]:
    """Its sets of jobs, in the order of the file."""
    found = figures.cells("what", "workload", "gpus", "overheads")
    return [cell for cell in found if (cell["what"], cell["overheads"]) == (what, overheads)]


def name(where: Where) -> str:
    """As tables head it."""
    return f"{where['workload']} {where['gpus']}"


def own(what: str, overheads: str = "realistic") -> dict[str, Any]:
    """The authors' set-up."""
    return {"what": what, **OWN, "overheads": overheads}


def most(figures: Figures, where: Where, policies: Iterable[str], figure: str = WORK) -> str:
    """The policy with the highest mean."""
    return max(policies, key=lambda policy: figures.mean(where, policy, figure))


def ahead(figures: Figures, where: Where, policies: Iterable[str], topdrl: str = FIVE) -> Difference:
    """TopDRL's throughput to that of the best of these."""
    return figures.change(where, topdrl, most(figures, where, policies), WORK)


def later(figures: Figures, where: Where, policies: Iterable[str], topdrl: str = FIVE) -> Difference:
    """TopDRL's mean completion time to that of the best of these."""
    return figures.change(where, topdrl, figures.best(where, list(policies)), JCT)
