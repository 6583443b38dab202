"""What-ifs and policies that take over from one another (semantics.md §13)."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.run.view import View
from pointsman.engine.setup.overheads import Overheads
from pointsman.engine.state.due_times import NEVER, after
from pointsman.engine.state.named import OfGpu, OfJob, OfNode
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import PolicySpec, get_policy
from pointsman.types import Event, JobState, Placement, Reason

Rows = list[tuple[float, int, float]]


def jobs_of(rows: Rows, **columns: list[Any]) -> pointsman.Workload:
    """Of (submit_s, gpus, duration_s) each."""
    frame = pl.DataFrame(rows, schema=["submit_s", "gpus", "duration_s"], orient="row")
    return pointsman.Workload.of(frame.with_columns(**{name: pl.Series(values) for name, values in columns.items()}))


def open_run(jobs: pointsman.Workload, cluster: str, policy: Any, **options: Any) -> Simulation:
    """A simulation before its first event, under a policy's name or object."""
    spec = get_policy(policy) if isinstance(policy, str) else PolicySpec(policy.name, type(policy))
    made = spec.make() if isinstance(policy, str) else policy
    return open_simulation(
        jobs, load_cluster(cluster), spec, made, RunOptions(**{"audit": True, "overheads": "none", **options})
    )[0]


def starts_ms(simulation: Simulation) -> list[int]:
    return simulation.handle.world.outcomes["start"].tolist()


class Asks:
    """Does what it is told in its first decision, once."""

    name, needs = "asks", "none"

    def __init__(self, do: Callable[[View], object] = lambda view: None) -> None:
        self.do: Callable[[View], object] | None = do

    def decide(self, view: View) -> None:
        if self.do is not None:
            do, self.do = self.do, None
            do(view)


class AsksKnowing(Asks):
    needs = "estimate"


def asked(question: Callable[[View], Any], jobs: pointsman.Workload, cluster: str, **options: Any) -> Any:
    """What `question` answers at the first instant of a run."""
    found: list[Any] = []
    knows = options.pop("knows", False)
    policy = (AsksKnowing if knows else Asks)(lambda view: found.append(question(view)))
    open_run(jobs, cluster, policy, **options).run()
    return found[0]


# -- ends ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "rate", "end"),
    [(0.0, 0.0, 5), (-1.0, 1.0, 5), (2.5, 1.0, 8), (2.5, 0.5, 10), (1.0, 0.0, NEVER), (np.inf, 1.0, NEVER),
     (np.nan, 1.0, NEVER), (1e15, 2.0**-30, NEVER), (2.0**61, 1.0, NEVER), (2.0**60, 1.0, 5 + (1 << 60))],
)  # fmt: skip
def test_what_never_ends_has_no_end_in_the_past(left: float, rate: float, end: int) -> None:
    assert getattr(after, "py_func", after)(5, left, rate) == end


def test_jobs_of_which_nothing_is_known_start_in_the_future_and_never_end_there() -> None:
    def future(view: View) -> Simulation:
        ahead = view.what_if("fifo-backfill")
        ahead.run()
        return ahead

    ahead = asked(future, jobs_of([(0.0, 1, 10.0)] * 2), "1x4")
    assert ahead.handle.jobs["state"].tolist() == [JobState.RUNNING] * 2
    assert ahead.handle.world.outcomes["state"].tolist() == [0, 0]
    assert ahead.now_ms == 0


def test_stages_of_jobs_of_which_nothing_is_known_never_end() -> None:
    def future(view: View) -> Simulation:
        ahead = view.what_if("fifo-backfill")
        ahead.run(10**9)
        return ahead

    jobs = jobs_of([(0.0, 1, 10_000.0)] * 2, model=["resnet50"] * 2)
    ahead = asked(future, jobs, "1x4/gpu=t4", rate_model="goodput")
    assert ahead.handle.jobs["state"].tolist() == [JobState.RUNNING] * 2
    assert (ahead.handle.world.truth["turn"][:2] == NEVER).all()


