"""α, β, δ of every model and the network's law, fitted together to the measurements of one GPU type."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.speed.fitting.fit import fit_compute
from pointsman.speed.fitting.measurements import Step
from pointsman.speed.fitting.step_law import Cards, LinkLaw, ModelLaw, NetworkLaw, PlatformLaw, Rings
from pointsman.speed.laws.step_time import overlapped_s
from pointsman.speed.profiles.profiles import Compute

DEFAULT_DELTA: Final = 2.0
"""δ of a model that no measurement shows communicating; the design's default."""
MAX_DELTA: Final = 10.0
"""Above it a step is the longer of its two parts, within a few percent."""
MAX_BYTES_PER_S: Final = 1e13
"""No link is faster; where bytes cost nothing that can be seen, the bandwidth found is this."""
SOFT: Final = 0.05
"""Relative errors well above it count by their size, not its square: outliers do not decide."""
SYNC_WEIGHT: Final = 4.0
"""The weight of a computing time inferred from ``sync_s``, against a measured step: where these are taken, all steps
confound α and β with communication, and are not to decide them.
"""

STARTS: Final = (1.2, 2.0, 4.0)
"""δ from which a search begins; the law has more than one valley."""


def fit_platform(
    steps: Sequence[Step], *, kinds: Sequence[Cards] = ("node", "gpu"), deltas: Sequence[float] = STARTS
) -> PlatformLaw:
    """The law that fits the measurements of one GPU type.

    The robust sum of squared relative errors is least (pseudo-Huber, in logarithms, so that a step predicted at half
    counts as one at double). The rows of a model on one GPU, on one node and on several nodes weigh the same, however
    many they are. Models measured on single GPUs only get the line of `fit_compute`, and δ = 2.

    Args:
        steps: measurements of one GPU type, of any models and placements.
        kinds: what network cards to try: shared by a node's GPUs, or one each.
        deltas: δ from which searches begin.

    Raises:
        UsageError: SciPy is not installed.
    """
    spread = {step.model for step in steps if sum(step.placement) > 1}
    together = [step for step in steps if step.model in spread]
    models = {model: _alone(steps, model) for model in _names(steps) if model not in spread}
    if not together:
        return PlatformLaw(steps[0].gpu_type, models, NetworkLaw(None, None, "node"))
    found = [_Search(together, cards).result(deltas) for cards in kinds]
    best = min(found, key=lambda each: each[0])[1]
    order = _names(steps)
    laws = {model: (models | dict(best.models))[model] for model in order}
    return PlatformLaw(steps[0].gpu_type, laws, best.network)


def _names(steps: Sequence[Step]) -> list[str]:
    return list(dict.fromkeys(step.model for step in steps))


def _alone(steps: Sequence[Step], model: str) -> ModelLaw:
    own = [step for step in steps if step.model == model]
    line = fit_compute([step.batch_per_gpu for step in own], [step.step_s for step in own], "measured")
    return ModelLaw(line.alpha_s, line.beta_s_per_sample, DEFAULT_DELTA)


def _tier(step: Step) -> str:
    """How far a step's gang reaches."""
    if len(step.placement) > 1:
        return "nodes"
    return "node" if step.placement[0] > 1 else "gpu"


@dataclass
class _Parameters:
    """What is searched for, as logarithms: per model α, β and δ−1; seconds per byte and latency of the two levels."""

    alpha: NDArray[np.float64]
    beta: NDArray[np.float64]
    delta: NDArray[np.float64]
    network: NDArray[np.float64]

    @staticmethod
    def of(x: NDArray[np.float64]) -> "_Parameters":
        n = (len(x) - 4) // 3
        return _Parameters(np.exp(x[:n]), np.exp(x[n : 2 * n]), 1 + np.exp(x[2 * n : 3 * n]), np.exp(x[3 * n :]))


