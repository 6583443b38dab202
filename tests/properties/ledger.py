"""A run told again from its plan log alone, by somebody who trusts nothing."""

from collections import Counter, defaultdict
from itertools import groupby
from typing import Any

from pointsman.engine.setup.overheads import Overheads
from pointsman.report.result import Result

Gpu = tuple[int, int]
ENDS = ("FINISH", "CANCEL", "STOPPED", "START_FAILED", "NODE_DOWN")
"""Events after which a job holds nothing."""


class Ledger:
    """Who held what and for how long. Making one checks what must hold of every run.

    No GPU has two holders, gangs are whole and on nodes that are up, time does not run back, starts and stops take
    the time that they are said to take, and nothing ends that has not begun.
    """

    def __init__(self, result: Result, overheads: Overheads) -> None:
        assert result.events is not None
        self.jobs = result.jobs
        self.cost = {name: round(1000 * seconds) for name, seconds in overheads.model_dump().items()}
        self.sizes: list[int] = result.info["node_gpus"]
        self.now_ms = 0
        self.holder: dict[Gpu, int] = {}
        self.held: dict[int, list[Gpu]] = {}
        self.state: dict[int, str] = defaultdict(lambda: "PENDING")
        self.since: dict[int, int] = {}
        self.node_state = [0] * len(self.sizes)
        self.busy_gpu_ms: Counter[int] = Counter()
        """GPU-milliseconds held, by row."""
        self.ran: set[int] = set()
        self.run_ms: Counter[int] = Counter()
        self.idle_gpu_ms: Counter[int] = Counter()
        """GPU-milliseconds held while STARTING or STOPPING, by row."""
        self.preempts: Counter[int] = Counter()
        self.failures: Counter[int] = Counter()
        """Times a node took the job down while it ran."""
        self.waits: dict[int, list[tuple[int, int]]] = defaultdict(list)
        """Ends of holding followed by the next START, by row."""
        self.last_release: dict[int, int] = {}
        rows = result.events.to_dicts()
        assert [r["seq"] for r in rows] == sorted(r["seq"] for r in rows)
        for _, parts in groupby(rows, key=lambda row: row["seq"]):
            self._tell(list(parts))

    def _tell(self, parts: list[dict[str, Any]]) -> None:
        first = parts[0]
        assert first["time_ms"] >= self.now_ms, "time runs back"
        self.now_ms = first["time_ms"]
        kind, row = first["kind"], first["row"]
        if row < 0:
            self.node_state[first["node"]] = first["arg"]
        elif kind == "START":
            self._start(row, gpus_of(parts))
        elif kind == "PREEMPT":
            self._preempt(row, gpus_of(parts))
        elif kind == "STARTED":
            assert self.state[row] == "STARTING"
            assert self.now_ms - self.since[row] == self._delay(row)
            self._change(row, "RUNNING")
        elif kind in ENDS:
            self._end(row, kind)

    def _delay(self, row: int) -> int:
        return self.cost["start_s"] + (self.cost["restore_s"] if row in self.ran else 0)

    def _change(self, row: int, state: str) -> None:
        """Count the time in the state that is left."""
        if row in self.held:
            gpu_ms = len(self.held[row]) * (self.now_ms - self.since[row])
            self.busy_gpu_ms[row] += gpu_ms
            if self.state[row] == "RUNNING":
                self.run_ms[row] += self.now_ms - self.since[row]
            else:
                self.idle_gpu_ms[row] += gpu_ms
        if state == "RUNNING":
            self.ran.add(row)
        self.state[row], self.since[row] = state, self.now_ms

    def _start(self, row: int, gpus: list[Gpu]) -> None:
        job = self.jobs.row(row, named=True)
        assert self.state[row] == "PENDING"
        assert self.now_ms >= round(1000 * (job["submit_s"] - self.jobs["submit_s"][0]))
        assert len(gpus) == job["gpus"], "a gang is not whole"
        for node, gpu in gpus:
            assert gpu < self.sizes[node]
            assert self.node_state[node] == 0, "a job was put on a node that is not UP"
            assert (node, gpu) not in self.holder, "a GPU has two holders"
            self.holder[node, gpu] = row
        if row in self.last_release:
            self.waits[row].append((self.last_release[row], self.now_ms))
        self.held[row] = gpus
        self.since[row] = self.now_ms
        self.state[row] = "HOLDING"
        self._change(row, "STARTING" if self._delay(row) else "RUNNING")

    def _preempt(self, row: int, gpus: list[Gpu]) -> None:
        assert self.state[row] == "RUNNING"
        assert sorted(gpus) == sorted(self.held[row])
        self.preempts[row] += 1
        self._change(row, "STOPPING")
        if self.cost["stop_s"] == 0:
            self._release(row)

    def _end(self, row: int, kind: str) -> None:
        wanted = {"FINISH": "RUNNING", "STOPPED": "STOPPING", "START_FAILED": "STARTING"}
        assert kind not in wanted or self.state[row] == wanted[kind]
        if kind == "STOPPED":
            assert self.now_ms - self.since[row] == self.cost["stop_s"]
        if kind == "NODE_DOWN":
            assert any(self.node_state[node] == 2 for node, _ in self.held[row])
            self.failures[row] += self.state[row] == "RUNNING"
        self._release(row)
        if kind in ("FINISH", "CANCEL"):
            self.state[row] = "ENDED"

    def _release(self, row: int) -> None:
        self._change(row, "PENDING")
        self.last_release[row] = self.now_ms
        for gpu in self.held.pop(row, []):
            del self.holder[gpu]

    def check_books(self) -> None:
        """The job table says what the log says: GPU-seconds, run times, preemptions, and what became of the work."""
        for job in self.jobs.to_dicts():
            row = job["row"]
            assert job["preemptions"] == self.preempts[row]
            if job["state"] in ("COMPLETED", "CANCELLED"):
                assert self.state[row] == "ENDED"
                assert round(1000 * job["run_s"]) == self.run_ms[row]
                assert round(1000 * job["held_gpu_s"]) == self.busy_gpu_ms[row]
                assert self.busy_gpu_ms[row] == self.run_ms[row] * job["gpus"] + self.idle_gpu_ms[row]
                held_ms = round(1000 * (job["end_s"] - job["submit_s"] - job["pending_s"]))
                assert self.busy_gpu_ms[row] == held_ms * job["gpus"], "it held its GPUs or was pending"
            else:
                assert self.state[row] == job["state"]
            lost_ms, work_ms = round(1000 * job["lost_s"]), round(1000 * job["duration_s"])
            assert lost_ms >= 0
            assert lost_ms <= self.preempts[row] * self.cost["lost_s"] + self.failures[row] * max(
                0, self.cost["checkpoint_every_s"] - 1
            )
            if job["state"] == "COMPLETED":
                assert self.run_ms[row] == work_ms + lost_ms, "work came from nowhere or was lost undeclared"
                assert round(1000 * (job["end_s"] - self.jobs["submit_s"][0])) == self.since[row]
            else:
                assert self.run_ms[row] <= work_ms + lost_ms


def gpus_of(parts: list[dict[str, Any]]) -> list[Gpu]:
    """(node, GPU) pairs of the rows of one action."""
    return [(part["node"], gpu) for part in parts for gpu in range(64) if part["gpu_mask"] >> gpu & 1]
