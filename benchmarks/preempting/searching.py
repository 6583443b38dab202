"""``python -m benchmarks.preempting.searching``: linear choices, found by the cross-entropy method on whole runs.

Each generation has workloads of its own, one of each kind, and each sample costs the mean logarithm of its
mean JCT to that of `gittins`. What was interrupted goes on.
"""

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.preempting import choosing
from benchmarks.preempting.runs import KINDS, ended, jcts_s, workload

FOUND: Final = Path(__file__).parent / "found.json"
JOBS: Final = 1000
SEEDS: Final = 1
"""Of each kind in a generation."""
FIRST_SEED: Final = 20_000
POPULATION, ELITE, GENERATIONS = 40, 10, 24
SMOOTHING, DEVIATION, LEAST_DEVIATION = 0.7, 0.1, 0.005
SIZE: Final = (choosing.ACTIONS - 1) * (choosing.FEATURES + 1)
Vector = NDArray[np.float64]


def weights(linear: Vector) -> list[float]:
    """Those of `choosing` that make it linear: hidden units hand on the features, none of which is negative."""
    features = choosing.FEATURES
    out = np.vstack([np.zeros(features + 1), linear.reshape(-1, features + 1)])
    return [1.0, choosing.CAUTION, *np.eye(features, features + 1).ravel().tolist(), *out.ravel().tolist()]


def cost(sample: Sequence[float], generation: int) -> float:
    """See the module; no weights at all make it the cost of `gittins`."""
    first = FIRST_SEED + SEEDS * generation
    jobs = [workload(kind, JOBS, seed) for kind in KINDS for seed in range(first, first + SEEDS)]
    return float(np.mean([np.log(jcts_s(ended(each, sample)).mean()) for each in jobs]))


def next_generation(found: dict[str, Any], costs: ProcessPoolExecutor) -> dict[str, Any]:
    """The distribution closes in on the best samples."""
    generation = len(found["gains"])
    mean, deviation = np.array(found["mean"]), np.array(found["deviation"])
    samples = mean + deviation * np.random.default_rng(generation).standard_normal((POPULATION, SIZE))
    samples[0] = mean
    vectors = [[], *(weights(sample) for sample in samples)]
    usual, *each = costs.map(cost, vectors, [generation] * len(vectors))
    best = samples[np.argsort(each, kind="stable")[:ELITE]]
    mean = (1 - SMOOTHING) * mean + SMOOTHING * best.mean(0)
    deviation = (1 - SMOOTHING) * deviation + SMOOTHING * best.std(0) + LEAST_DEVIATION
    gains = [*found["gains"], [round(usual - each[0], 5), round(usual - min(each), 5)]]
    return {"gains": gains, "mean": mean.round(5).tolist(), "deviation": deviation.round(5).tolist()}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    found = {"gains": [], "mean": [0.0] * SIZE, "deviation": [DEVIATION] * SIZE}
    if FOUND.is_file():
        found = json.loads(FOUND.read_text(encoding="utf-8"))
    with ProcessPoolExecutor(given.workers) as costs:
        while len(found["gains"]) < GENERATIONS:
            found = next_generation(found, costs)
            print(len(found["gains"]), *found["gains"][-1], flush=True)
            FOUND.write_text(json.dumps(found) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
