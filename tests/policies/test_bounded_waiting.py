"""No job of `gittins` waits for ever, nor of other policies that preempt if so told (semantics, §7)."""

import math

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman import Result, Workload
from pointsman.engine.setup.overheads import Overheads
from pointsman.inputs.durations import duration
from pointsman.policies.parts.preemption.evicting_policy import WaitingMemory
from pointsman.policies.registry import get_policy
from tests.free import simulate
from tests.policies.gittins_runs import jobs_of, opened

GANG_S = 10.0
"""When the gang of `stream` is submitted."""
PATIENT = {"patience_s": 1000, "quantum_s": 280, "cost_weight": 0}
LIMIT = {"patience_s": 900, "patience_growth": 3, "grant_s": 600, "grant_share": 0.25, "quantum_s": 60}
PROMISE = ("gittins", "dally", "srtf", "las", "tiresias", "tiresias-skew")
"""Policies of which each job starts by the formula."""


def stream(until_s: float) -> Workload:
    """Each of two GPUs is taken by one job after another, and a gang comes that asks for both.

    ::

        GPU 0  |0      |300    |600    |900    |1200
        GPU 1      |150    |450    |750    |1050
    """
    narrow = [(begin_s, 1, 300.0) for begin_s in np.arange(0.0, until_s, 150.0)]
    return jobs_of(sorted([*narrow, (GANG_S, 2, 500.0)]))


def start_of_the_gang_s(result: Result) -> float:
    return result.jobs.filter(gpus=2)["start_s"].item()


def test_without_a_limit_a_gang_waits_for_the_end_of_the_stream() -> None:
    """Until the last job but one has ended, and the last has had its quantum."""
    unbounded = PATIENT | {"patience_s": 0}
    for until_s in (1500.0, 3000.0):
        assert start_of_the_gang_s(simulate(stream(until_s), "1x2", "gittins", params=unbounded)) == until_s - 150 + 280


@pytest.mark.parametrize("policy", ["srtf", "las", "tiresias"])
def test_without_a_quantum_it_goes_first_at_once(policy: str) -> None:
    """Where jobs may be preempted at any time."""
    for patience_s, start_s in ((0, 3150), (1000, 1010)):
        assert (
            start_of_the_gang_s(simulate(stream(3000.0), "1x2", policy, params={"patience_s": patience_s})) == start_s
        )


@pytest.mark.parametrize("policy", PROMISE)
def test_a_gang_of_all_gpus_starts_however_many_narrow_jobs_come(policy: str) -> None:
    """The smallest case: a job of four GPUs every 5 s on 32 GPUs, each for 100 s, which is more than they can do. The
    gang has no job before it and fills four nodes, so its limit is half of 100 s.
    """
    narrow = [(5.0 * k, 4, 100.0) for k in range(400)]
    jobs = jobs_of(sorted([*narrow, (5.0, 32, 100.0)], key=lambda job: (job[0], -job[1])))
    quantum = {"quantum_s": 0} if policy in ("gittins", "dally") else {}
    results = [simulate(jobs, "4x8", policy, params={"patience_s": patience_s} | quantum) for patience_s in (0, 100)]
    started = [result.jobs.filter(gpus=32)["start_s"].item() for result in results]
    assert started[0] > 2000
    assert started[1] == 55


def test_after_its_limit_it_goes_first() -> None:
    """It is overdue at 1010 s. The job of GPU 1 ends at 1050 s, and no other starts there; that of GPU 0, which began
    at 900 s, has had its quantum at 1180 s.
    """
    result = simulate(stream(3000.0), "1x2", "gittins", params=PATIENT)
    assert start_of_the_gang_s(result) == 1180
    assert result.jobs.filter(submit_s=900)["preemptions"].item() == 1
    assert result.jobs.filter(submit_s=1050)["start_s"].item() == 1180 + 500


@pytest.mark.parametrize(("gpus", "cluster", "width"), [(2, "1x4", 1.0), (8, "8x2/rack=4", 0.5), (3, "4x1", 0.577350)])
def test_the_limit_is_shorter_for_wider_gangs_and_longer_where_more_wait(gpus: int, cluster: str, width: float) -> None:
    """One job has all GPUs, and others already wait when the gang comes."""
    total = pointsman.load_cluster(cluster).gpus
    first = [(0.0, total, 1e9), (1.0, total, 1e9), (2.0, 1, 1e9)]
    simulation = opened(jobs_of([*first, (3.0, gpus, 1e9)]), cluster, **(LIMIT | {"quantum_s": 1e9}))
    simulation.run(100_000)
    gang = simulation.handle.jobs[3]
    assert gang["crowding"] == pytest.approx((1 + (total + 1) / total) * width)
    assert gang["alarm"] == 3000 + math.floor(900_000 * gang["crowding"])
    assert simulation.policy.standing(simulation.handle.state, gang, 100_000).said.endswith(
        f"in {duration((gang['alarm'] - 100_000) / 1000)} it will have waited for its limit of "
        f"{duration((gang['alarm'] - 3000) / 1000)}, and then goes before others"
    )


