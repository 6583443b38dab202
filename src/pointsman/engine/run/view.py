"""What a policy written in Python sees, and the verbs by which it acts.

Jobs are named by their slots: an int that stays the same as long as the job is in the system.
"""

from collections.abc import Iterable, Mapping
from operator import index
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.state.job_records import JobRecords
from pointsman.engine.state.records import WAITING, State
from pointsman.engine.state.state_pointer import Handle
from pointsman.types import NEVER_MS, JobState, Reason

if TYPE_CHECKING:
    from pointsman.engine.setup.job_columns import JobColumns

_PENDING, _RUNNING = int(JobState.PENDING), int(JobState.RUNNING)
_REASONS = {int(r): r for r in Reason}


def unsettled_ms(jobs: NDArray[np.void], now_ms: int) -> NDArray[np.int64]:
    """Time since the records of running jobs were last brought up to date; they are when their rates change."""
    return np.where(jobs["state"] == _RUNNING, now_ms - jobs["settled"], 0)


def done_by(jobs: np.ndarray, now_ms: int) -> NDArray[np.float64]:
    """(jobs,) nominal ms of work that running jobs have done by `now_ms`, in whole 1/1024 ms, as `verbs.work_done`."""
    return jobs["done_when_rated"] + np.floor(jobs["rate"] * (now_ms - jobs["rated"]) * 1024.0) / 1024.0


class Viewed(Protocol):
    """What a view looks at: a `Simulation`."""

    @property
    def handle(self) -> Handle:
        """Its state."""
        ...

    @property
    def columns(self) -> "JobColumns":
        """Columns of the log's own that it keeps."""
        ...

    def what_if(self, policy: Any) -> Any:
        """A copy of it under another policy."""
        ...


