"""Policies written in Python: the same engine, the same answers, and no way to the truth."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.run import simulation as engine_simulation
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.run.view import View
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import PointsmanError, UsageError
from pointsman.types import Event, Reason
from tests.free import simulate

EXAMPLE = Path(__file__).parents[3] / "examples" / "my_policy.py"
LOSES_ALL = Overheads(checkpoint_every_s=1e9)


def workload(n: int = 400, seed: int = 1) -> pointsman.Workload:
    draw = np.random.default_rng(seed)
    return pointsman.Workload.of(
        pl.DataFrame(
            {
                "submit_s": np.sort(draw.integers(0, 2000, n)).astype(float),
                "gpus": draw.choice([1, 2, 4, 8, 12], n),
                "duration_s": draw.integers(1, 120, n).astype(float),
            }
        )
    )


class Backfill:
    """FIFO backfill, in Python."""

    name = "mine"
    needs = "none"

    def decide(self, view: View) -> None:
        while heads := view.heads():
            assert view.start(heads[0]) == Reason.OK


def test_python_backfill_is_the_compiled_one() -> None:
    columns = ["row", "start_s", "end_s", "nodes", "locality"]
    mine = simulate(workload(), "3x8+1x4", Backfill(), audit=True)
    theirs = simulate(workload(), "3x8+1x4", "fifo-backfill", audit=True)
    assert mine.jobs.select(columns).equals(theirs.jobs.select(columns))
    assert mine.info["decisions"] == theirs.info["decisions"]


class LeastAttained:
    """Every 10 s the job with the least attained service runs, alone; it notes what the view says of each."""

    name, needs = "least-attained", "none"

    def __init__(self) -> None:
        self.seen: list[tuple[float, list[float], list[float]]] = []

    def decide(self, view: View) -> None:
        slots = sorted([*view.running.tolist(), *view.pending.tolist()], key=lambda j: view.jobs["row"][j])
        self.seen.append((view.now_s, view.attained_gpu_s[slots].tolist(), view.executed_s[slots].tolist()))
        for job in view.running.tolist():
            view.preempt(job)
        if slots:
            view.start(min(view.pending.tolist(), key=lambda j: (view.attained_gpu_s[j], view.jobs["row"][j])))
            view.wake_at(view.now_s + 10.0)


def test_attained_service_is_up_to_date() -> None:
    """Two jobs of 2 GPUs and 15 s take turns of 10 s: 0 0, 20 0, 20 20 GPU-s; the first ends at 25 s."""
    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [2, 2], "duration_s": [15.0, 15.0]}))
    policy = LeastAttained()
    simulate(jobs, "1x2", policy)
    assert policy.seen[:3] == [(0.0, [0.0, 0.0], [0.0, 0.0]), (10.0, [20.0, 0.0], [10.0, 0.0]),
                               (20.0, [20.0, 20.0], [10.0, 10.0])]  # fmt: skip


class Asking:
    """Tries everything that a policy must not do, once, and notes the answers."""

    name = "asking"
    needs = "none"

    def __init__(self) -> None:
        self.answers: dict[str, object] = {}

    def decide(self, view: View) -> None:
        if not self.answers and view.now_s == 0.0:
            self.ask(view)
        for job in view.pending.tolist():
            view.start(job)

    def ask(self, view: View) -> None:
        two, four, one = view.pending.tolist()  # 2, 4 and 1 GPUs on 1x4
        self.answers = {
            "preempt pending": view.preempt(two),
            "half a gang": view.start(two, [(0, 0)]),
            "no such node": view.start(two, [(7, 0), (7, 1)]),
            "negative node": view.start(two, [(-1, 0), (-1, 1)]),
            "one GPU twice": view.start(two, [(0, 1), (0, 1)]),
            "no such GPU": view.start(two, [(0, 3), (0, 9)]),
            "no GPUs": view.start(two, []),
            "accumulation": view.start(two, accumulation=2),
            "chosen": view.start(two, [(0, 1), (0, 3)]),
            "again": view.start(two),
            "taken": view.start(one, [(0, 3)]),
            "too wide now": view.start(four),
            "preempt just started": view.preempt(two),
            "resize": view.resize(two, [(0, 0), (0, 1)]),
            "resize to nothing": view.resize(two, []),
            "free": view.free_on(0),
        }


def test_verbs_answer_with_reasons() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0, 0.0, 0.0], "gpus": [2, 4, 1], "duration_s": [10.0, 5.0, 3.0]})
    policy = Asking()
    result = simulate(pointsman.Workload.of(jobs), "1x4", policy, audit=True)
    assert policy.answers == {
        "preempt pending": Reason.NotRunning,
        "half a gang": Reason.GangIncomplete,
        "no such node": Reason.GpuNotEligible,
        "negative node": Reason.GpuNotEligible,
        "one GPU twice": Reason.GpuTaken,
        "no such GPU": Reason.GpuTaken,
        "no GPUs": Reason.GangIncomplete,
        "accumulation": Reason.NotSupported,
        "chosen": Reason.OK,
        "again": Reason.NotPending,
        "taken": Reason.GpuTaken,
        "too wide now": Reason.Resources,
        "preempt just started": Reason.StartedThisPass,
        "resize": Reason.StartedThisPass,
        "resize to nothing": Reason.GangIncomplete,
        "free": [0, 2],
    }
    assert result.events.filter((pl.col("kind") == "START") & (pl.col("row") == 0))["gpu_mask"].to_list() == [0b1010]
    assert (result.jobs["state"] == "COMPLETED").all()


class Listening(Backfill):
    def __init__(self) -> None:
        self.heard: list[int] = []

    def on_event(self, view: View, kind: int, job: int) -> None:
        self.heard.append(kind)


def test_places_that_are_not_there() -> None:
    class Wild(Backfill):
        def decide(self, view: View) -> None:
            if view.pending_count:
                job = int(view.pending[0])
                assert view.start(job, [(0, -1)]) == Reason.GpuTaken
                assert view.start(job, [(0, 99)]) == Reason.GpuTaken
                assert view.start(job, [(2**70, 0)]) == view.start(job, [(-1, 0)]) == Reason.GpuNotEligible
                assert view.start(job, []) == Reason.GangIncomplete
            super().decide(view)

    assert (simulate(workload(20), "3x8", Wild()).jobs["state"] == "COMPLETED").all()


def test_events_are_delivered() -> None:
    policy = Listening()
    simulate(workload(300), "3x8", policy)
    assert policy.heard.count(Event.SUBMIT) == policy.heard.count(Event.FINISH) == 300


class Looking(Backfill):
    """Looks into the future at one instant."""

    needs = "estimate"

    def __init__(self, at_s: float) -> None:
        self.at_s = at_s
        self.future: Simulation | None = None
        self.now: dict[str, np.ndarray] = {}

    def decide(self, view: View) -> None:
        super().decide(view)
        if self.future is None and view.now_s >= self.at_s:
            self.future = view.what_if("fifo-backfill")
            self.future.run()


def test_what_if_is_the_future_when_estimates_are_true_and_nobody_comes() -> None:
    late = workload(400)
    last_s = late.jobs["submit_s"].max()
    policy = Looking(last_s)
    seen = simulate(late, "3x8", policy)
    assert seen.jobs.equals(
        simulate(late, "3x8", Backfill(), estimate="oracle").jobs.with_columns(seen.jobs["estimate_s"])
    )
    outcomes = policy.future.handle.world.outcomes
    ended = outcomes["state"] != 0  # those that had ended before the question are not in the future
    assert ended[-1] and 1 < ended.sum() < len(ended)
    real_ms = (seen.jobs["jct_s"] * 1000 + (seen.jobs["submit_s"] - seen.jobs["submit_s"][0]) * 1000).round().to_numpy()
    assert (np.abs(outcomes["end"] - real_ms) < 1)[ended].all()


def test_what_if_knows_estimates_only() -> None:
    policy = Looking(0.0)
    jobs = pl.DataFrame(
        {"submit_s": [0.0, 5.0], "gpus": [1, 1], "duration_s": [10.0, 10.0], "time_limit_s": [60.0, 60.0]}
    )
    simulate(pointsman.Workload.of(jobs), "1x4", policy, estimate="limit")
    assert policy.future.handle.world.outcomes["end"].tolist() == [60_000]  # the limit, and nobody to come


def test_a_policy_without_a_name_is_called_as_its_class_is() -> None:
    class Mistaken:
        def decide(self, view: View) -> None:
            raise KeyError("depth")

    with pytest.raises(PointsmanError, match=r"policy 'Mistaken' failed at 0.000 s: KeyError: 'depth'"):
        pointsman.simulate({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]}, "1x1", Mistaken())  # ty: ignore


@pytest.mark.parametrize(
    ("mistake", "said"),
    [
        (lambda view: view.fits(-1), "IndexError: no job in the system has slot -1"),
        (lambda view: view.find(10_000), "IndexError: no job in the system has slot 10000"),
        (lambda view: view.free_on(3), "IndexError: there is no node 3: nodes are 0 to 2"),
        (lambda view: view.wake_at(float("nan")), r"ValueError: wake_at\(nan\): not a time in seconds"),
        (lambda view: view.wake_at(float("inf")), r"ValueError: wake_at\(inf\)"),
        (lambda view: sys.exit(0), "SystemExit: 0"),
        (lambda view: view.start(1.5), "TypeError: 'float' object cannot be interpreted as an integer"),
        (lambda view: view.start(0, [(0, 0.5)]), "TypeError: 'float' object cannot be interpreted as an integer"),
    ],
)
def test_mistakes_of_a_policy_are_its_own(mistake: Callable[[View], object], said: str) -> None:
    class Mistaken(Backfill):
        def decide(self, view: View) -> None:
            mistake(view)

    with pytest.raises(PointsmanError, match=rf"policy 'mine' failed at 0.000 s: {said}"):
        simulate(workload(10), "3x8", Mistaken())


def test_view_cannot_be_written() -> None:
    class Cheating(Backfill):
        def decide(self, view: View) -> None:
            view.jobs["submit"] = 0

    with pytest.raises(PointsmanError, match=r"mine.*ValueError"):
        simulate(workload(10), "3x8", Cheating())


def example(jobs: pointsman.Workload, cluster: str, patience_s: float) -> pointsman.Result:
    return simulate(jobs, cluster, f"{EXAMPLE}:MyPolicy", params={"patience_s": patience_s}, audit=True)


def test_example_runs_as_a_user_would_name_it() -> None:
    assert len(EXAMPLE.read_text().splitlines()) < 30
    result = example(workload(), "3x8", 60.0)
    assert (result.jobs["state"] == "COMPLETED").all()
    assert result.info["policy"].endswith("my_policy.py:MyPolicy")


def test_example_keeps_gpus_for_who_has_waited_long() -> None:
    """One job of one GPU a second, for four seconds each; the third asks for all four GPUs."""
    gpus = [1, 1, 4, *[1] * 97]
    frame = {"submit_s": [float(i) for i in range(100)], "gpus": gpus, "duration_s": [4.0] * 100}
    stream = pointsman.Workload.of(pl.DataFrame(frame))
    assert example(stream, "1x4", 1e6).jobs["start_s"][2] == 103.0
    assert example(stream, "1x4", 10.0).jobs["start_s"][2] == 15.0  # those that run at 12 end by then
    assert example(stream, "1x4", 0.0).jobs.equals(simulate(stream, "1x4", "fifo").jobs)


def test_example_passes_over_a_queue_at_its_limit(tmp_path: Path) -> None:
    frame = {"submit_s": [0.0] * 3, "gpus": [1, 1, 2], "duration_s": [9.0] * 3, "queue": ["a", "a", "b"]}
    (tmp_path / "limited.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: limited}, spec: {node_types: "
        "{t: {gpus: 4, gpu_type: v100}}, nodes: [{type: t}], queues: {a: {gpu_limit: 1}}}}"
    )
    for patience_s in (0.0, 60.0):
        result = example(pointsman.Workload.of(pl.DataFrame(frame)), str(tmp_path / "limited.yaml"), patience_s)
        assert result.jobs["start_s"].to_list() == [0.0, 9.0, 0.0]


def test_jobs_that_only_evict_each_other_end_with_a_sentence() -> None:
    """Each loses four seconds of work when preempted, and is promoted over the other before it has done so much."""
    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [1, 1], "duration_s": [10.0, 10.0]}))
    with pytest.raises(PointsmanError, match="jobs only preempt each other and make no progress"):
        simulate(
            jobs, "1x1", "tiresias", params={"promote_knob": 1.0, "thresholds_gpu_s": 2.0}, log=False,
            overheads=Overheads(lost_s=4),
        )  # fmt: skip


class Restless:
    """Has a pass every second, while there are jobs or always; starts all that fits, unless it is idle."""

    name, needs = "restless", "none"

    def __init__(self, idle: bool = False, always: bool = False) -> None:
        self.idle, self.always = idle, always

    def decide(self, view: View) -> None:
        for job in [] if self.idle else view.heads():
            view.start(job)
        if view.pending_count or len(view.running) or self.always:
            view.wake_at(view.now_s + 1.0)


@pytest.mark.parametrize(
    "events", [[(2000.0, "0", "DOWN"), (2010.0, "0", "UP")], [(0.0, "0", "DOWN"), (5000.0, "0", "UP")]]
)
def test_who_waits_for_a_node_or_does_work_again_is_not_stopped(
    events: list[tuple[float, str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """For all the passes in which no more work is done than before."""
    monkeypatch.setattr(engine_simulation, "_CHUNK", 64)
    monkeypatch.setattr(engine_simulation, "_PATIENCE", 500)
    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [3000.0]}))
    result = simulate(jobs, "1x1", Restless(), node_events=events, overheads=LOSES_ALL, log=False)
    assert result.jobs["end_s"].to_list() == [events[1][0] + 3000.0]


@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (
            Restless(idle=True),
            "jobs wait, none runs, no event is pending, and policy 'restless' goes on",
        ),
        (
            Restless(always=True),
            "no job is left, no event is pending, and policy 'restless' goes on asking to be woken",
        ),
    ],
)
def test_who_goes_on_for_nothing_is_stopped(policy: Restless, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_simulation, "_CHUNK", 64)
    monkeypatch.setattr(engine_simulation, "_PATIENCE", 500)
    jobs = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [3000.0]}))
    with pytest.raises(PointsmanError, match=said):
        simulate(jobs, "1x1", policy, log=False)


class Shy(Restless):
    """Lets no transfer begin that would meet another."""

    name, admits = "shy", True


def test_who_lets_chains_wait_for_ever_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """Jobs run, and none of them has anything due."""
    monkeypatch.setattr(engine_simulation, "_CHUNK", 64)
    monkeypatch.setattr(engine_simulation, "_PATIENCE", 500)
    frame = {"submit_s": [0.0] * 2, "gpus": [2] * 2, "duration_s": [300.0] * 2, "model": ["vgg16"] * 2}
    jobs = pointsman.Workload.of(pl.DataFrame(frame))
    with pytest.raises(PointsmanError, match="all jobs that run wait, no event is pending, and policy 'shy' admits no"):
        simulate(jobs, "2x2/gpu=v100", Shy(), placement="spread", rate_model="iterations", log=False)


PICKY = """
class Picky:
    name, needs = "picky", "none"
    def __init__(self, patience_s, *, depth=2):
        if depth < 1:
            raise ValueError("depth must be positive")
    def decide(self, view):
        pass
