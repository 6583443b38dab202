"""Why a job is pending, in the words of `types.Reason` and with numbers; asked of the validator itself.

Nothing is logged for this: the run is replayed up to the instant, and the answer is what the verb ``start`` says there.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.units import PYTHON_API
from pointsman.engine.run.contract import Delay, title
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.run.snapshot import snapshot
from pointsman.engine.setup.prepare import Prepared
from pointsman.errors import PointsmanError, RunError
from pointsman.explain.ahead import blocker, jobs_ahead
from pointsman.explain.gpu_sharing import BesideOthers, shares
from pointsman.explain.reservations import claim_of, own_reservation, would_delay
from pointsman.explain.room import Room, gpus_in_words, names_of, one
from pointsman.inputs.bounds import instant_ms
from pointsman.inputs.durations import digits, duration, instant
from pointsman.types import JobState, Locality, Reason
from pointsman.workload.transforms.enforce_limits import KILLED


@dataclass(frozen=True)
class Explanation:
    """What can be said of a job at an instant."""

    job_id: str
    time_s: float
    """On the clock of the log, as the times of ``jobs.parquet``."""
    since_first_submit_s: float
    state: str
    reason: str
    """A name of `Reason` if the job is pending, else empty."""
    said: str
    """One sentence, with numbers."""


@dataclass(frozen=True)
class Names:
    """What jobs and instants are called."""

    job_id: Callable[[int], str]
    """The id of a job by its row."""
    instant: Callable[[int], str]
    """Renders a time in ms since the first submission."""

    @staticmethod
    def of_log(prepared: Prepared) -> "Names":
        """As the log of a run has them."""
        origin_s = float(prepared.jobs["submit_s"][0])
        return Names(
            lambda row: str(prepared.jobs["job_id"][row]),
            lambda time_ms: instant(origin_s + int(time_ms) / 1000, origin_s),
        )


def explain(simulation: Simulation, prepared: Prepared, row: int, time_s: float) -> Explanation:
    """What job `row` is doing, or waiting for, after all that happens up to `time_s`.

    Args:
        simulation: before its first event, or anywhere before `time_s`; it is run up to there.
        prepared: what it was prepared from.
        row: the job, by its position after sorting by submit.
        time_s: seconds since the first submit.
    """
    until_ms = instant_ms(time_s, "time_s")
    simulation.run(until_ms)
    names, submit_ms = Names.of_log(prepared), int(prepared.trace["submit"][row])
    if submit_ms > until_ms:
        state, reason, said = "FUTURE", None, f"it is submitted only at {names.instant(submit_ms)}"
    else:
        state, reason, said = _Question(simulation, prepared, row, names, until_ms).answer()
    origin_s = float(prepared.jobs["submit_s"][0])
    return Explanation(names.job_id(row), origin_s + time_s, time_s, state, reason.name if reason else "", said)


def explain_now(
    simulation: Simulation, prepared: Prepared, row: int, names: Names, now_ms: int
) -> tuple[str, Reason | None, str]:
    """The state of job `row`, which has not ended, the reason if it is pending, and a sentence.

    Args:
        simulation: as of now.
        prepared: what jobs may ask for.
        row: the job.
        names: what jobs and instants are called.
        now_ms: ms since the first submission.
    """
    return _Question(simulation, prepared, row, names, now_ms).answer()


class _Question:
    def __init__(self, simulation: Simulation, prepared: Prepared, row: int, names: Names, now_ms: int) -> None:
        self.simulation, self.prepared, self.row, self.now_ms = simulation, prepared, row, now_ms
        self.names, self._instant = names, names.instant
        self.world = simulation.handle.world
        self.jobs: NDArray[np.void] = np.asarray(simulation.handle.jobs)
        self.nodes: NDArray[np.void] = np.asarray(simulation.handle.state.nodes)
        self.room = Room(simulation, prepared)
        self.beside = BesideOthers(simulation, prepared, now_ms, self._instant) if shares(simulation) else None

    def answer(self) -> tuple[str, Reason | None, str]:
        """The state, the reason of a pending job, and the sentence."""
        live = np.flatnonzero((self.jobs["row"] == self.row) & (self.jobs["state"] != 0))
        if not len(live):
            return self._describe_end()
        slot = int(live[0])
        state, reason, said = self._live(slot)
        return state, reason, said + self._why_there(slot) + self._owner(slot)

    def _live(self, slot: int) -> tuple[str, Reason | None, str]:
        if self.jobs["state"][slot] != JobState.PENDING:
            state, reason, said = self._holding(slot)
            return state, reason, said + self._protection(slot)
        if claimed := claim_of(self.simulation.handle.state, slot, self.prepared.layout.node_names):
            return "PENDING", Reason.Reserved, claimed
        state, reason, said = self._pending(slot)
        policy = self.simulation.policy
        said += own_reservation(policy, self.simulation.handle.state, slot, self._instant)
        asked = getattr(policy, "standing", None)
        standing = asked(self.simulation.handle.state, self.jobs[slot], self.now_ms) if asked else None
        if standing is None:
            return state, reason, said
        fits = reason in (Reason.Priority, Reason.HeldByDelay, Reason.QuotaExceeded)
        if fits and standing.reason is not None:
            return state, standing.reason, standing.said
        return state, reason, f"{said}; {standing.said}"

    def _protection(self, slot: int) -> str:
        """That a running job may never be preempted, or what the policy says of one that may not be now."""
        if self.jobs["pinned"][slot]:
            return "; it may not be preempted"
        asked = getattr(self.simulation.policy, "protection", None)
        said = asked(self.simulation.handle.state, self.jobs[slot], self.now_ms) if asked else None
        return f"; {said}" if said else ""

    def _pending(self, slot: int) -> tuple[str, Reason | None, str]:
        delay = self._delay(slot)
        reason = self._validator_says(slot, delay.level if delay else Locality.CLUSTER)
        if delay is None or reason in (Reason.OK, Reason.QuotaExceeded):
            return "PENDING", *self._why(slot, reason)
        return "PENDING", *self._why_not_within(slot, delay)

    def _delay(self, slot: int) -> Delay | None:
        asked = getattr(self.simulation.policy, "delay_of", None)
        return asked(self.jobs[slot]) if asked else None

    def _why_there(self, slot: int) -> str:
        """What the policy says of the place of a job that holds GPUs."""
        asked, view = getattr(self.simulation.policy, "why_there", None), self.simulation.view
        if asked is None or view is None or self.jobs["state"][slot] == JobState.PENDING:
            return ""
        said = asked(view, slot, self._instant)
        return f"; {said}" if said else ""

    def _owner(self, slot: int) -> str:
        """Which of several schedulers it belongs to."""
        asked = getattr(self.simulation.policy, "owner_of", None)
        owner = asked(self.jobs[slot]) if asked else None
        if owner is None:
            return ""
        said = f"; it belongs to {self._scheduler(owner.scheduler)}"
        if owner.forwarded_by is None:
            return said
        return f"{said}, forwarded by {self._scheduler(owner.forwarded_by)} at {self._instant(owner.forwarded_ms)}"

    def _scheduler(self, scheduler: int) -> str:
        """Its number, from 1, and its nodes, which are consecutive."""
        pools, names = self.prepared.pools, self.prepared.layout.node_names
        mine = np.flatnonzero(np.array(pools.scheduler)[pools.pool_of_node] == scheduler)
        nodes = names[mine[0]] if len(mine) == 1 else f"{names[mine[0]]} to {names[mine[-1]]}"
        return f"scheduler {scheduler + 1} of {pools.schedulers} ({nodes})"

    def _describe_end(self) -> tuple[str, None, str]:
        outcome = np.asarray(self.world.outcomes)[self.row]
        state, end = JobState(int(outcome["state"])), self._instant(outcome["end"])
        jobs = self.prepared.jobs
        if state is JobState.COMPLETED and KILLED in jobs.columns and jobs[KILLED][self.row]:
            limit = duration(float(jobs["time_limit_s"][self.row]))
            return JobState.TIMEOUT.name, None, f"it was killed at its time limit of {limit}, at {end}"
        return state.name, None, f"it ended at {end}"

    def _holding(self, slot: int) -> tuple[str, None, str]:
        occupants = np.asarray(self.simulation.handle.state.occupants)
        gpus = np.flatnonzero((occupants == slot).any(axis=1))
        nodes = np.unique(np.searchsorted(self.nodes["gpu0"], gpus, side="right") - 1)
        names = names_of(nodes, self.prepared.layout.node_names)
        since = self._instant(self.jobs["held_since"][slot])
        state = JobState(int(self.jobs["state"][slot])).name
        if self.beside is None:
            held = gpus_in_words(len(gpus))
            shared = f", shared with {_other_jobs(occupants[gpus], slot)}," if self.room.shares else ""
        else:
            held, shared = self.beside.part(slot) or gpus_in_words(len(gpus)), self.beside.holding(slot)
        return state, None, f"it holds {held} on {names}{shared} since {since}{self._describe_slowdown(slot)}"

    def _describe_slowdown(self, slot: int) -> str:
        """How much longer its computing takes, and by which factors."""
        slow = float(self.jobs["slow_computing"][slot])
        if slow <= 1.0 or self.jobs["state"][slot] != JobState.RUNNING:
            return ""
        slowing = [factor for factor in self.prepared.terms.factors if not factor.instead_of]
        names = [factor.name for factor in slowing if factor.slows == "computing"]
        return f"; its {self.prepared.terms.base_model.slowed} {digits(slow)} times as long ({', '.join(names)})"

    def _validator_says(self, slot: int, within: Locality) -> Reason:
        copy = snapshot(self.simulation.handle)
        copy.state.g[0]["within"] = within
        reason = Reason(int(unit(PYTHON_API).start(copy.address, slot, 1)))
        if reason in (Reason.OK, Reason.QuotaExceeded) or not self.room.shares:
            return reason
        job = self.jobs[slot]  # what the validator says is of GPUs that no job holds
        return Reason.OK if self.room.beside_others(job) >= job["asked"] else Reason.Resources

    def _why(self, slot: int, reason: Reason) -> tuple[Reason, str]:
        job = self.jobs[slot]
        if reason is Reason.QuotaExceeded:
            return reason, self._quota(job)
        if reason is not Reason.OK:
            beside_others = self.beside.waiting(slot) if self.beside and not self.room.of_shape(job) else None
            return beside_others or self.room.reason(job)
        if said := self._policy_says(slot):
            return said
        if decision_us := int(self.simulation.handle.state.g[0]["decision_us"]):
            return (
                Reason.HeldByDelay,
                "it would fit, and waits for its scheduler, which decides about one job after another, "
                f"{duration(decision_us / 1e6)} each",
            )
        state = self.simulation.handle.state
        if int(state.g[0]["reserved"]) and (head := blocker(state, self.prepared.demands, slot)) >= 0:
            return Reason.Reserved, f"it would fit, but only on GPUs reserved for job {self._id_of(head)}"
        asked = self.simulation.policy, state, self.prepared.demands, slot
        if said := would_delay(*asked, self._id_of, self.now_ms):
            return Reason.Reserved, said
        if ahead := jobs_ahead(self.jobs, self.prepared.demands, slot):
            first, many = self._id_of(ahead[0]), len(ahead)
            who = f"job {first} is ahead of it" if many == 1 else f"{many:,} jobs are ahead of it, job {first} first"
            return Reason.Priority, f"it would fit, but {who}"
        return Reason.HeldByDelay, "it would fit and is first in line, but the policy has not started it"

    def _policy_says(self, slot: int) -> tuple[Reason, str] | None:
        """Why a job that fits waits, by a policy written in Python that can tell."""
        policy: Any = self.simulation.policy
        if self.simulation.view is None or not hasattr(policy, "why_waiting"):
            return None
        try:
            return policy.why_waiting(self.simulation.view, slot, self._id_of)
        except PointsmanError:
            raise
        except Exception as error:
            raise RunError(f"policy {title(policy)!r}: why_waiting failed: {type(error).__name__}: {error}") from error

    def _id_of(self, slot: int) -> str:
        return self.names.job_id(int(self.jobs["row"][slot]))

    def _why_not_within(self, slot: int, delay: Delay) -> tuple[Reason, str]:
        """There is no room at the level that the job holds out for; there may be elsewhere."""
        job = self.jobs[slot]
        held = self._validator_says(slot, Locality.CLUSTER) is Reason.OK
        reason, said = (Reason.HeldByDelay, self.room.within(job, delay.level)) if held else self.room.reason(job)
        if delay.until_ms is None:
            return reason, f"{said}; holds out for {one(delay.level)}, however long it takes"
        more = duration((delay.until_ms - self.now_ms) / 1000)
        return reason, f"{said}; holds out for {one(delay.level)} until {self._instant(delay.until_ms)}, {more} more"

    def _quota(self, job: Any) -> str:
        queue = np.asarray(self.simulation.handle.state.queues)[job["queue"]]
        name = list(self.prepared.layout.queue_limits)[int(job["queue"]) - 1]
        held = f"queue {name!r} holds {queue['held']} of the {queue['limit']} it may hold"
        return f"needs {gpus_in_words(job['asked'])}; {held}"


def _other_jobs(occupants: NDArray[np.int64], slot: int) -> str:
    n = len(np.setdiff1d(occupants, (-1, slot)))
    return "1 other job" if n == 1 else f"{n} other jobs" if n else "no other job"