class View:
    """The observable state. The truth about jobs (their work, their finish, arrivals to come) is not in it."""

    def __init__(self, simulation: Viewed, entries: ModuleType) -> None:
        self._simulation = simulation
        self._entries = entries

    @property
    def state(self) -> State:
        """The records and tables that compiled code sees; to be read only."""
        return self._simulation.handle.state

    @property
    def address(self) -> int:
        """Where the state is, for compiled functions of a policy's own (`engine.state.state_pointer.open_state`)."""
        return self._simulation.handle.address

    @property
    def now_s(self) -> float:
        """Seconds since the first submit."""
        return float(self.state.g["now"][0]) / 1000.0

    @property
    def now_ms(self) -> int:
        """Milliseconds since the first submit."""
        return int(self.state.g["now"][0])

    @property
    def jobs(self) -> "NDArray[np.void] | JobRecords":
        """Records of all job slots (`engine.state.records.JOB`), read-only; those with ``state == 0`` are empty. Kept
        columns of the log are further fields, by their names.
        """
        jobs, columns = self._simulation.handle.jobs[:], self._simulation.columns
        jobs.flags.writeable = False
        if not columns.names:
            return jobs
        return JobRecords(jobs, columns.of(self.state.job_numbers[: len(jobs)]))

    @property
    def texts(self) -> Mapping[str, tuple[str, ...]]:
        """Texts of kept columns, by code; -1 is the code of no text."""
        return self._simulation.columns.texts

    @property
    def attained_gpu_s(self) -> NDArray[np.float64]:
        """(slots,) GPU time that each job has held while RUNNING, up to now, in GPU-seconds: its attained service."""
        jobs = self._simulation.handle.jobs
        return (jobs["attained"] + jobs["gpus"] * unsettled_ms(jobs, self.now_ms)) / 1000.0

    @property
    def executed_s(self) -> NDArray[np.float64]:
        """(slots,) time that each job has been RUNNING, up to now, in seconds."""
        jobs = self._simulation.handle.jobs
        return (jobs["executed"] + unsettled_ms(jobs, self.now_ms)) / 1000.0

    @property
    def since_checkpoint_s(self) -> NDArray[np.float64]:
        """(slots,) nominal seconds of work that each running job has done since its last checkpoint; 0 for the others,
        and where jobs write none.
        """
        jobs, every = self._simulation.handle.jobs, float(self.state.g["checkpoint_ms"][0])
        if every == 0.0:
            return np.zeros(len(jobs))
        done = done_by(jobs, self.now_ms) - jobs["restored"]
        return np.where(jobs["state"] == _RUNNING, done % every, 0.0) / 1000.0

    @property
    def pending_count(self) -> int:
        """How many jobs wait."""
        return int(self.state.g["pending"][0])

    @property
    def pending(self) -> NDArray[np.int64]:
        """Slots of the waiting jobs, in submit order."""
        return self._in_state(_PENDING, "row")

    @property
    def running(self) -> NDArray[np.int64]:
        """Slots of the running jobs, in submit order."""
        return self._in_state(_RUNNING, "row")

    def _in_state(self, state: int, order: str) -> NDArray[np.int64]:
        out = np.empty(int(self.state.g["slots"][0]), np.int64)
        slots = out[: self._entries.in_state(self.address, state, out)]
        return slots[np.argsort(self.state.jobs[order][slots], kind="stable")]

    def heads(self) -> list[int]:
        """For each kind of demand that fits now, its first waiting job; in submit order."""
        out = np.empty(int(self.state.g["active"][0]), np.int64)
        rows = self.state.jobs["row"]
        return sorted(out[: self._entries.heads(self.address, out)].tolist(), key=lambda j: rows[j])

    @property
    def gpus(self) -> int:
        """GPUs of the cluster."""
        return int(self.state.g["gpus"][0])

    @property
    def free_gpus(self) -> int:
        """Free GPUs on nodes that are UP."""
        return int(self.state.g["free"][0])

    @property
    def free_by_node(self) -> NDArray[np.int64]:
        """(M,) free GPUs of each node; 0 where it is not UP."""
        nodes = self.state.nodes
        return np.where(nodes["state"] == 0, nodes["free"], 0)

    @property
    def free_by_rack(self) -> NDArray[np.int64]:
        """(racks,) free GPUs of each rack."""
        return np.bincount(self.state.nodes["rack"], self.free_by_node, len(self.state.racks)).astype(np.int64)

    def free_on(self, node: int) -> list[int]:
        """Indexes of the free GPUs of `node`.

        Raises:
            IndexError: there is no such node.
        """
        if not 0 <= node < len(self.state.nodes):
            raise IndexError(f"there is no node {node}: nodes are 0 to {len(self.state.nodes) - 1}")
        mask = int(self.state.nodes["free_mask"][node])
        return [i for i in range(int(self.state.nodes["gpus"][node])) if mask >> i & 1]

    def fits(self, job: int) -> bool:
        """Whether the configured placement can place `job` now.

        Raises:
            IndexError: no job has this slot.
        """
        return bool(self._entries.fits(self.address, self._class_of(job)))

    def _class_of(self, job: int) -> int:
        jobs = self._simulation.handle.jobs
        job = index(job)
        if not 0 <= job < len(jobs) or jobs["state"][job] == 0:
            raise IndexError(f"no job in the system has slot {job}")
        return int(jobs["cls"][job])

    def find(self, job: int) -> list[tuple[int, int]]:
        """Where the configured placement would put `job` now: (node, GPU) pairs; empty if nowhere.

        Raises:
            IndexError: no job has this slot.
        """
        n = self._entries.find(self.address, self._class_of(job))
        place = self.state.place[:n]
        return [
            (int(node), i)
            for node, mask in zip(place["node"], place["mask"], strict=True)
            for i in range(64)
            if int(mask) >> i & 1
        ]

    def start(self, job: int, gpus: Iterable[tuple[int, int]] | None = None, accumulation: int = 1) -> Reason:
        """Start `job` on `gpus`, (node, GPU) pairs, or where the configured placement puts it. OK, or why not."""
        if gpus is None:
            return _REASONS[self._entries.start(self.address, index(job), index(accumulation))]
        placed = self._note_place(gpus)
        if isinstance(placed, Reason):
            return placed
        return _REASONS[self._entries.start_on(self.address, index(job), placed, index(accumulation))]

    def _note_place(self, gpus: Iterable[tuple[int, int]]) -> int | Reason:
        """Note (node, GPU) pairs in State.place: how many nodes they are on, or what is wrong with them."""
        masks: dict[int, int] = {}
        for node, gpu in ((index(node), index(gpu)) for node, gpu in gpus):
            if not 0 <= gpu < 64 or masks.get(node, 0) >> gpu & 1:
                return Reason.GpuTaken
            masks[node] = masks.get(node, 0) | 1 << gpu
        nodes = len(self.state.nodes)
        if not masks or len(masks) > nodes:
            return Reason.GangIncomplete
        for i, (node, mask) in enumerate(masks.items()):
            self.state.place[i] = (node if 0 <= node < nodes else -1, mask - (1 << 64) if mask >> 63 else mask, 0, 0)
        return len(masks)

    def preempt(self, job: int) -> Reason:
        """Preempt `job`; it waits again. OK, or why not."""
        return _REASONS[self._entries.preempt(self.address, index(job))]

    def wake_at(self, time_s: float) -> None:
        """Be called at `time_s` at the latest.

        Raises:
            ValueError: not a time.
        """
        if not abs(time_s) < NEVER_MS / 1000:
            raise ValueError(f"wake_at({time_s}): not a time in seconds")
        self._entries.wake_at(self.address, int(np.ceil(time_s * 1000)))

    def wake_only_at_ms(self, time_ms: int) -> None:
        """Be called at `time_ms`, and at no other time that was asked for before; at none if it is `NEVER_MS`."""
        self.state.g["wake"] = NEVER_MS
        self._entries.wake_at(self.address, time_ms)

    def resize(self, job: int, gpus: Iterable[tuple[int, int]]) -> Reason:
        """Give running `job` these GPUs, (node, GPU) pairs, instead of its own, of which it may keep some; another
        number only where it is elastic. OK, or why not.
        """
        placed = self._note_place(gpus)
        if isinstance(placed, Reason):
            return placed
        return _REASONS[self._entries.resize(self.address, index(job), placed)]

    def rebatch(self, job: int, accumulation: int) -> Reason:
        """Let running `job` go on with `accumulation` steps. OK, or why not."""
        return _REASONS[self._entries.rebatch(self.address, index(job), index(accumulation))]

    def with_room(self, job: int, accumulation: int = 1) -> list[tuple[int, int]]:
        """(node, GPU) pairs that are free, or have room for waiting `job` beside the jobs on them, with so much
        accumulation; whether they are of a type it may use is not asked.
        """
        out = np.empty(self.gpus, np.int64)
        gpus = out[: self._entries.with_room(self.address, index(job), index(accumulation), out)]
        first = self.state.nodes["gpu0"]
        nodes = np.searchsorted(first, gpus, side="right") - 1
        return list(zip(nodes.tolist(), (gpus - first[nodes]).tolist(), strict=True))

    def jobs_on(self, node: int, gpu: int) -> list[int]:
        """The jobs on a GPU.

        Raises:
            IndexError: there is no such GPU.
        """
        nodes = self.state.nodes
        if not 0 <= node < len(nodes) or not 0 <= gpu < int(nodes["gpus"][node]):
            raise IndexError(f"there is no GPU {gpu} of node {node}")
        return [j for j in self.state.occupants[int(nodes["gpu0"][node]) + gpu].tolist() if j >= 0]

    def slow_down(self, job: int, beside: int, gpu_type: int = 0) -> float:
        """How many times as long an iteration of `job` is said to take beside another job on a GPU of this type (an
        index of ``nodes["gpu_type"]``): ξ >= 1.

        Raises:
            IndexError: no job has this slot, or there is no such type.
        """
        state = self.state
        for slot in (job, beside):
            self._class_of(slot)
        if not 0 <= gpu_type < int(state.g["types"][0]):
            raise IndexError(f"there is no GPU type {gpu_type}")
        kinds = state.models["kind"][state.jobs["speed"][[index(job), index(beside)]]]
        return float(state.told_slowdowns[gpu_type * int(state.g["kinds"][0]) + kinds[0], kinds[1]])

    def move(self, job: int, partition: str) -> Reason:
        """This world cannot move jobs between partitions."""
        return Reason.NotSupported

    def admit(self, job: int) -> Reason:
        """Let the transfer of `job` begin, which waits for it (`waiting_transfers`). OK, or why not."""
        return _REASONS[self._entries.admit(self.address, index(job))]

    @property
    def waiting_transfers(self) -> list[int]:
        """Jobs whose transfers wait to be admitted, by row; none but in the rate model ``iterations``."""
        state = self.state
        waiting = state.lists[WAITING, : int(state.g["waiting"][0])].tolist()
        return sorted(waiting, key=lambda j: int(state.jobs["row"][j]))

    def what_if(self, policy: Any = "fifo-backfill") -> Any:
        """A future from here, as a `Simulation` to run: a copy of the state under `policy` (a name,
        ``rounds(fifo, 60)`` too, or an object), without arrivals, node events, cancellations and failing starts.

        The copy knows no more than this view: each job's work is its estimate, or what it has done if that is more.
        Jobs without an estimate never end there. A policy object with ``copy()`` is copied, so that nothing that
        happens there reaches the present.

        Raises:
            UsageError: the run was not built for the policy's rate model, GPU sharing, estimates or placement.
        """
        return self._simulation.what_if(policy)
