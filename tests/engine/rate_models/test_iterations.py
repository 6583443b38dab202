"""Chains of iterations worked by hand (semantics.md §9): tasks on shared GPUs, transfers on shared nodes, AdaDUAL."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman.engine.rate_models.base.iterations import Iterations
from pointsman.engine.rate_models.base.rates import Rates
from pointsman.engine.rate_models.registry import parse_rate_model
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.state.records import ACCUMULATIONS, UNDER_WAY, WAITS
from pointsman.errors import UsageError
from pointsman.policies.registry import get_policy
from pointsman.types import Reason
from tests.against_oracle.test_iterations import simulation_of
from tests.free import simulate
from tests.oracle.chains import Chain, Ground

LWF_MODELS = Path(__file__).parents[3] / "benchmarks" / "results" / "pages" / "lwf_models.yaml"
ETHERNET = 0.235 / 0.856
Gpus = list[tuple[int, int]]


@dataclass
class Placed:
    """Starts each job where it is told as soon as it has come, and admits every transfer."""

    places: list[Gpus]
    admits: bool = False
    name: str = "placed"
    needs: str = "none"
    answers: list[Reason] = field(default_factory=list)

    def decide(self, view: Any) -> None:
        for j in view.pending:
            self.answers.append(view.start(j, self.places[int(view.jobs["row"][j])]))
        for j in view.waiting_transfers:
            view.admit(j)


def ends_ms(ground: Ground, jobs: list[Chain], policy: Any) -> list[int]:
    simulation = simulation_of(ground, jobs, policy)
    simulation.run()
    return simulation.handle.world.outcomes["end"].tolist()


def ground(nodes: tuple[int, ...], penalty: float = 0.0, sharing: int = 8, latency: float = 0) -> Ground:
    return Ground(nodes, 10, sharing, latency, penalty, admits=False)


def chain(iterations: int, fw: int, bw: int, wire: float = 0.0, gpus: int = 1, at: int = 0, memory: int = 5) -> Chain:
    work = float(iterations * (fw + bw))
    return Chain(at, gpus, work, fw, bw, wire, fw + bw, memory, work)


def test_two_jobs_on_one_gpu() -> None:
    """A has 2 iterations of 3 + 4 ms, B one of 2 + 2; the least service left goes first, then no task is broken off::

    ms   0    2    4      7       11     14      18
    A    .    .    fffffff bbbbbbbb fffff bbbbbbb|
    B    ff   bb|
    """
    jobs = [chain(2, 3, 4), chain(1, 2, 2)]
    assert ends_ms(ground((1,)), jobs, Placed([[(0, 0)], [(0, 0)]])) == [18, 4]


def test_a_task_is_not_broken_off() -> None:
    """B, with less left, comes at 1 in A's forward: it has the GPU from 3 on, A again when B is done::

    ms   0      3   5   7         11
    A    fffffff    .    bbbbbbbbbb|
    B      .    ff  bb|
    """
    jobs = [chain(1, 3, 4), chain(1, 2, 2, at=1)]
    assert ends_ms(ground((1,)), jobs, Placed([[(0, 0)], [(0, 0)]])) == [11, 7]


def test_a_gang_waits_for_its_slowest_worker() -> None:
    """A on two GPUs, 2 iterations of 2 + 2; B on the second alone, one of 3 + 3. Service: A 16, B 6. B goes first
    there, and A's other worker waits at the barrier::

        ms      0  2  4   6  8  10  12  14
        GPU 0   AfAb .  .  .  . Af  Ab |
        GPU 1   Bfff Bbbb Af Ab Af  Ab |
    """
    jobs = [chain(2, 2, 2, gpus=2), chain(1, 3, 3)]
    assert ends_ms(ground((2,)), jobs, Placed([[(0, 0), (0, 1)], [(0, 1)]])) == [14, 6]


def test_two_transfers_on_a_node() -> None:
    """A: 2 + 2 ms, then 10 of transfer; B: 2 + 6, then 10; nodes 0, 1 and 0, 2; η/b = 1/4, so two go at 1/2.25::

        ms   0    4     8                  21.5      25.5
        A    ffbb ======~~~~~~~~~~~~~~~~~~~|
        B    ffbbbbbbbbb~~~~~~~~~~~~~~~~~~~=========|

    A has 6 ms left at 8, which take ceil(13.5): to 22. By then B has done floor(1024 · 14 / 2.25) / 1024 = 6.22...,
    and what is left takes ceil(3.78) = 4 more: to 26.
    """
    jobs = [chain(1, 2, 2, 10.0, gpus=2), chain(1, 2, 6, 10.0, gpus=2)]
    places = [[(0, 0), (1, 0)], [(0, 1), (2, 0)]]
    assert ends_ms(ground((2, 1, 1), 0.25), jobs, Placed(places)) == [22, 26]


def test_three_transfers_the_worst_node_decides() -> None:
    """A on nodes 0, 1; B on 1, 2; C on 2, 3; all ready at 2 with 6 ms, η = 0. On node 1 and on node 2 there are two:
    all go at 1/2 although A and C do not meet, and end at 14. C is shorter by 2: it ends at 10, B and A go on ::

        node 1   A B        k = 2 for all until 10
        node 2     B C      then B still meets A: both at 1/2 until 14
    """
    places = [[(0, 0), (1, 0)], [(1, 1), (2, 0)], [(2, 1), (3, 0)]]
    same = [chain(1, 1, 1, 6.0, gpus=2)] * 3
    assert ends_ms(ground((2, 2, 2, 2)), same, Placed(places)) == [14, 14, 14]
    shorter = [*same[:2], chain(1, 1, 1, 4.0, gpus=2)]
    assert ends_ms(ground((2, 2, 2, 2)), shorter, Placed(places)) == [14, 14, 10]
    shorter = [chain(1, 1, 1, 4.0, gpus=2), *same[1:]]
    assert ends_ms(ground((2, 2, 2, 2)), shorter, Placed(places)) == [10, 14, 14]


def test_a_leap_is_broken_off_where_it_stands() -> None:
    """A alone: iterations of 3 + 4 + 5 ms. At 27 (its third, 3 ms in: its forward has just ended) B comes to one of its
    GPUs with 1 + 1: B goes first, A's worker there does its backward from 29, so that iteration ends at 38."""
    jobs = [chain(4, 3, 4, 5.0, gpus=2), chain(1, 1, 1, at=27)]
    places = [[(0, 0), (1, 0)], [(0, 0)]]
    assert ends_ms(ground((1, 1)), jobs, Placed(places)) == [50, 29]


