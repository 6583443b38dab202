"""The medians of measured pairs of jobs on one GPU, the law of them, and how far off it is."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from statistics import median
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.interference.file import Ordered, PairLaw, TypeFigures

EQUAL_JOBS_ALONE = 1.5
"""Mean completion time of two equal jobs of length 1 one after the other."""


class Pair(NamedTuple):
    """Two jobs measured on one GPU."""

    gpu_type: str
    model_a: str
    model_b: str
    norm_a: float
    """Speed of the first beside the second, over its speed alone."""
    norm_b: float
    is_unsteady: bool = False
    """Whether the rounds of the measurement differ by more than the default limit."""

    def slow_downs(self) -> tuple[tuple[Ordered, float], tuple[Ordered, float]]:
        """The slowdown of each model beside the other; what was faster than alone is not slowed."""
        return (
            ((self.model_a, self.model_b), max(1.0, 1 / self.norm_a)),
            ((self.model_b, self.model_a), max(1.0, 1 / self.norm_b)),
        )


@dataclass(frozen=True)
class Errors:
    """How far the law is from the medians of the pairs of a GPU type."""

    r2: float | None
    """Share of the variance of log ξ that the law explains; None where there is none."""
    seen: float
    """Median of |predicted/measured − 1| of ξ."""
    left_out: float | None
    """The error with each pair (both ways) left out of the fit; None where the others tell nothing of any."""
    unpredicted: int
    """Figures left out of which the others tell nothing."""


def figures_of(pairs: Iterable[Pair]) -> dict[str, TypeFigures]:
    """By GPU type: the median slow-down of each ordered pair, over all that was measured of it, and the law."""
    found: dict[str, dict[Ordered, list[float]]] = {}
    for pair in pairs:
        for ordered, slow_down in pair.slow_downs():
            found.setdefault(pair.gpu_type, {}).setdefault(ordered, []).append(slow_down)
    return {kind: _figures({p: median(xs) for p, xs in own.items()}) for kind, own in sorted(found.items())}


def fit_law(slow_downs: Mapping[Ordered, float]) -> PairLaw:
    """Sensitivities and pressures by least squares of log ξ, every ordered pair weighing the same.

    Of all equally good splits of the sums the shortest vector is taken, so that sensitivities and
    pressures of models that hang together by measured pairs have the same sum.
    """
    names = sorted({model for pair in slow_downs for model in pair})
    told = np.array([log(slow_down) for slow_down in slow_downs.values()])
    values, *_ = np.linalg.lstsq(_design(list(slow_downs), names), told, rcond=None)
    split = len(names)
    return PairLaw(
        sensitivity=dict(zip(names, map(float, values[:split]), strict=True)),
        pressure=dict(zip(names, map(float, values[split:]), strict=True)),
    )


def law_errors(figures: TypeFigures) -> Errors:
    """Measures the errors of the law fitted to the medians of `figures`: on pairs that it saw, and with each pair left
    out.
    """
    measured = medians(figures)
    law = fit_law(measured)
    told = np.log(list(measured.values()))
    said = np.log([law.slow_down(*pair) for pair in measured])
    spread = float(((told - told.mean()) ** 2).sum())
    r2 = 1 - float(((told - said) ** 2).sum()) / spread if spread > 0 else None
    out = left_out_errors(measured)
    return Errors(r2, _median(np.abs(np.exp(said - told) - 1)), _median(out) if out else None, len(measured) - len(out))


def left_out_errors(measured: Mapping[Ordered, float]) -> list[float]:
    """Relative error of each figure by the law of all other pairs, of which those tell something."""
    errors = []
    for a, b in sorted({(min(pair), max(pair)) for pair in measured}):
        both = {(a, b), (b, a)} & set(measured)
        rest = {pair: xi for pair, xi in measured.items() if pair not in both}
        told = sorted(tied(rest, both))
        law = fit_law(rest) if told else None
        errors += [abs(law.slow_down(*pair) / measured[pair] - 1) for pair in told] if law else []
    return errors


def tied(measured: Collection[Ordered], asked: Collection[Ordered]) -> set[Ordered]:
    """Those of the `asked` pairs whose sum the measured ones determine, however it is split."""
    names = sorted({model for pair in measured for model in pair})
    known = [pair for pair in asked if set(pair) <= set(names)]
    if not known:
        return set()
    seen, wanted = _design(list(measured), names), _design(known, names)
    same = np.isclose(wanted @ np.linalg.pinv(seen) @ seen, wanted, atol=1e-6).all(axis=1)
    return {pair for pair, holds in zip(known, same, strict=True) if holds}


def medians(figures: TypeFigures) -> dict[Ordered, float]:
    """The measured figures by ordered pair."""
    return {(model, beside): figures.slow_down[model][beside] for model, beside in figures.measured()}


def pays(slow_down_a: float, slow_down_b: float) -> bool:
    """Whether two jobs equally long end earlier in the mean if they share a GPU from the start.

    The closed form of SJF-BSBF (Luo et al., arXiv 2407.13088): with equal slow-downs, below 1.5.
    """
    more, less = max(slow_down_a, slow_down_b), min(slow_down_a, slow_down_b)
    return 0.5 + (1 - 1 / (2 * more)) * less < EQUAL_JOBS_ALONE


def share_that_pays(measured: Mapping[Ordered, float]) -> float | None:
    """The share of the pairs measured both ways that pay for two equal jobs; None if there are none."""
    both = [(xi, measured[b, a]) for (a, b), xi in measured.items() if a <= b and (b, a) in measured]
    return sum(pays(*pair) for pair in both) / len(both) if both else None


def _figures(slow_downs: Mapping[Ordered, float]) -> TypeFigures:
    rows: dict[str, dict[str, float]] = {}
    for (model, beside), slow_down in slow_downs.items():
        rows.setdefault(model, {})[beside] = slow_down
    return TypeFigures(slow_down=rows, law=fit_law(slow_downs))


def _design(pairs: Sequence[Ordered], names: Sequence[str]) -> NDArray[np.float64]:
    """A row for each pair: 1 at its sensitivity, and 1 at its neighbour's pressure."""
    at = {name: i for i, name in enumerate(names)}
    design = np.zeros((len(pairs), 2 * len(names)))
    for row, (model, beside) in zip(design, pairs, strict=True):
        row[at[model]] = row[len(names) + at[beside]] = 1.0
    return design


def _median(values: Iterable[float] | NDArray[np.float64]) -> float:
    return float(np.median(np.asarray(values)))
