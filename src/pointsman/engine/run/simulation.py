"""A run in progress: a state, a world and the policy that decides."""

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.mistakes import line_of_user
from pointsman.engine.jit.policy_code import Code, load_policy
from pointsman.engine.jit.units import ADOPTING, PYTHON_API
from pointsman.engine.run.adoption import (
    check_forecasts,
    check_takeover,
    check_told_of_cluster,
    introductions,
    learns_alike,
    placement_under,
)
from pointsman.engine.run.blindfold import blindfolded
from pointsman.engine.run.contract import CompiledPolicy, Policy, check_declarations, title
from pointsman.engine.run.kept_log import KeptLog
from pointsman.engine.run.snapshot import snapshot
from pointsman.engine.run.stops import (
    AUDIT_FAILED,
    DONE,
    HOSTED,
    INBOX_FULL,
    LOG_FULL,
    UNTIL,
    WRONG_FACTOR,
    said_by_factor,
)
from pointsman.engine.run.view import View
from pointsman.engine.setup.build import memory_of, parameters_of, with_larger_inbox, with_new_memory
from pointsman.engine.setup.job_columns import NO_COLUMNS, JobColumns, check_columns_of_run
from pointsman.engine.state.invariants import FAILURES
from pointsman.engine.state.job_records import say_what_was_meant
from pointsman.engine.state.records import WAITING
from pointsman.engine.state.state_pointer import Handle
from pointsman.errors import PointsmanError, RunError, UsageError
from pointsman.types import NEVER_MS, JobState, Placement


class Named(NamedTuple):
    """A policy that was asked for by its name."""

    policy: "CompiledPolicy | Policy"
    round_ms: int = 0
    """It decides only at multiples of this; 0: at every instant with an event."""


NamedPolicy = Callable[[str], Named]
_CHUNK = 1 << 18


