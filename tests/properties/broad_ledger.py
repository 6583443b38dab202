"""The ledger for runs of any policy: jobs may share GPUs, change them, and run at any rate."""

from typing import Any

from pointsman.engine.setup.overheads import Overheads
from pointsman.report.result import Result

from .ledger import Gpu, Ledger, gpus_of


class BroadLedger(Ledger):
    """As `Ledger`, but up to `limit` jobs hold a GPU, `elastic` rows have any number of GPUs, and how fast work is done
    is not known.
    """

    def __init__(self, result: Result, overheads: Overheads, limit: int, elastic: set[int]) -> None:
        self.limit, self.elastic = limit, elastic
        self.resizes = 0
        self.resized: set[int] = set()
        """Rows of jobs that are STARTING by a change."""
        self.on: dict[Gpu, set[int]] = {}
        super().__init__(result, overheads)

    def _tell(self, parts: list[dict[str, Any]]) -> None:
        kind, row = parts[0]["kind"], parts[0]["row"]
        if kind not in ("RESIZE", "RESIZED"):
            super()._tell(parts)
            return
        assert parts[0]["time_ms"] >= self.now_ms, "time runs back"
        self.now_ms = parts[0]["time_ms"]
        pause_ms = self.cost["stop_s"] + self.cost["start_s"] + self.cost["restore_s"]
        if kind == "RESIZE":
            assert self.state[row] == "RUNNING"
            assert row in self.elastic
            self._change(row, "STARTING" if pause_ms else "RUNNING")
            self._let_go(row)
            self._hold(row, gpus_of(parts))
            self.resizes += 1
            self.resized |= {row} if pause_ms else set()
        else:
            assert row in self.resized
            assert self.now_ms - self.since[row] == pause_ms
            self.resized.remove(row)
            self._change(row, "RUNNING")

    def _start(self, row: int, gpus: list[Gpu]) -> None:
        assert self.state[row] == "PENDING"
        job = self.jobs.row(row, named=True)
        assert self.now_ms >= round(1000 * (job["submit_s"] - self.jobs["submit_s"][0]))
        self._hold(row, gpus)
        self.since[row] = self.now_ms
        self.state[row] = "HOLDING"
        self._change(row, "STARTING" if self._delay(row) else "RUNNING")

    def _hold(self, row: int, gpus: list[Gpu]) -> None:
        assert row in self.elastic or len(gpus) == self.jobs["gpus"][row], "a gang is not whole"
        assert len(gpus) == len(set(gpus)) > 0
        for node, gpu in gpus:
            assert gpu < self.sizes[node]
            assert self.node_state[node] == 0, "a job was put on a node that is not UP"
            there = self.on.setdefault((node, gpu), set())
            there.add(row)
            assert len(there) <= self.limit, "a GPU has too many holders"
        self.held[row] = gpus

    def _let_go(self, row: int) -> None:
        for gpu in self.held.pop(row, []):
            self.on[gpu].remove(row)

    def _release(self, row: int) -> None:
        self._change(row, "PENDING")
        self.resized.discard(row)
        self.last_release[row] = self.now_ms
        self._let_go(row)

    def check_books(self) -> None:
        """That the jobs' own figures are those of the log."""
        for job in self.jobs.to_dicts():
            row = job["row"]
            ended = job["state"] in ("COMPLETED", "CANCELLED")
            assert self.state[row] == ("ENDED" if ended else job["state"])
            assert job["preemptions"] == self.preempts[row]
            if ended:
                assert round(1000 * job["run_s"]) == self.run_ms[row]
                assert round(1000 * job["held_gpu_s"]) == self.busy_gpu_ms[row]
                held_ms = round(1000 * (job["end_s"] - job["submit_s"] - job["pending_s"]))
                assert self.elastic or self.busy_gpu_ms[row] == held_ms * job["gpus"], "it held its GPUs or was pending"
                assert self.elastic or self.busy_gpu_ms[row] == self.run_ms[row] * job["gpus"] + self.idle_gpu_ms[row]
            most = self.preempts[row] * self.cost["lost_s"] + self.failures[row] * self.cost["checkpoint_every_s"]
            assert 0 <= 1000 * job["lost_s"] <= most + 1e-6
            if job["state"] == "COMPLETED":
                assert round(1000 * (job["end_s"] - self.jobs["submit_s"][0])) == self.since[row]
