"""How far a fitted law is from the measurements, seen and left out."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.fitting.fit_law import DEFAULT_DELTA, fit_platform
from pointsman.speed.fitting.measurements import Step
from pointsman.speed.fitting.step_law import PlatformLaw


class GroupError(NamedTuple):
    """Relative errors |predicted/measured − 1| of a group of rows."""

    model: str
    gpu_type: str
    placement: str
    rows: int
    seen: float
    """Median over rows that the fit has seen."""
    left_out: float | None
    """Median over rows whose placement was left out of the fit; None if nothing could be said of any."""
    unpredicted: int
    """Rows left out of which the rest tells nothing."""


def errors_seen(steps: Sequence[Step], law: PlatformLaw) -> NDArray[np.float64]:
    """(n,) relative error of each step under `law`."""
    return np.abs(law.predict_s(steps) / np.array([step.step_s for step in steps]) - 1)


def errors_left_out(
    steps: Sequence[Step], law: PlatformLaw, progress: Callable[[float], None] = lambda share: None
) -> NDArray[np.float64]:
    """(n,) relative error of each step under the law of all steps of other placements; NaN where that tells nothing.

    A placement is the GPUs of each node, in any order, of whatever model. Each search begins anew,
    so that nothing of what is left out is known; only who shares network cards is taken from `law`.
    """
    errors = np.full(len(steps), np.nan)
    placements = sorted({step.placement for step in steps})
    for done, placement in enumerate(placements):
        out = np.array([step.placement == placement for step in steps])
        rest = [step for step in steps if step.placement != placement]
        if rest:
            without = fit_platform(rest, kinds=(law.network.cards,), deltas=(DEFAULT_DELTA,))
            errors[out] = errors_seen([step for step in steps if step.placement == placement], without)
        progress((done + 1) / len(placements))
    return errors


def grouped(
    steps: Sequence[Step],
    seen: NDArray[np.float64],
    left_out: NDArray[np.float64],
    key: Callable[[Step], tuple[str, str, str]],
) -> list[GroupError]:
    """The errors by group, in order of first appearance."""
    groups: dict[tuple[str, str, str], list[int]] = {}
    for i, step in enumerate(steps):
        groups.setdefault(key(step), []).append(i)
    return [_group(*name, seen[rows], left_out[rows]) for name, rows in groups.items()]


def reach(step: Step) -> str:
    """``one GPU``, ``one node`` or ``several nodes``."""
    if len(step.placement) > 1:
        return "several nodes"
    return "one node" if step.placement[0] > 1 else "one GPU"


def _group(
    model: str, gpu_type: str, placement: str, seen: NDArray[np.float64], out: NDArray[np.float64]
) -> GroupError:
    known = out[~np.isnan(out)]
    return GroupError(
        model,
        gpu_type,
        placement,
        len(seen),
        median(seen),
        median(known) if len(known) else None,
        len(out) - len(known),
    )


def median(errors: Iterable[float] | NDArray[np.float64]) -> float:
    """The median as a plain number."""
    return float(np.median(np.asarray(errors)))