class Simulation:
    """One run, which can be stopped, looked at, copied and gone on with."""

    def __init__(
        self,
        handle: Handle,
        policy: CompiledPolicy | Policy,
        named: NamedPolicy | None = None,
        kept: KeptLog | None = None,
        columns: JobColumns = NO_COLUMNS,
        code: Code | None = None,
    ) -> None:
        """`code`: that of `policy`, if it is loaded."""
        self.handle = handle
        self.columns = columns
        """Columns of the log's own that were kept."""
        self.policy = policy
        self.named = named
        """How a policy is had by its name, for `View.what_if`."""
        own = getattr(policy, "placement", None)
        self.placement = Placement(int(handle.state.g[0]["placement"])) if own is None else Placement.CONSOLIDATED
        """The placement of the run, for a policy that has none of its own."""
        self.hosted = not isinstance(policy, CompiledPolicy)
        self._code = code or load_policy(policy)
        self.loop, hooks = self._code
        for hook, address in hooks.items():
            handle.state.g[hook] = address
        self.engine_s = 0.0
        self.decide_s = 0.0
        self.kept = kept or KeptLog()
        self.view = View(self, unit(PYTHON_API)) if self.hosted else None

    @property
    def now_ms(self) -> int:
        """Simulated time."""
        return int(self.handle.state.g[0]["now"])

    @property
    def decisions(self) -> int:
        """How often the policy was called."""
        return int(self.handle.world.clock[0]["decisions"])

    def run(self, until_ms: int = NEVER_MS - 1, progress: Callable[[float], None] | None = None) -> None:
        """Simulate until nothing is left to happen, or through the instants up to `until_ms`.

        `progress` is told the share of jobs that have ended, now and then.

        Raises:
            RunError: the audit found a broken invariant, a hosted policy or a factor failed, or too much was logged.
        """
        watch = _Watch()
        while True:
            stop = self._go(until_ms)
            watch.look_at(self)
            if progress is not None:
                clock = self.handle.world.clock[0]
                progress(int(clock["ended"]) / max(1, int(clock["jobs"])))
            if stop in (DONE, UNTIL):
                return
            if stop == LOG_FULL:
                self.kept.empty(self.handle.state)
                self.kept.limit(self.handle.state, int(self.handle.world.clock[0]["jobs"]))
            elif stop == INBOX_FULL:
                self.handle = with_larger_inbox(self.handle)
            elif stop == AUDIT_FAILED:
                failure = FAILURES[int(self.handle.world.clock[0]["audit_failed"])]
                raise RunError(
                    f"audit at {self.now_ms / 1000:.3f} s: {failure}; this is a bug of the engine, please report it"
                )
            elif stop == WRONG_FACTOR:
                raise RunError(said_by_factor(self.handle.state))

    def work_done_ms(self) -> float:
        """Nominal ms of work that the jobs in the system have done, net of what was lost."""
        jobs = self.handle.jobs
        elapsed = np.where(jobs["state"] == JobState.RUNNING, self.now_ms - jobs["rated"], 0)
        done = np.where(elapsed > 0, jobs["done_when_rated"] + jobs["rate"] * elapsed, jobs["done"])
        return float(done[jobs["state"] != 0].sum())

    def _go(self, until_ms: int) -> int:
        if self.hosted:
            return self._host(until_ms)
        began = time.perf_counter()
        try:
            stop = self.loop.run(self.handle.address, until_ms, _CHUNK)
        except Exception as error:
            if at := line_of_user(error, hooks := getattr(self.policy, "hooks", "")):
                what = f"{type(error).__name__}: {error} (--debug shows where)"
                raise RunError(f"{hooks}:{at}: it failed at {self.now_ms / 1000:.3f} s: {what}") from error
            raise
        self.engine_s += time.perf_counter() - began
        return stop

    def _host(self, until_ms: int) -> int:
        """Let a Python policy decide, `_CHUNK` times at most."""
        policy: Any = self.policy
        run, address, decide, clock = self.loop.run, self.handle.address, policy.decide, time.perf_counter
        view = self.view
        hear = getattr(self.policy, "on_event", None)
        began = clock()
        stop = HOSTED
        try:
            for _ in range(_CHUNK):
                stop = run(address, until_ms, 0)
                if stop != HOSTED:
                    break
                if hear is not None:
                    for kind, job in self.inbox():
                        hear(view, kind, job)
                decide(view)
        except (PointsmanError, KeyboardInterrupt):
            raise
        except BaseException as error:
            where = f"policy {title(policy)!r} failed at {self.now_ms / 1000:.3f} s"
            said = say_what_was_meant(error, self.columns.names)
            raise RunError(f"{where}: {type(error).__name__}: {said} (--debug shows where)") from error
        self.engine_s += clock() - began
        return stop

    def inbox(self) -> list[tuple[int, int]]:
        """The events of this instant: (kind, job slot, or -1)."""
        state = self.handle.state
        return [(int(k), int(j)) for k, j in state.inbox[: int(state.g[0]["inbox"])]]

    def log(self) -> NDArray[np.void]:
        """The plan log so far."""
        self.kept.empty(self.handle.state)
        return self.kept.log()

    def take_log(self) -> list[NDArray[np.void]]:
        """The plan log so far in consecutive parts, which are no longer kept here."""
        self.kept.empty(self.handle.state)
        parts, self.kept.events = self.kept.events, []
        return parts

    def copy(self) -> "Simulation":
        """A snapshot that can go its own way; a policy with a memory of its own must have ``copy()``."""
        self.kept.empty(self.handle.state)
        return self._beside(snapshot(self.handle), policy_of_its_own(self.policy), self.kept, self._code)

    def speeds(self) -> NDArray[np.void] | None:
        """Every change of a job's speed so far (SPEED), in order; None if they are not kept."""
        if not self.handle.state.g[0]["log_speeds"]:
            return None
        self.kept.empty(self.handle.state)
        return self.kept.changes_of_speed()

    def foreseen(self) -> "Simulation":
        """The future under the same policy as far as a policy can know it: see `View.what_if`."""
        handle = blindfolded(snapshot(self.handle, room=False))
        unit(ADOPTING).reschedule(handle.address)
        return self._beside(handle, policy_of_its_own(self.policy), KeptLog(), self._code)

    def what_if(self, policy: "str | CompiledPolicy | Policy") -> "Simulation":
        """A copy of this simulation under another policy: see `View.what_if`."""
        given = self._find_policy(policy) if isinstance(policy, str) else Named(policy)
        check_told_of_cluster(given.policy, self.policy)
        own = given._replace(policy=policy_of_its_own(given.policy))
        return self._under(blindfolded(snapshot(self.handle, room=False)), *own, KeptLog())

    def _find_policy(self, name: str) -> Named:
        if self.named is None:
            raise UsageError(f"this run has no policies by name: give what_if a policy object, not {name!r}")
        return self.named(name)

    def adopt(self, policy: CompiledPolicy | Policy, round_ms: int = 0) -> "Simulation":
        """This state under another policy, from now on (``semantics.md`` §13); this simulation is not to be run
        again. With `round_ms`, the policy decides only at its multiples.

        Raises:
            UsageError: the state was not built for the policy's rate model, GPU sharing, estimates or placement, or
                lacks a column that it requires.
        """
        check_told_of_cluster(policy, self.policy)
        other = self._under(self.handle, policy, round_ms, self.kept)
        other.engine_s, other.decide_s = self.engine_s, self.decide_s
        return other

    def _under(self, handle: Handle, policy: CompiledPolicy | Policy, round_ms: int, kept: KeptLog) -> "Simulation":
        check_declarations(policy)
        placement = placement_under(policy, self.placement)
        check_takeover(handle, policy, placement)
        check_forecasts(policy, self.policy)
        check_columns_of_run(policy, self.columns)
        if round_ms > 0 and self.handle.state.g[0]["decision_us"] > 0:
            raise UsageError("schedulers with a decision time cannot decide in rounds: leave out the rounds")
        handle = self.columns.handle_under(self._with_memory_for(policy, handle), policy)
        other = self._beside(handle, policy, kept)
        state = handle.state
        state.params[:] = parameters_of(policy)
        state.g[0]["inbox_on"] = other.hosted
        state.g[0]["admits"] = getattr(policy, "admits", False)
        state.g[0]["placement"] = placement
        state.g[0]["round_ms"] = round_ms
        other.take_over()
        return other

    def take_over(self) -> None:
        """The policy knows nothing of the jobs that are there: it hears of them as of new ones, and decides."""
        adopting = unit(ADOPTING)
        adopting.adopt(self.handle.address)
        adopting.reschedule(self.handle.address)
        self._let_transfers_begin()
        if self.hosted:
            self.introduce()

    def _with_memory_for(self, policy: CompiledPolicy | Policy, handle: Handle) -> Handle:
        """The state with the memory with which a policy takes over: what it has learnt itself, or nothing."""
        if learns_alike(policy, self.policy):
            policy.forget_jobs(handle.state.memory)
            return handle
        return with_new_memory(handle, memory_of(policy))

    def _beside(
        self, handle: Handle, policy: CompiledPolicy | Policy, kept: KeptLog, code: Code | None = None
    ) -> "Simulation":
        """A simulation of the same run; under the same policy, by the same `code`."""
        other = Simulation(handle, policy, self.named, kept.copy(), self.columns.under(policy), code)
        other.placement = self.placement
        return other

    def introduce(self) -> None:
        """Let a Python policy that has just come hear, at its first decision, of the jobs it finds."""
        known = introductions(self.handle) if hasattr(self.policy, "on_event") else []
        self.handle = with_larger_inbox(self.handle, len(known))
        state = self.handle.state
        state.inbox[: len(known)] = np.array(known, np.int64).reshape(-1, 2)
        state.g[0]["inbox"] = len(known)
        state.g[0]["happened"] = 0
        state.g[0]["pass_id"] += 1
        self.handle.world.clock["resume"] = 1  # what is in the inbox is of the next instant, too

    def _let_transfers_begin(self) -> None:
        """Transfers that wait for a policy that has been relieved begin, if the new one admits none."""
        state = self.handle.state
        if not state.g[0]["admits"]:
            for job in state.lists[WAITING, : int(state.g[0]["waiting"])].tolist():
                unit(PYTHON_API).admit(self.handle.address, job)