def test_stages_come_when_they_would_for_a_job_of_the_estimated_duration() -> None:
    def at_one_second(duration_s: float) -> Simulation:
        jobs = jobs_of([(0.0, 1, duration_s)], model=["resnet50"], time_limit_s=[100.003])
        simulation = open_run(jobs, "1x4/gpu=t4", "easy", rate_model="goodput", estimate="limit")
        simulation.run(1000)
        return simulation

    foreseen, true = at_one_second(500.0).foreseen(), at_one_second(100.003)
    assert foreseen.handle.world.truth["turn"][0] == true.handle.world.truth["turn"][0] < 100_000


def test_a_job_past_its_estimate_ends_at_once_with_the_work_that_it_has_done() -> None:
    """Its limit was 5 s, and 8 s have passed; the job that waits for its GPU starts."""
    jobs = jobs_of([(0.0, 1, 20.0), (8.0, 1, 20.0)], time_limit_s=[5.0, 5.0])
    simulation = open_run(jobs, "1x1", "easy", estimate="limit")
    simulation.run(8000)
    ahead = simulation.what_if("fifo")
    ahead.run()
    assert starts_ms(ahead) == [0, 8001]


def test_the_future_under_the_same_policy_knows_estimates_only() -> None:
    """The heap still held the true end of 10 s; starts fail in the run, but nobody can know which."""
    jobs = jobs_of([(0.0, 1, 10.0), (0.0, 1, 10.0)], time_limit_s=[60.0, 60.0])
    costs = Overheads(start_s=2.0, start_fail_rate=0.999)
    simulation = open_run(jobs, "1x1", "easy", estimate="limit", overheads=costs, seed=1)
    simulation.run(1000)
    ahead = simulation.foreseen()
    ahead.run()
    assert ahead.handle.world.outcomes["end"].tolist() == [62_000, 124_000]


# -- the first decision --------------------------------------------------------------------------------


@pytest.mark.parametrize("other", ["fifo", "fifo-backfill", "tiresias"])
def test_who_takes_over_decides_at_once(other: str) -> None:
    """Four GPUs are idle, four jobs wait, and nothing happens before 150 s."""
    simulation = open_run(jobs_of([(0.0, 1, 10.0)] * 3 + [(2.0, 1, 10.0), (150.0, 1, 10.0)]), "1x4", Asks())
    simulation.run(2000)
    after = simulation.adopt(get_policy(other).make())
    after.run()
    assert starts_ms(after) == [2000] * 4 + [150_000]


def test_fifo_starts_its_head_where_jobs_stopped_that_another_policy_preempted() -> None:
    """`srtf` preempts row 0 for row 1 at 1 s, which takes until 6 s; `fifo` has no place for row 1 before."""
    jobs = jobs_of([(0.0, 2, 1000.0), (1.0, 2, 100.0)], priority=[0, 1])
    simulation = open_run(jobs, "1x2", "srtf", overheads=Overheads(stop_s=5.0), estimate="oracle")
    simulation.run(1000)
    after = simulation.adopt(get_policy("fifo").make())
    after.run()
    assert starts_ms(after) == [0, 6000]


def test_rounds_stay_on_their_grid() -> None:
    def future(view: View) -> list[list[int]]:
        found = []
        for other in ("fifo-backfill", "rounds(fifo-backfill, 60)"):
            ahead = view.what_if(other)
            ahead.run()
            found.append(starts_ms(ahead))
        return found

    rows = [(0.0, 4, 100.0), (0.0, 4, 10.0)]
    assert asked(future, jobs_of(rows), "1x4", knows=True, estimate="oracle") == [[0, 100_000], [0, 120_000]]
    simulation = open_run(jobs_of([(0.0, 1, 10.0), (5.0, 1, 10.0)]), "1x4", Asks())
    simulation.run(5000)
    other = simulation.adopt(get_policy("fifo").make(), round_ms=60_000)
    other.run()
    assert starts_ms(other) == [60_000, 60_000]


