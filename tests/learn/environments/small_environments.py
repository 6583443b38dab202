"""Small environments, and what tests do with them."""

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman import Workload
from pointsman.learn.environments import Generated, Listed

Step = tuple[dict[str, NDArray[Any]], float, bool, bool, dict[str, Any]]


def jobs(*rows: tuple[float, int, float]) -> Workload:
    """Jobs of (submit_s, gpus, duration_s)."""
    return Workload.of(pl.DataFrame(rows, ["submit_s", "gpus", "duration_s"], orient="row"))


def listed(*rows: tuple[float, int, float]) -> Listed:
    return Listed([jobs(*rows)])


def crowded(seed: int = 0, count: int = 40) -> Generated:
    """Jobs of 1 to 8 GPUs of which many wait."""
    return Generated("topdrl", jobs=count, load=3.0, seed=seed, widest=8)


def any_valid(mask: NDArray[np.int8], rng: np.random.Generator) -> NDArray[np.int64]:
    """An action of each row that is allowed, all as likely."""
    return (rng.random(mask.shape) * mask).argmax(-1)


def same(a: Any, b: Any) -> bool:
    """Whether two observations are the same to the byte."""
    return all(np.array_equal(a[name], b[name]) and a[name].dtype == b[name].dtype for name in a)