@pytest.mark.parametrize("latency", [3, 2.25])
def test_latency_comes_before_the_first_byte(latency: float) -> None:
    """In whole milliseconds, rounded up."""
    jobs = [chain(2, 1, 1, 4.5, gpus=2)]
    assert ends_ms(ground((1, 1), latency=latency), jobs, Placed([[(0, 0), (1, 0)]])) == [2 * (2 + 3 + 5)]


def answers(simulation: Simulation) -> list[Reason]:
    simulation.run()
    return simulation.policy.answers  # ty: ignore


def test_memory_and_the_sharing_limit_are_kept() -> None:
    two = [chain(1, 5, 5, memory=6), chain(1, 5, 5, memory=5)]
    here = Placed([[(0, 0)], [(0, 0)]])
    assert answers(simulation_of(ground((1,)), two, here))[:2] == [Reason.OK, Reason.Memory]
    three = [chain(1, 5, 5, memory=1)] * 3
    here = Placed([[(0, 0)]] * 3)
    assert answers(simulation_of(ground((1,), sharing=2), three, here))[:3] == [
        Reason.OK,
        Reason.OK,
        Reason.SharingLimit,
    ]
    here = Placed([[(0, 0)]] * 3)
    assert answers(simulation_of(ground((1,), sharing=1), three, here))[:2] == [Reason.OK, Reason.GpuTaken]


@dataclass
class Hasty(Placed):
    """Asks for what cannot be."""

    admits: bool = True

    def decide(self, view: Any) -> None:
        for j in view.pending:
            self.answers.append(view.admit(j))
        self.answers.append(view.admit(99))
        Placed.decide(self, view)
        self.answers.append(view.admit(0))


def test_admission_misused_is_answered() -> None:
    simulation = simulation_of(ground((1,)), [chain(1, 5, 5)], Hasty([[(0, 0)]]))
    assert answers(simulation)[:4] == [Reason.NotRunning, Reason.NotRunning, Reason.OK, Reason.NoTransfer]
    workload = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]}))
    hasty = Hasty([[(0, 0)]])
    simulate(workload, "1x1", hasty)
    assert hasty.answers[0] == Reason.NotSupported