def test_nothing_of_who_was_relieved_is_left() -> None:
    simulation = open_run(jobs_of([(0.0, 1, 100.0)] * 3), "1x1", "easy", estimate="oracle")
    simulation.run(0)
    state = simulation.handle.state
    kept = [(getattr(state, of.place), field) for of in (OfJob, OfNode, OfGpu) for field in of.fields]
    for records, field in kept:
        records[field] = 7.0
    state.memory[:] = 7.0
    state.classes["failed_at"], state.classes["lacking"], state.classes["failed_key"] = 3, 3, np.inf
    assert state.buckets["by_key"].any()
    simulation.adopt(get_policy("fifo").make())
    assert not state.buckets["by_key"].any()
    assert not any(records[field].any() for records, field in kept)
    assert not state.memory.any()
    assert (state.classes["failed_at"] == -1).all() and not state.classes["failed_key"].any()


def test_priorities_count_again_after_a_policy_that_ignores_them_among_running_jobs() -> None:
    """Row 0 has the most left, row 1 the lower priority: srtf evicts row 1 for row 2, easy orders by ends alone."""
    jobs = jobs_of([(0.0, 1, 100.0), (0.0, 1, 50.0), (1.0, 1, 10.0)], priority=[1, 0, 1])
    simulation = open_run(jobs, "1x2", "easy", estimate="oracle")
    simulation.run(1000)
    after = simulation.adopt(get_policy("srtf").make())
    after.run()
    assert after.handle.world.outcomes["preempts"].tolist() == [0, 1, 0]


def test_easy_reserves_around_jobs_it_finds_starting() -> None:
    """Row 0 begins at 10 and ends at 110 s; then row 1 needs both GPUs, so the long row 2 waits."""

    def future(view: View) -> list[int]:
        assert view.start(0) is Reason.OK
        ahead = view.what_if("easy")
        ahead.run()
        return starts_ms(ahead)

    jobs = jobs_of([(0.0, 1, 100.0), (0.0, 2, 50.0), (0.0, 1, 1000.0)])
    assert asked(future, jobs, "1x2", knows=True, estimate="oracle", overheads=Overheads(start_s=10.0)) == [
        0, 110_000, 170_000,
    ]  # fmt: skip


def test_the_log_goes_on() -> None:
    simulation = open_run(jobs_of([(0.0, 1, 10.0), (1.0, 1, 10.0)]), "1x4", "fifo")
    simulation.run(0)
    before = len(simulation.log())  # flushed
    after = simulation.adopt(get_policy("fifo-backfill").make())
    after.run()
    log = after.log()
    assert before > 0 and (np.diff(log["seq"]) >= 0).all()
    assert sorted(log["row"][log["kind"] == Event.FINISH].tolist()) == [0, 1] and log["time"][0] == 0


# -- what is declared ----------------------------------------------------------------------------------


def test_the_placement_is_the_policys_own_else_the_runs() -> None:
    def placements(view: View) -> list[Placement]:
        names = ("tiresias-skew", "fifo")
        return [Placement(int(view.what_if(name).handle.state.g["placement"][0])) for name in names]

    jobs = jobs_of([(0.0, 1, 10.0)])
    assert asked(placements, jobs, "2x4", placement="first-fit") == [Placement.TIGHTEST, Placement.FIRST_FIT]
    simulation = open_run(jobs, "2x4", "tiresias-skew")
    simulation.run(0)
    assert simulation.what_if("fifo").handle.state.g["placement"][0] == Placement.CONSOLIDATED
    there_and_back = simulation.what_if("fifo").adopt(get_policy("tiresias-skew").make())
    assert there_and_back.handle.state.g["placement"][0] == Placement.TIGHTEST


class Strange(Asks):
    placement = "upside-down"


