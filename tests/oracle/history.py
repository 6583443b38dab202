"""Section 6: estimates from the jobs that have finished."""

import math
from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from .model import Job

DECAYS = (0.9995, 0.999, 0.99, 0.7, 0.95, 0.5)
PERIOD_MS = 12 * 3_600_000
LEAST_ENDS = 200
SIZE_MEAN = 2


def size_class(gpus: int) -> int:
    return (gpus >= 2) + (gpus >= 5) + (gpus >= 9)


def keys_of(job: Job) -> list[Hashable]:
    size = size_class(job.gpus)
    return [
        "all", ("size", size), ("queue", job.queue, size), ("queue", job.queue, "gpus", job.gpus),
        ("user", job.user, size), ("user", job.user, "gpus", job.gpus),
    ]  # fmt: skip


@dataclass
class History:
    counts: dict[Hashable, float] = field(default_factory=dict)
    sums: dict[Hashable, float] = field(default_factory=dict)
    features: dict[int, list[float]] = field(default_factory=dict)
    """By row."""
    seen: list[tuple[list[float], float]] = field(default_factory=list)
    """Features and logarithm of work of the jobs that have finished."""
    fitted_in: int = 0
    weights: list[float] = field(default_factory=lambda: [0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0])

    def mean(self, key: Hashable, parent: float, weight: float) -> float:
        return (self.sums.get(key, 0.0) + weight * parent) / (self.counts.get(key, 0.0) + weight)

    def features_of(self, job: Job) -> list[float]:
        everyone, size, queue, queue_gpus, user, user_gpus = keys_of(job)
        m0 = self.mean(everyone, 7.0, 2.0)
        m1 = self.mean(size, m0, 2.0)
        m2 = self.mean(queue, m1, 2.0)
        m3 = self.mean(queue_gpus, m2, 2.0)
        m4 = self.mean(user, m2, 2.0)
        m5 = self.mean(user_gpus, m4, 0.5)
        return [1.0, m0, m1, m2, m3, m4, m5, m5 * min(1.0, self.counts.get(user, 0.0) / 5.0)]

    def fit(self) -> None:
        features = np.array([known for known, _ in self.seen])
        logs = np.array([log for _, log in self.seen])
        toward = np.eye(8)[SIZE_MEAN]
        self.weights = np.linalg.solve(features.T @ features + 5 * np.eye(8), features.T @ logs + 5 * toward).tolist()

    def estimate_ms(self, row: int, job: Job, now: int) -> int:
        """Of a job that is being submitted."""
        if now // PERIOD_MS > self.fitted_in and len(self.seen) >= LEAST_ENDS:
            self.fitted_in = now // PERIOD_MS
            self.fit()
        self.features[row] = self.features_of(job)
        log = sum(weight * known for weight, known in zip(self.weights, self.features[row], strict=True))
        return math.floor(1000 * math.exp(min(max(log, 0.0), 20.0)) + 0.5)

    def learn(self, row: int, job: Job) -> None:
        """The job has finished."""
        log = math.log(max(job.work_ms / 1000, 10.0))
        for key, decay in zip(keys_of(job), DECAYS, strict=True):
            self.counts[key] = self.counts.get(key, 0.0) * decay + 1
            self.sums[key] = self.sums.get(key, 0.0) * decay + log
        self.seen.append((self.features[row], log))