def after_s(new: float, old: float, waits: float, penalty: float) -> float:
    """The sum of both transfers' ends where the new one, ready at 0, begins after `waits` ms."""
    done = min(waits, old)
    if done == old:
        return old + max(waits, old) + new
    pace = 2 + penalty
    shared = min(new, old - done)
    both = done + pace * shared
    if new < old - done:
        return both + both + (old - done - new)
    return both + both + (new - shared)


@pytest.mark.parametrize("penalty", [ETHERNET, 0.0, 1.0])
def test_ada_duals_threshold_by_brute_force(penalty: float) -> None:
    """Whatever the delay, beginning at once or after the old one is best, and at once iff the ratio is below it."""
    threshold = 1 / (2 * (1 + penalty))
    if penalty == ETHERNET:
        assert threshold == pytest.approx(0.3923, abs=1e-4)
    old = 1000.0
    for percent in range(1, 150):
        new = old * percent / 100
        sums = {waits: after_s(new, old, float(waits), penalty) for waits in range(0, 1001, 10)}
        best = min(sums, key=lambda waits: sums[waits])
        assert best == (0 if percent / 100 < threshold else 1000) or sums[0] == pytest.approx(sums[1000])


@pytest.mark.parametrize(("wire", "begins"), [(38.0, True), (38.1, False)])
def test_ada_srsf_begins_by_the_ratio(wire: float, begins: bool) -> None:
    """Two jobs on two GPUs of two nodes: the old one's transfer of 100 ms begins at 2, the new one's is ready at 5. The
    limit is 0.39232 of the 97 ms that the old one has left, 38.06."""
    old, new = chain(1, 1, 1, 100.0, gpus=2), chain(1, 2, 1, wire, gpus=2)
    places = Ground((1, 1), 10, 8, 0, ETHERNET, admits=True)
    simulation = simulation_of(places, [old, new], get_policy("ada-srsf").make())
    simulation.run(5)
    assert simulation.handle.state.transfers["state"].tolist() == [UNDER_WAY, UNDER_WAY if begins else WAITS]


def test_the_models_of_the_paper_are_those_of_its_table() -> None:
    names = ["lwf_vgg16", "lwf_resnet50", "lwf_inception3", "lwf_lstm"]
    jobs = pl.DataFrame({"submit_s": [0.0] * 4, "gpus": [8] * 4, "duration_s": [1.0] * 4, "model": names})
    from pointsman.api import open_simulation
    from pointsman.cluster import load_cluster
    from pointsman.experiment import RunOptions

    spec = get_policy("lwf")
    options = RunOptions(overheads="none", log=False, audit=True, profiles=(str(LWF_MODELS),))
    cluster = load_cluster("16x4/gpu=v100")
    simulation, _ = open_simulation(pointsman.Workload.of(jobs), cluster, spec, spec.make(), options)
    steps = simulation.handle.state.steps
    assert list(zip(steps["fw"].tolist(), steps["bw"].tolist(), strict=True)) == [
        (36, 54),
        (25, 37),
        (35, 52),
        (32, 47),
    ]
    assert steps["transfer_ms"].tolist() == pytest.approx([0.856 * mb for mb in (526.4, 99.2, 103.0, 251.8)])
    sizes = simulation.handle.state.subbatches["bytes"][::ACCUMULATIONS]
    assert (sizes // 2**20).tolist() == [4527, 3213, 3291, 2751]


def test_the_rate_model_is_named_with_its_parameters() -> None:
    assert parse_rate_model("rates") == Rates()
    assert parse_rate_model("iterations") == Iterations(0.0, 0.856, 0.235, 8)
    assert parse_rate_model("iterations:b=8.5,sharing=2,a=0.67") == Iterations(0.67, 8.5, 0.235, 2)
    for wrong in ("fluid", "rates:b=1", "iterations:c=1", "iterations:b=x", "iterations:b=0", "iterations:sharing=9"):
        with pytest.raises(UsageError):
            parse_rate_model(wrong)


def test_policies_and_rate_models_must_agree() -> None:
    workload = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]}))
    for policy, model, contention in (
        ("lwf", "rates", "none"),
        ("easy", "iterations", "none"),
        ("fifo", "iterations", "max-min"),
    ):
        with pytest.raises(UsageError):
            simulate(workload, "1x1", policy, rate_model=model, contention=contention)
    with pytest.raises(UsageError, match="larger b"):
        simulate(workload, "1x1", "lwf", congestion={"network": 4.0})