@pytest.mark.parametrize(
    ("policy", "options", "said"),
    [
        ("lwf", {}, "'lwf' needs the rate model 'iterations', and this run has 'rates': run it with --rate-model iter"),
        ("pollux", {}, "'pollux' needs the rate model 'goodput', and this run has 'rates'"),
        ("sjf-bsbf", {"estimate": "oracle"}, "'sjf-bsbf' puts up to 2 jobs on a GPU, and this run at most 1: run it"),
        ("gandiva-packing", {}, "up to 2 jobs on a GPU, and this run at most 1: run it with --gpu-sharing 2"),
        (
            "easy",
            {"gpu_sharing": 2, "estimate": "oracle"},
            "'easy' uses whole GPUs, .* in this run up to 2 jobs share",
        ),
        ("easy", {"rate_model": "iterations", "estimate": "oracle"}, "uses rates of jobs"),
        ("easy", {}, r"'easy' requires durations \(estimate\), and 3 jobs of this run have none"),
        ("sjf", {}, r"'sjf' requires durations \(oracle\), and 3 jobs of this run have none"),
        (AsksKnowing(), {}, r"'asks' requires durations \(estimate\)"),
        (Strange(), {}, "'asks' declares placement = 'upside-down' .there are consolidated"),
    ],
)
def test_what_the_run_was_not_built_for_is_refused(policy: Any, options: dict[str, Any], said: str) -> None:
    """Both by a what-if and by the run itself, which then goes on as it was."""
    jobs = jobs_of([(0.0, 1, 10.0), (0.0, 2, 10.0), (5.0, 1, 10.0)], model=["resnet50"] * 3)
    asks = (AsksKnowing if "estimate" in options else Asks)()
    simulation = open_run(jobs, "1x4/gpu=v100", asks, **options)
    simulation.run(0)
    before = simulation.handle.state.g.tobytes()
    made = get_policy(policy).make() if isinstance(policy, str) else policy
    with pytest.raises(UsageError, match=said):
        simulation.adopt(made)
    with pytest.raises(UsageError, match=said.replace("3 jobs", "2 jobs")):  # which knows of no arrivals
        simulation.what_if(policy)
    assert simulation.handle.state.g.tobytes() == before


def test_a_policy_that_resizes_does_not_take_over_jobs_with_shapes() -> None:
    """Until the run leaves the shapes out."""
    shaped = jobs_of([(0.0, 4, 10.0), (5.0, 1, 10.0)], model=["resnet50"] * 2, nodes_requested=[2, None])
    simulation = open_run(shaped, "2x4/gpu=v100", "fifo", rate_model="goodput", estimate="oracle")
    simulation.run(0)
    with pytest.raises(UsageError, match="jobs of this run have shapes to keep: run it with --ignore shape"):
        simulation.what_if("pollux")
    plain = open_run(shaped.without(["shape"]), "2x4/gpu=v100", "fifo", rate_model="goodput", estimate="oracle")
    plain.run(0)
    assert plain.what_if("pollux").policy.name == "pollux"


def test_gangs_that_fit_only_scattered_are_not_left_to_wait_for_ever() -> None:
    simulation = open_run(jobs_of([(0.0, 9, 10.0), (0.0, 1, 10.0)]), "2x3+2x2", "tiresias-skew")
    simulation.run(0)
    assert simulation.what_if("gandiva").policy.name == "gandiva"
    with pytest.raises(UsageError, match="'fifo' places jobs consolidated, and no nodes of this cluster could ever"):
        simulation.what_if("fifo")
    kept = open_run(jobs_of([(0.0, 8, 10.0), (0.0, 6, 10.0)]), "2x3+1x2", "tiresias-skew")
    kept.run(0)
    assert kept.what_if("fifo").policy.name == "fifo"  # 3 + 3 + 2: whole nodes, and a part of one


# -- policies in Python --------------------------------------------------------------------------------


class Listens:
    """Starts what it was told of, oldest news first, and notes all that it hears."""

    name, needs = "listens", "none"

    def __init__(self) -> None:
        self.heard: list[tuple[int, int, int]] = []

    def on_event(self, view: View, kind: int, job: int) -> None:
        self.heard.append((view.now_ms, kind, int(view.jobs["row"][job]) if job >= 0 else -1))
        if kind == Event.SUBMIT:
            view.wake_at(view.now_s + 7.0)

    def decide(self, view: View) -> None:
        for job in view.pending.tolist():
            view.start(job)


def test_a_policy_in_python_hears_of_the_jobs_it_finds() -> None:
    """In the order of their rows, at its first decision, at which it may ask to be woken."""
    rows = [(0.0, 4, 30.0), (0.0, 4, 30.0), (0.0, 2, 50.0), (1.0, 2, 20.0)]
    simulation = open_run(jobs_of(rows), "1x8", "fifo-backfill", placement="first-fit")
    simulation.run(1000)
    policy = Listens()
    simulation.adopt(policy).run(8000)
    at, now = 8000, 1000
    assert policy.heard == [
        (now, Event.STARTED, 0), (now, Event.STARTED, 1), (now, Event.SUBMIT, 2), (now, Event.SUBMIT, 3),
        (now, Event.TIMER, -1), (at, Event.TIMER, -1),
    ]  # fmt: skip