@pytest.mark.parametrize(("lost_s", "longer"), [(0.0, 1.0), (1800.0, 2.0), (7200.0, 5.0)])
def test_the_limit_is_longer_where_a_preemption_costs_more(lost_s: float, longer: float) -> None:
    two = jobs_of([(0.0, 1, 1e9), (1.0, 1, 1e9)])
    simulation = opened(two, "1x1", overheads=Overheads(lost_s=lost_s), **(LIMIT | {"quantum_s": 1e6}))
    simulation.run(100_000)
    job = simulation.handle.jobs[1]
    assert job["alarm"] == 1000 + 900_000 * longer
    assert (
        f"its limit of {duration(900 * longer)},"
        in simulation.policy.standing(simulation.handle.state, job, 100_000).said
    )


def test_a_grant_ends_with_the_time_for_which_it_is() -> None:
    """Of two endless jobs on one GPU, each goes first for 600 s once it has waited for 900 s, and 3 s longer for each
    that it has run.
    """
    two = jobs_of([(0.0, 1, 1e6), (1.0, 1, 1e6)])
    params = LIMIT | {"ageing": 0, "cost_weight": 1e6, "loss_budget": 1}
    costs = Overheads(start_s=1.0)
    jobs = simulate(two, "1x1", "gittins", overheads=costs, params=params, until_s=4000.0).jobs
    assert jobs["start_s"].to_list() == [0.0, pytest.approx(1 + 900 * (1 + 1 / 1800), abs=0.001)]


@pytest.mark.parametrize(("until_s", "run_s"), [(910, 0), (1210, 300), (1510, 300), (1810, 600), (2110, 600)])
def test_a_gang_wider_than_the_share_goes_first_for_its_share_of_the_gpu_time(until_s: float, run_s: float) -> None:
    """A gang of both GPUs, of which a share of a half may go first, among jobs with less left.

    ::

        GPU 0 and 1  | narrow ones |910  gang |1210  narrow ones |1510  gang |1810  narrow ones |2110
    """
    endless = jobs_of(sorted([*((begin_s, 1, 300.0) for begin_s in np.arange(0.0, 6000.0, 150.0)), (GANG_S, 2, 1e4)]))
    params = {"patience_s": 900, "patience_growth": 0, "grant_s": 600, "grant_share": 0.5}
    gang = simulate(endless, "1x2", "srtf", params=params, until_s=until_s).jobs.filter(gpus=2)
    assert gang["run_s"].item() == run_s


def test_a_gang_that_ends_within_its_grant_holds_the_next_one_back_for_as_long_as_it_ran() -> None:
    """The first of two gangs of both GPUs goes first from 910 to 2410 s, when it ends; the other has waited for its
    limit at 50 + 1800 s.
    """
    narrow = [(begin_s, 1, 300.0) for begin_s in np.arange(0.0, 6000.0, 150.0)]
    gangs = jobs_of(sorted([*narrow, (GANG_S, 2, 1500.0), (50.0, 2, 1e4)]))
    params = {"patience_s": 900, "patience_growth": 0, "grant_s": 4000, "grant_share": 0.5}
    result = simulate(gangs, "1x2", "srtf", params=params)
    assert result.jobs.filter(gpus=2)["start_s"].to_list() == [910, 2410 + 1500]


def test_explain_says_who_goes_first_and_for_how_long() -> None:
    """As in `test_after_its_limit_it_goes_first`."""
    simulation = opened(stream(3000.0), "1x2", **PATIENT)
    simulation.run(1_100_000)
    policy, jobs = simulation.policy, simulation.handle.jobs
    gang = int((jobs["asked"] == 2).argmax())
    assert "before all others" in policy.standing(simulation.handle.state, jobs[gang], 1_100_000).said
    simulation.run(1_300_000)
    assert "for another 58 min," in policy.protection(simulation.handle.state, simulation.handle.jobs[gang], 1_300_000)


def test_the_end_of_a_pause_is_not_missed() -> None:
    """A gang goes first from 1001 s for its 1500 s, and the pause after it ends at 4001 s, though nothing else happens
    then: another gang, which has waited for its limit of 2000 s, starts.
    """
    endless = [(0.0, 1, 1e5)] * 4
    gangs = jobs_of([*endless, (1.0, 4, 1500.0), (10.0, 4, 5e5)])
    params = {"patience_s": 1000, "patience_growth": 0, "grant_s": 4000, "grant_share": 0.5, "margin_s": 1e9}
    found = simulate(gangs, "1x4", "srtf", params=params).jobs
    assert found.filter(gpus=4)["start_s"].to_list() == [1001, 4001]