def policy_of_its_own(policy: Any) -> Any:
    """Gives a policy a memory of its own, where it is written in Python and has ``copy()``."""
    return policy.copy() if not isinstance(policy, CompiledPolicy) and hasattr(policy, "copy") else policy


_PATIENCE = 1_000_000
"""Decisions in which something must get done."""


class _Watch:
    """Notices when no work is done: no job comes or ends, and jobs only take GPUs from each other, or none runs and
    nothing is to come.
    """

    def __init__(self) -> None:
        self.moved = (-1, -1)
        self.preempts = 0
        self.best_ms = -1.0
        self.since = 0

    def look_at(self, simulation: Simulation) -> None:
        """Called now and then.

        Raises:
            RunError: nothing got done in a great many decisions.
        """
        clock, g = simulation.handle.world.clock[0], simulation.handle.state.g[0]
        moved, preempts, before = (int(clock["arrived"]), int(clock["ended"])), int(g["preempts"]), self.preempts
        self.preempts = preempts
        if moved != self.moved or (preempts == before and _goes_on(simulation.handle)):
            self.moved, self.best_ms, self.since = moved, -1.0, simulation.decisions
        elif (done_ms := simulation.work_done_ms()) > self.best_ms:  # every job is looked at
            self.best_ms, self.since = done_ms, simulation.decisions
        elif simulation.decisions > self.since + _PATIENCE:
            at, name = f"at {simulation.now_ms / 1000:.3f} s", f"policy {title(simulation.policy)!r}"
            if preempts == before:
                idle, left = "goes on asking to be woken", "no job is left"
                if g["running"]:
                    idle, left = "admits no transfer", "all jobs that run wait"
                elif g["pending"]:
                    idle, left = "goes on starting none", "jobs wait, none runs"
                raise RunError(f"{at} {left}, no event is pending, and {name} {idle}")
            raise RunError(
                f"{at} jobs only preempt each other and make no progress ({name}): a preemption costs more than "
                "they gain between two; raise its quantum or slice, or lower the overheads"
            )


def _goes_on(handle: Handle) -> bool:
    """Whether something will happen whatever the policy does."""
    g, clock = handle.state.g[0], handle.world.clock[0]
    if g["starting"] or g["stopping"] or clock["arrived"] < clock["jobs"] or clock["scripted"] < clock["script"]:
        return True
    running = handle.jobs["state"] == JobState.RUNNING
    truth = handle.world.truth[: len(running)][running]
    due = (truth["finish"] < NEVER_MS) | ((truth["due"] >= 0) & (truth["due"] < NEVER_MS))
    return bool(due.any())  # a chain whose transfer is not admitted has nothing due
