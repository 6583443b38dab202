"""A run in which jobs share the GPUs of one node, told again from its log alone, by somebody who trusts nothing."""

from collections import defaultdict
from itertools import groupby
from typing import Any

from pointsman.cluster import load_cluster
from pointsman.report.result import Result
from pointsman.speed.profiles.catalogue import load_catalogue
from pointsman.workload import Workload

CATALOGUE = load_catalogue()
RELEASES = ("FINISH", "CANCEL", "STOPPED", "START_FAILED", "NODE_DOWN")
ROUNDING_MS = 1.0
"""Of work, for each stretch at one rate."""


class SharedLedger:
    """Who was on which GPU, with how much memory, and how much of each job's work got done, at one slow-down ξ for all.
    Making one checks that no GPU ever had too many jobs or too little memory, and that the work done is what there was.
    """

    def __init__(self, workload: Workload, result: Result, cluster: str, limit: int, slow_down: float) -> None:
        assert result.events is not None
        layout = load_cluster(cluster).layout()
        assert len(layout.node_gpus) == 1, "rates on several nodes are another matter"
        self.jobs = workload.jobs.sort("submit_s", maintain_order=True).to_dicts()
        self.gpu_type = layout.gpu_types[0]
        self.memory = float(layout.gpu_memory_bytes[0])
        self.limit, self.slow_down = limit, slow_down
        self.now_ms = 0
        self.on: dict[int, list[int]] = defaultdict(list)
        """Jobs on each GPU."""
        self.gpus: dict[int, list[int]] = {}
        self.steps: dict[int, int] = {}
        self.done_ms: dict[int, float] = defaultdict(float)
        self.stretches: dict[int, int] = defaultdict(int)
        self.shared: set[int] = set()
        for _, parts in groupby(result.events.to_dicts(), key=lambda row: row["seq"]):
            self._tell(list(parts))

    def _tell(self, parts: list[dict[str, Any]]) -> None:
        first = parts[0]
        self._pass_to(first["time_ms"])
        kind, row = first["kind"], first["row"]
        if kind == "START":
            gpus = [gpu for part in parts for gpu in range(64) if part["gpu_mask"] >> gpu & 1]
            assert len(gpus) == self.jobs[row]["gpus"], "a gang is not whole"
            self.steps[row] = first["arg"]
            self._put(row, gpus)
        elif kind in RELEASES or kind == "PREEMPT":
            self._take(row)
            if kind == "FINISH":
                lacks = 1000 * self.jobs[row]["duration_s"] - self.done_ms[row]
                assert abs(lacks) <= ROUNDING_MS * (1 + self.stretches[row]), f"job {row}: {lacks} ms of work"

    def _pass_to(self, time_ms: int) -> None:
        assert time_ms >= self.now_ms, "time runs back"
        for row in self.gpus if time_ms > self.now_ms else ():
            self.done_ms[row] += self._rate(row) * (time_ms - self.now_ms)
            self.stretches[row] += 1
        self.now_ms = time_ms

    def _rate(self, row: int) -> float:
        beside = max(len(self.on[gpu]) - 1 for gpu in self.gpus[row])
        if self._part(row) < 1:
            return 1.0
        return 1 / (self._stretch(row) * self.slow_down**beside)

    def _part(self, row: int) -> float:
        part = self.jobs[row]["fraction"]
        return 1.0 if part is None else part

    def _samples(self, row: int) -> int:
        job = self.jobs[row]
        own = CATALOGUE.model(job["model"]).batch.per_gpu
        return own if job["batch_size"] is None else max(1, job["batch_size"] // job["gpus"])

    def _stretch(self, row: int) -> float:
        """Without communication."""
        model, steps = self.jobs[row]["model"], self.steps[row]
        if model is None or steps == 1:
            return 1.0
        assert self.jobs[row]["gpus"] == 1, "a gang's communication is another matter"
        compute, _ = CATALOGUE.compute(model, self.gpu_type)
        return steps * compute.time_s(self._samples(row) / steps) / compute.time_s(self._samples(row))

    def _bytes(self, row: int) -> float:
        model = self.jobs[row]["model"]
        if self._part(row) < 1:
            return self._part(row) * self.memory - 1000
        if model is None:
            return self.memory
        return min(self.memory, CATALOGUE.model(model).memory_bytes(-(-self._samples(row) // self.steps[row])) - 1)

    def _put(self, row: int, gpus: list[int]) -> None:
        self.gpus[row] = gpus
        for gpu in gpus:
            self.on[gpu].append(row)
            there = self.on[gpu]
            assert len(there) <= self.limit, "too many jobs on a GPU"
            assert sum(self._bytes(other) for other in there) <= self.memory, "a GPU's memory is overdrawn"
            parts = [self._part(other) for other in there]
            assert len(there) == 1 or max(parts) == 1 == min(parts) or sum(parts) <= 1 + 1e-9, "parts add up to more"
            if len(there) > 1:
                self.shared |= set(there)

    def _take(self, row: int) -> None:
        for gpu in self.gpus.pop(row, []):
            self.on[gpu].remove(row)
