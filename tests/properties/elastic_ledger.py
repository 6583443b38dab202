"""A run of elastic jobs told again from its plan log alone, by somebody who trusts nothing."""

from itertools import groupby
from typing import Any

from pointsman.cluster import Cluster
from pointsman.engine.setup.overheads import Overheads
from pointsman.report.result import Result

Gpu = tuple[int, int]
ENDS = ("FINISH", "CANCEL", "STOPPED", "START_FAILED", "NODE_DOWN")
ROUND_MS = 60_000
DECISIONS = ("START", "RESIZE", "PREEMPT")


class ElasticLedger:
    """Who held which GPUs. Making one checks that no GPU has two holders, that rigid gangs are whole, that elastic ones
    have no more than twice what they ever had, that all changes are at rounds and pause for what they must, that no two
    gangs of several nodes share one (`apart`), and that queues keep to their limits.
    """

    def __init__(
        self, result: Result, cluster: Cluster, overheads: Overheads, elastic: set[int], apart: bool = True
    ) -> None:
        assert result.events is not None
        self.jobs = result.jobs.sort("row").to_dicts()
        self.elastic, self.apart = elastic, apart
        self.limits = {name: queue.gpu_limit for name, queue in cluster.spec.queues.items()}
        self.stop_ms = round(1000 * overheads.stop_s)
        self.pause_ms = self.stop_ms + round(1000 * (overheads.start_s + overheads.restore_s))
        self.now_ms = 0
        self.holds: dict[int, list[Gpu]] = {}
        self.most: dict[int, int] = {}
        self.paused: dict[int, int] = {}
        self.down: dict[int, int] = {}
        self.resizes = 0
        for _, parts in groupby(result.events.to_dicts(), key=lambda row: row["seq"]):
            self._tell(list(parts))

    def _tell(self, parts: list[dict[str, Any]]) -> None:
        kind, row = parts[0]["kind"], parts[0]["row"]
        assert parts[0]["time_ms"] >= self.now_ms, "time runs back"
        self.now_ms = parts[0]["time_ms"]
        if kind in DECISIONS:
            assert self.now_ms % ROUND_MS == 0, "a change between rounds"
        if row < 0:
            self.down[parts[0]["node"]] = parts[0]["arg"]
        elif kind in ("START", "RESIZE"):
            self._give(row, kind, [(p["node"], g) for p in parts for g in range(64) if p["gpu_mask"] >> g & 1])
        elif kind == "RESIZED":
            assert self.now_ms - self.paused.pop(row) == self.pause_ms, "a change took another time than it should"
        elif kind in ENDS or (kind == "PREEMPT" and self.stop_ms == 0):
            self.holds.pop(row, None)
            self.paused.pop(row, None)

    def _give(self, row: int, kind: str, gpus: list[Gpu]) -> None:
        assert (row in self.holds) == (kind == "RESIZE")
        assert kind == "START" or row in self.elastic, "a rigid job was changed"
        taken = {gpu for other, theirs in self.holds.items() if other != row for gpu in theirs}
        assert not taken & set(gpus), "a GPU has two holders"
        assert not any(self.down.get(node) for node, _ in gpus), "a job was put on a node that is not UP"
        if row in self.elastic:
            assert len(gpus) <= max(1, 2 * self.most.get(row, 0)), "more than twice the GPUs it ever had"
        else:
            assert len(gpus) == self.jobs[row]["gpus"], "a gang is not whole"
        self.most[row] = max(self.most.get(row, 0), len(gpus))
        self.holds[row] = gpus
        if kind == "RESIZE":
            self.resizes += 1
            assert row not in self.paused, "changed again in its pause"
            if self.pause_ms:
                self.paused[row] = self.now_ms
        if self.apart:
            self._look_at_gangs()
        self._look_at_limits()

    def _look_at_limits(self) -> None:
        for queue, limit in self.limits.items():
            held = sum(len(gpus) for row, gpus in self.holds.items() if self.jobs[row]["queue"] == queue)
            assert limit is None or held <= limit, "a queue is above its limit"

    def _look_at_gangs(self) -> None:
        """Of those on several nodes."""
        nodes = [{node for node, _ in gpus} for gpus in self.holds.values()]
        wide = [node for gang in nodes if len(gang) > 1 for node in gang]
        assert len(wide) == len(set(wide)), "two distributed jobs on a node"