def test_a_gang_for_which_no_nodes_are_up_holds_nobody_back_for_long() -> None:
    """A node is down for days: while the gang that needs it goes first, for a minute in each grant, GPUs stand idle. It
    starts when the node is up again, and it has been passed over for as long again as before at most.
    """
    narrow = [(float(begin_s), 1, 300.0) for begin_s in range(0, 200_000, 150)]
    jobs = jobs_of(sorted([*narrow, (10.0, 4, 500.0)]))
    down = [(5.0, "1", "DOWN"), (150_000.0, "1", "UP")]
    params = LIMIT | {"quantum_s": 30}
    result = simulate(jobs, "2x2", "gittins", params=params, node_events=down)
    done = result.jobs.filter(pl.col("end_s") < 150_000)
    assert done["duration_s"].sum() > 0.85 * 149_000 * 2
    gang = result.jobs.filter(gpus=4)
    assert 150_000 <= gang["start_s"].item() < 2 * 150_000


def random_jobs(seed: int) -> Workload:
    """More than the cluster can do for most of the time, gangs of all of it among them."""
    draw = np.random.default_rng(seed)
    submit_s = np.sort(draw.uniform(0, 40_000, 300)).round(3)
    gpus = draw.choice([1, 1, 1, 2, 4, 8, 16], 300)
    duration_s = np.ceil(draw.lognormal(6.0, 1.2, 300))
    rows = zip(submit_s, gpus, duration_s, strict=True)
    return jobs_of([(float(s), int(g), float(d)) for s, g, d in rows])


@pytest.mark.parametrize("policy", PROMISE)
@pytest.mark.parametrize("seed", range(6))
def test_each_job_starts_by_the_formula(seed: int, policy: str) -> None:
    """By its limit, which is `patience_s` times what its width, the cluster and the queue at its submission give, and
    one grant with a quantum for each other job that had waited for its limit: those can be ahead of it.
    """
    quantum_s = LIMIT["quantum_s"] if policy in ("gittins", "dally") else 0
    params = LIMIT if quantum_s else {name: value for name, value in LIMIT.items() if name != "quantum_s"}
    jobs = simulate(random_jobs(seed), "4x4", policy, params=params).jobs
    submit, start, gpus = (jobs[name].to_numpy() for name in ("submit_s", "start_s", "gpus"))
    waiting = (submit[:, None] > submit) & (submit[:, None] < start)  # at least: who was preempted waits again
    most_queued = (np.where(submit[:, None] > submit, 1, 0) * gpus).sum(axis=1)
    least_queued = (waiting * gpus).sum(axis=1)
    width = np.sqrt(np.minimum(1, 4 / gpus))
    pended = jobs["end_s"].to_numpy() - submit - jobs["duration_s"].to_numpy()
    shortest, longest = (LIMIT["patience_s"] * (1 + queued / 16) * width for queued in (least_queued, most_queued))
    ahead = (pended >= shortest).sum()
    grant_s = LIMIT["grant_s"] + quantum_s + 2 * max(30, quantum_s)
    assert (start - submit <= longest + (1 + ahead) * grant_s).all()
    assert (start - submit > shortest).sum() > 10


@pytest.mark.parametrize("policy", ["gittins", "dally", "srtf", "las", "tiresias"])
def test_a_job_that_can_never_start_does_not_keep_the_run_going(policy: str) -> None:
    """One of two nodes is down for good, and both jobs ask for all GPUs."""
    gangs = jobs_of([(0.0, 16, 100.0), (10.0, 16, 100.0)])
    result = simulate(gangs, "2x8", policy, params={"patience_s": 100}, node_events=[(5.0, "1", "DOWN")])
    assert result.jobs["state"].to_list() == ["PENDING", "PENDING"]


def test_gangs_that_find_no_place_hold_others_back_less_and_less() -> None:
    """A job of higher priority holds one GPU for two weeks, and 14 gangs ask for all of them."""
    day_s, draw = 86_400.0, np.random.default_rng(1)
    narrow = [(float(s), 1, float(d)) for s, d in zip(
        np.sort(draw.uniform(20, 14 * day_s, 800)), draw.exponential(7200, 800), strict=True
    )]  # fmt: skip
    jobs = [(0.0, 1, 14 * day_s), *((10.0 + k, 8, 3600.0) for k in range(14)), *narrow]
    workload = jobs_of(jobs, priority=[10] + [0] * (len(jobs) - 1))

    def mean_wait_s(**params: float) -> float:
        found = simulate(workload, "1x8", "gittins", params=params).jobs
        return float(found.filter((pl.col("gpus") == 1) & (pl.col("submit_s") >= 20))["pending_s"].mean())

    assert mean_wait_s() < mean_wait_s(patience_s=0) + 600


def test_a_takeover_by_gittins_itself_forgets_who_had_a_grant() -> None:
    simulation = opened(stream(9000.0), "1x2", **PATIENT)
    simulation.run(1_100_000)  # as above: the gang has had its grant since 1010 s
    assert simulation.handle.jobs["granted"].max() > 0
    after = simulation.adopt(get_policy("gittins").make(PATIENT))
    M = WaitingMemory(after.handle.state.memory)
    assert not M.as_numbers.array.any()
    after.run()
    assert (M.overdue.first, M.overdue.last, M.granted_gpus) == (0, 0, 0)