def test_a_job_without_a_model_takes_its_duration_alone() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [1, 1], "duration_s": [1.234, 2.0]})
    result = simulate(pointsman.Workload.of(jobs), "1x1", "lwf", audit=True)
    assert result.jobs["end_s"].to_list() == [1.234, 3.234]


@dataclass
class Asking:
    """Starts two gangs across both nodes, and asks what would become of them under another policy when both wait."""

    other: str
    name: str = "asking"
    needs: str = "oracle"
    admits: bool = True
    foreseen: list[int] = field(default_factory=list)

    def decide(self, view: Any) -> None:
        for j in view.pending:
            view.start(j, [(0, int(j)), (1, int(j))])
        if len(view.waiting_transfers) == 2 and not self.foreseen:
            future = view.what_if(get_policy(self.other).make())
            future.run()
            self.foreseen = future.handle.world.outcomes["end"].tolist()
        for j in view.waiting_transfers[:1]:
            view.admit(j)


@pytest.mark.parametrize("other", ["lwf", "srsf", "ada-srsf", "fifo"])
def test_a_future_goes_on_from_transfers_that_wait(other: str) -> None:
    """Two jobs of one iteration, 2 + 2 ms and a transfer of 6 ms, whose transfers are ready at 4 on the same nodes."""
    jobs = [chain(1, 2, 2, wire=6.0, gpus=2), chain(1, 2, 2, wire=6.0, gpus=2)]
    asking = Asking(other)
    simulation_of(replace(ground((2, 2)), admits=True), jobs, asking).run()
    alone_then_alone, together = [10, 16], [16, 16]
    assert asking.foreseen == (alone_then_alone if "srsf" in other else together)


@dataclass
class Amid:
    """Starts jobs on the first GPU, and asks at 10 ms what will become of them."""

    name: str = "amid"
    needs: str = "oracle"
    foreseen: list[int] = field(default_factory=list)

    def decide(self, view: Any) -> None:
        for j in view.pending:
            view.start(j, [(0, 0)])
        view.wake_at(0.01 if view.now_ms < 10 else 1e6)
        if view.now_ms == 10:
            future = view.what_if(get_policy("lwf").make())
            future.run()
            self.foreseen = future.handle.world.outcomes["end"].tolist()


@pytest.mark.parametrize("jobs, ends", [([chain(5, 3, 4)], [35]), ([chain(5, 3, 4), chain(4, 2, 2)], [51, 16])])
def test_a_future_has_the_iterations_that_are_left(jobs: list[Chain], ends: list[int]) -> None:
    """Of a job that leaps, and of two that step."""
    amid = Amid()
    assert ends_ms(ground((1,)), jobs, amid) == ends
    assert amid.foreseen == ends


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("what", ["DOWN", "cancel"])
def test_who_ends_as_its_node_fails_has_ended(shared: bool, what: str) -> None:
    """Whether a job leaps to its end or steps there beside another: it is over before the events of that instant."""
    rows = 2 if shared else 1
    jobs = pl.DataFrame(
        {"submit_s": [0.0] * rows, "gpus": [1] * rows, "duration_s": [1.0, 5.0][:rows], "model": ["resnet50"] * rows}
    )
    workload, cluster = pointsman.Workload.of(jobs), "1x1/gpu=v100"
    end_s = float(simulate(workload, cluster, "lwf").jobs["end_s"][0])
    events: dict[str, Any] = {"node_events": [(end_s, "0", "DOWN"), (end_s + 1, "0", "UP")]}
    if what == "cancel":
        events = {"cancels": [(end_s, 0)]}
    result = simulate(workload, cluster, "lwf", audit=True, **events)
    assert (result.jobs["end_s"][0], result.jobs["state"][0]) == (end_s, "COMPLETED")


@pytest.mark.parametrize("law", ["b=1e-10", "b=1e-3,eta=1e5", ",,", "b=1,b=2", "", " ", "b=", "b=1_0", "sharing=1_0"])
def test_laws_beyond_reason_are_refused(law: str) -> None:
    with pytest.raises(UsageError, match="rate model"):
        parse_rate_model(f"iterations:{law}")


def test_who_places_by_itself_takes_no_placement() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0], "model": ["resnet50"]})
    with pytest.raises(UsageError, match="places by itself"):
        simulate(pointsman.Workload.of(jobs), "1x1/gpu=v100", "lwf", placement="spread")
