"""The tables of the page."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.results.figures import markdown
from benchmarks.topdrl.cells import Cell, Measured
from benchmarks.topdrl.contestants import TOPDRL, Contestant
from pointsman.learn.iqm import RESAMPLES, interquartile_mean, interval
from pointsman.report.units import duration, percent

Values = NDArray[np.float64]


def iqm(values: Values) -> float:
    """Over trainings and seeds."""
    return float(interquartile_mean(values.ravel()))


def with_interval(values: Values, shown: object = None) -> str:
    """An interquartile mean and its interval: ``0.79 (0.77 to 0.81)``."""
    told = shown if callable(shown) else "{:.3f}".format
    if np.isnan(values).any():
        return "–"
    ends = interval(values)
    return told(iqm(values)) + (f" ({told(ends[0])} to {told(ends[1])})" if ends else "")


def paired_change(ours: Values, theirs: Values) -> tuple[float, float, float]:
    """How much more ours is than theirs, as a share of theirs, on the same seeds, with an interval: trainings of each
    and seeds are drawn anew.
    """
    random = np.random.default_rng(0)
    seeds = random.integers(ours.shape[1], size=(RESAMPLES, 1, ours.shape[1]))

    def drawn(values: Values) -> Values:
        rows = random.integers(len(values), size=(RESAMPLES, len(values), 1))
        return interquartile_mean(values[rows, seeds].reshape(RESAMPLES, -1))

    low, high = np.quantile(drawn(ours) / drawn(theirs) - 1, (0.025, 0.975))
    return iqm(ours) / iqm(theirs) - 1, float(low), float(high)


def change(ours: Values, theirs: Values) -> str:
    """Bold where the interval leaves out 0."""
    if np.isnan(ours).any() or np.isnan(theirs).any():
        return "–"
    mean, low, high = paired_change(ours, theirs)
    told = f"{percent(mean, signed=True)}"
    return f"**{told}**" if low > 0 or high < 0 else told


def against(found: Sequence[Measured], figure: str, shown: object = None, per_gpu: bool = False) -> str:
    """A row a cell: TopDRL's figure, and what it is against each other one's."""
    others = [label for label in found[0].runs if label != TOPDRL]
    rows = []
    for one in found:
        ours = one.runs[TOPDRL][figure]
        scale = one.cell.gpus if per_gpu else 1
        rows.append(
            (
                *_words(one.cell),
                with_interval(ours / scale, shown),
                *(change(ours, one.runs[o][figure]) for o in others),
            )
        )
    return markdown(("jobs", "GPUs", "load", TOPDRL, *others), rows, words=1)


def above_bound(found: Sequence[Measured]) -> str:
    """A row a cell: how far each one's mean JCT is above the lower bound."""
    rows = [
        (*_words(one.cell), *(percent(iqm(figures["above_bound"])) for figures in one.runs.values())) for one in found
    ]
    return markdown(("jobs", "GPUs", "load", *found[0].runs), rows, words=1)


def _words(cell: Cell) -> tuple[str, ...]:
    return cell.workload, str(cell.gpus), "at once" if cell.load is None else f"{cell.load:g}"


COLUMNS = (
    "policy",
    "knows",
    "trainings × seeds",
    "throughput a GPU",
    "mean JCT",
    "above bound",
    "cost",
    "proximity",
    "ended / cut",
)


def detail(one: Measured, who: Mapping[str, Contestant]) -> str:
    """Every figure of a cell."""
    rows = []
    for label, figures in one.runs.items():
        trainings, seeds = figures["throughput"].shape
        rows.append(
            (
                label + (" (unverified)" if label != TOPDRL else ""),
                who[label].knows,
                f"{trainings} × {seeds}",
                with_interval(figures["throughput"] / one.cell.gpus),
                with_interval(figures["jct_mean_s"], duration),
                "–" if one.cell.horizon_share else with_interval(figures["above_bound"], percent),
                f"{iqm(figures['cost']):.3f}",
                f"{np.nanmean(figures['proximity']):.3f}",
                f"{figures['jobs_ended'].mean():.0f} / {figures['censored'].mean():.0f}",
            )
        )
    return markdown(COLUMNS, rows, words=2)