"""


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        (
            {"patince_s": 1},
            "policy 'picky' has no parameter 'patince_s' (did you mean 'patience_s'? it has patience_s, ",
        ),
        ({"depth": 3}, "policy 'picky' needs its parameter 'patience_s'; give --set picky.patience_s=VALUE"),
        ({"patience_s": 1, "depth": 0}, "cannot be made with {'patience_s': 1, 'depth': 0}: ValueError: depth must be"),
    ],
)
def test_wrong_parameters_of_a_users_class(tmp_path: Path, params: dict[str, int], sentence: str) -> None:
    (tmp_path / "mine.py").write_text(PICKY)
    with pytest.raises(UsageError) as caught:
        simulate(workload(5), "1x1", f"{tmp_path}/mine.py:Picky", params=params)
    assert sentence in str(caught.value)


def test_copy_goes_its_own_way() -> None:
    from pointsman.api import open_simulation
    from pointsman.cluster import load_cluster
    from pointsman.experiment import RunOptions
    from pointsman.policies.registry import get_policy

    spec = get_policy("srtf")
    simulation, _ = open_simulation(
        workload(), load_cluster("3x8"), spec, spec.make(), RunOptions(overheads="none", audit=True)
    )
    simulation.run(until_ms=500_000)
    before = simulation.handle.world.outcomes.copy()
    twin = simulation.copy()
    twin.run()
    assert (simulation.handle.world.outcomes == before).all()
    simulation.run()
    assert (simulation.handle.world.outcomes == twin.handle.world.outcomes).all()
    assert len(twin.log()) and (simulation.log() == twin.log()).all()