class _Search:
    """Least squares over the rows of models that communicate."""

    def __init__(self, steps: Sequence[Step], cards: Cards) -> None:
        self._steps, self._cards = steps, cards
        self._models = _names(steps)
        self._model = np.array([self._models.index(step.model) for step in steps])
        self._rings = Rings.of(steps, cards)
        self._batch = np.array([step.batch_per_gpu for step in steps])
        self._step_s = np.array([step.step_s for step in steps])
        groups = [(step.model, _tier(step)) for step in steps]
        count = Counter(groups)
        self._weight = np.array([count[group] ** -0.5 for group in groups])
        self._sync = self._rows_that_tell_computing()

    def result(self, deltas: Sequence[float]) -> tuple[float, PlatformLaw]:
        """The least cost found from any of `deltas`, and the law there."""
        try:
            from scipy.optimize import least_squares
        except ImportError:
            raise UsageError("fitting a network model needs SciPy: pip install 'pointsman[fit]'") from None

        low, high = self._bounds()
        starts = [self._begin(delta) for delta in deltas]
        fits = [
            least_squares(self._residuals, np.clip(x, low + 1e-6, high - 1e-6), bounds=(low, high), max_nfev=400)
            for x in starts
        ]
        best = min(fits, key=lambda fit: fit.cost)
        return float(best.cost), self._law(_Parameters.of(best.x))

    def _residuals(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        p = _Parameters.of(x)
        compute_s = p.alpha[self._model] + p.beta[self._model] * self._batch
        step_s = overlapped_s(compute_s, self._rings.time_s(*p.network), p.delta[self._model])
        steps = self._weight * _soften(np.log(step_s / self._step_s))
        rows, computing_s = self._sync
        return np.concatenate(
            [steps, SYNC_WEIGHT * self._weight[rows] * _soften(np.log(compute_s[rows] / computing_s))]
        )

    def _rows_that_tell_computing(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Where no row of a model is of one GPU, what did not wait for communication was computing; in one node if
        any is there, for between nodes much of the two overlaps.
        """
        told: dict[str, dict[str, list[int]]] = {}
        for i, step in enumerate(self._steps):
            if step.sync_s == step.sync_s or _tier(step) == "gpu":
                told.setdefault(step.model, {}).setdefault(_tier(step), []).append(i)
        tightest = [tiers.get("gpu") or tiers.get("node") or tiers["nodes"] for tiers in told.values()]
        rows = [i for own in tightest for i in own if _tier(self._steps[i]) != "gpu"]
        return np.array(rows, np.int64), np.array([self._steps[i].step_s - self._steps[i].sync_s for i in rows])

    def _begin(self, delta: float) -> NDArray[np.float64]:
        """Computing from each model's tightest placements; the network from what bytes and rings of it would cost."""
        lines = [self._line(model) for model in range(len(self._models))]
        floor = [1e-4 * self._step_s[self._model == m].min() for m in range(len(lines))]
        alpha = [max(line.alpha_s, least) for line, least in zip(lines, floor, strict=True)]
        beta = [max(line.beta_s_per_sample, least / 1e3) for line, least in zip(lines, floor, strict=True)]
        step_s = float(np.median(self._step_s))
        guess = [
            step_s / max(float(np.median(size[size > 0])) if (size > 0).any() else 1.0, 1.0) for size in self._rings
        ]
        speed = np.log([0.1 * guess[0], 0.5 * guess[1], 0.01 * guess[2], 0.01 * guess[3]])
        return np.concatenate([np.log(alpha), np.log(beta), np.full(len(lines), np.log(delta - 1)), speed])

    def _line(self, model: int) -> Compute:
        own = [i for i in range(len(self._steps)) if self._model[i] == model]
        least = min(sum(self._steps[i].placement) for i in own)
        rows = [i for i in own if sum(self._steps[i].placement) == least]
        return fit_compute(self._batch[rows][:100], self._step_s[rows][:100], "start")

    def _bounds(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Where α, β and latency may be as good as 0 and δ as good as 1; a β that one batch cannot tell is 0."""
        n = len(self._models)
        low, high = np.full(3 * n + 4, -35.0), np.full(3 * n + 4, 10.0)
        high[2 * n : 3 * n] = np.log(MAX_DELTA - 1)
        low[3 * n : 3 * n + 2] = -np.log(MAX_BYTES_PER_S)
        for m in range(n):
            if len(set(self._batch[self._model == m])) == 1:
                low[n + m], high[n + m] = -36.0, -35.0
        return low, high

    def _law(self, p: _Parameters) -> PlatformLaw:
        least_s = 1e-9 * float(self._step_s.min())
        alpha, beta, latency = (np.where(v < least_s, 0.0, v) for v in (p.alpha, p.beta, p.network[2:]))
        laws = zip(alpha.tolist(), beta.tolist(), p.delta.tolist(), strict=True)
        links = [
            LinkLaw(float(1 / p.network[i]), float(latency[i])) if spanned.any() else None
            for i, spanned in enumerate((self._rings.node_steps, self._rings.rack_steps))
        ]
        models = {model: ModelLaw(*law) for model, law in zip(self._models, laws, strict=True)}
        return PlatformLaw(self._steps[0].gpu_type, models, NetworkLaw(links[0], links[1], self._cards))


def _soften(error: NDArray[np.float64]) -> NDArray[np.float64]:
    """The signed square root of the pseudo-Huber loss: like the error when small, like its root when large."""
    return np.sign(error) * SOFT * np.sqrt(2 * (np.sqrt(1 + (error / SOFT) ** 2) - 1))