def test_there_is_room_for_all_it_hears() -> None:
    """A compiled policy has no inbox; and twice as many jobs wait as one of this cluster holds."""
    n = 1100
    simulation = open_run(jobs_of([(0.0, 1, 1.0)] * n), "1x1", "fifo", log=False, audit=False)
    simulation.run(0)
    policy = Listens()
    after = simulation.adopt(policy)
    after.run(0)
    assert [row for _, _, row in policy.heard[:n]] == list(range(n))


def test_what_happens_between_rounds_is_heard_too() -> None:
    jobs = jobs_of([(float(i), 1, 0.5) for i in range(30)])
    policy = Listens()
    simulation = open_run(jobs, "1x2", Asks(), log=False)
    simulation.run(0)
    simulation.adopt(policy, round_ms=4000).run()
    assert sorted(row for _, kind, row in policy.heard if kind == Event.SUBMIT) == list(range(30))
    assert sorted(row for _, kind, row in policy.heard if kind == Event.FINISH)[-30:] != []
    assert {now % 4000 for now, _, _ in policy.heard} == {0}


def test_the_inbox_grows_with_what_happens_between_rounds() -> None:
    jobs = jobs_of([(i / 10, 1, 0.0) for i in range(1200)])
    policy = Hears()
    simulation = open_run(jobs, "1x1", Asks(), log=False, audit=False)
    simulation.run(0)
    simulation.adopt(policy, round_ms=1_000_000).run()
    submits = [row for _, kind, row in policy.heard if kind == Event.SUBMIT]
    assert submits[1:] == list(range(1, 1200))


class Hears(Listens):
    def decide(self, view: View) -> None:
        """Nothing."""


class Remembers(Listens):
    name = "remembers"

    def copy(self) -> "Remembers":
        other = Remembers()
        other.heard = list(self.heard)
        return other

    def decide(self, view: View) -> None:
        if view.now_ms == 0 and len(self.heard) == 1:
            view.what_if(self).run()


def test_asking_what_if_of_oneself_leaves_ones_memory_alone() -> None:
    policy = Remembers()
    open_run(jobs_of([(0.0, 1, 10.0)]), "1x1", policy).run(0)
    assert policy.heard == [(0, Event.SUBMIT, 0)]


def test_there_and_back() -> None:
    """fifo-backfill, a policy in Python that is the same, and fifo-backfill again: as if nothing had been."""

    class Backfill(Asks):
        def decide(self, view: View) -> None:
            while heads := view.heads():
                view.start(heads[0])

    draw = np.random.default_rng(3)
    rows = [(float(t), int(g), float(d)) for t, g, d in zip(
        np.sort(draw.integers(0, 300, 60)), draw.integers(1, 6, 60), draw.integers(0, 60, 60), strict=True
    )]  # fmt: skip
    whole = open_run(jobs_of(rows), "2x4", "fifo-backfill")
    whole.run()
    parted = open_run(jobs_of(rows), "2x4", "fifo-backfill")
    for until_ms, other in ((50_000, Backfill()), (100_000, Backfill()), (150_000, get_policy("fifo-backfill").make())):
        parted.run(until_ms)
        parted = parted.adopt(other)
    parted.run()
    assert str(parted.handle.world.outcomes.tolist()) == str(whole.handle.world.outcomes.tolist())  # NaN is not NaN


@pytest.mark.parametrize("runs", [8, pytest.param(16, marks=pytest.mark.slow)])
def test_random_takeovers_and_questions_break_nothing(runs: int) -> None:
    """Without the JIT, so that an index out of range is an error."""
    command = [sys.executable, "-m", "tests.engine.run.random_takeovers", "0", str(runs)]
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["takeovers"] >= 2 * runs and found["futures"] > 1.25 * runs and found["refused"] > 10
