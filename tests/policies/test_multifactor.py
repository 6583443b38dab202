"""Slurm's multifactor priority: the worked example of its documentation, and each factor by hand."""

import math
import re
from typing import Any

import polars as pl
import pytest

import pointsman
from pointsman import Workload
from pointsman.api import open_simulation
from pointsman.engine.run.simulation import Simulation
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.explain.pending import explain
from pointsman.policies.registry import get_policy
from tests.free import simulate

EXAMPLE = {
    "shares": {"A": 40, "D": 60, "B": 30, "C": 10, "E": 25, "F": 35, "other": 0},
    "parents": {"B": "A", "C": "A", "E": "D", "F": "D"},
    "weight_age": 0, "weight_job_size": 0, "weight_partition": 0, "calc_period_s": 100,
}  # fmt: skip
"""https://slurm.schedmd.com/classic_fair_share.html#example; what its five users leave is used by "other"."""
FACTORS = {"5": 0.749154, "4": 0.500000, "1": 0.408479, "3": 0.125000, "2": 0.022097}
"""By user, as published, the highest first."""
USED = (("B", "1", 4), ("C", "2", 5), ("E", "4", 5), ("other", "0", 6))
"""Account, user and GPUs of 20: usage 0.2, 0.25, 0.25, and 0.3 of others."""


def of(*jobs: tuple[Any, ...]) -> Workload:
    """(submit_s, gpus, duration_s, queue, user, partition)"""
    names = ["submit_s", "gpus", "duration_s", "queue", "user", "partition"]
    rows = [(*job, *[None] * (len(names) - len(job))) for job in jobs]
    texts = {name: pl.String for name in names[3:]}
    return Workload.of(
        pl.DataFrame(rows, schema={"submit_s": float, "gpus": int, "duration_s": float} | texts, orient="row")
    )


def opened(workload: Workload, cluster: str = "1x20", **params: Any) -> tuple[Simulation, Any]:
    spec = get_policy("multifactor")
    return open_simulation(
        workload, pointsman.load_cluster(cluster), spec, spec.make(params), RunOptions(overheads="none")
    )


def order(workload: Workload, cluster: str = "1x20", **params: Any) -> list[int]:
    """Rows by their starts."""
    result = simulate(workload, cluster, "multifactor", params=params)
    starts = result.jobs["start_s"].to_list()
    return sorted(range(len(starts)), key=starts.__getitem__)


ACCOUNT_OF = {"1": "B", "2": "C", "3": "C", "4": "E", "5": "F"}
WORKED = of(
    *((0, gpus, 1000, account, user) for account, user, gpus in USED),
    *((50, 20, 1, account, user) for user, account in ACCOUNT_OF.items()),
    (150, 20, 1, "other", "0"),
)


@pytest.mark.parametrize("user", FACTORS)
def test_fair_share_factors_are_those_of_the_worked_example(user: str) -> None:
    row = WORKED.jobs["user"].to_list().index(user, len(USED))
    simulation, prepared = opened(WORKED, **EXAMPLE)
    answer = explain(simulation, prepared, row, 160.0)
    assert (answer.state, answer.reason) == ("PENDING", "Resources")
    said = float(re.findall(r"fair share ([\d.]+)", answer.said)[0])
    assert said == FACTORS[user]
    assert f"its priority is {math.floor(10_000 * said):,} of" in answer.said


def test_jobs_start_in_the_order_of_the_worked_example() -> None:
    users = [WORKED.jobs["user"][row] for row in order(WORKED, **EXAMPLE)]
    assert users[len(USED) :] == [*FACTORS, "0"]


def test_accounts_of_the_log_are_billed_and_queues_where_it_names_none() -> None:
    """One queue, two accounts: physics has used all, so chemistry goes first though it came later."""
    jobs = of((0, 20, 100, "gpu"), (1, 20, 10, "gpu"), (2, 20, 10, "gpu")).jobs
    billed = Workload.of(jobs.with_columns(account=pl.Series(["physics", "physics", "chemistry"])))
    alone = {"weight_age": 0, "weight_job_size": 0, "calc_period_s": 5}
    assert order(billed, **alone) == [0, 2, 1]
    assert order(Workload.of(jobs), **alone) == [0, 1, 2]
    with pytest.raises(UsageError, match="no such account"):
        order(billed, shares={"gpu": 1})
    result = simulate(billed, "1x20", "multifactor")
    assert result.jobs["account"].to_list() == ["physics", "physics", "chemistry"]


def test_usage_halves_in_a_half_life() -> None:
    """b used half as much as a one half-life later: both count alike; c, who used nothing, goes first."""
    jobs = of((0, 20, 10, "a"), (1000, 20, 5, "b"), (1000, 20, 200, "c"), (1001, 20, 1, "a"), (1001, 20, 1, "b"))
    simulation, prepared = opened(jobs, decay_half_life_s=1000, calc_period_s=5)
    answer = explain(simulation, prepared, 3, 1005.0)
    a, b = (
        (math.exp(-math.log(2) * (1005 - end) / 1000) - math.exp(-math.log(2) * (1005 - begin) / 1000))
        for begin, end in ((0, 10), (1000, 1005))
    )
    expected = 2 ** (-a / (a + b) * 3)
    assert float(re.findall(r"fair share ([\d.]+)", answer.said)[0]) == pytest.approx(expected, abs=1e-6)
    assert abs(expected - 2**-1.5) < 0.01


def test_age_counts_up_to_its_maximum() -> None:
    """Both have waited for longer than it: the wider goes first. Before, the older one does."""
    jobs = of((0, 20, 50, "x"), (1, 10, 100), (2, 11, 100))
    alone = {"weight_fair_share": 0, "calc_period_s": 1, "weight_job_size": 1000}
    assert order(jobs, max_age_s=10, weight_age=1000, **alone) == [0, 2, 1]
    assert order(jobs, max_age_s=1000, weight_age=1e6, **alone) == [0, 1, 2]


def test_small_jobs_may_be_favoured() -> None:
    jobs = of((0, 20, 50), (1, 12, 100), (2, 10, 100))
    alone = {"weight_fair_share": 0, "weight_age": 0}
    assert order(jobs, **alone) == [0, 1, 2]
    assert order(jobs, favor_small=True, **alone) == [0, 2, 1]


def test_priorities_of_partitions_that_no_job_is_in_are_refused() -> None:
    jobs = of((0, 1, 1, None, None, "gpu"))
    with pytest.raises(UsageError, match="partition_priority names 'gpus', a partition without jobs"):
        order(jobs, partition_priority={"gpus": 4})


def test_partitions_have_priorities(tmp_path: Any) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(
        "apiVersion: pointsman/v1\nkind: Cluster\nmetadata: {name: c}\nspec:\n"
        "  node_types: {node: {gpus: 8, gpu_type: v100}}\n"
        "  racks: [{nodes: [{type: node, count: 1, partitions: [long, debug]}]}]\n"
    )
    jobs = of((0, 8, 50, "x", "u", "long"), (1, 8, 9, "y", "v", "long"), (2, 8, 9, "y", "v", "debug"))
    assert order(jobs, str(path)) == [0, 1, 2]
    assert order(jobs, str(path), partition_priority={"debug": 4}) == [0, 2, 1]
    both = of((0, 8, 50, "x", "u", "long"), (1, 8, 9, "y", "v", "long"), (2, 8, 9, "y", "v", "long,debug"))
    assert order(both, str(path), partition_priority={"debug": 4}) == [0, 2, 1]
    assert order(both, str(path), partition_priority={"debug": 0.5, "long": 4}) == [0, 1, 2]


def test_priorities_of_the_log_go_before_all() -> None:
    jobs = of((0, 20, 50, "x"), (1, 20, 1, "x"), (2, 20, 1, "y"))
    assert order(jobs, calc_period_s=1) == [0, 2, 1]
    first = jobs.with_jobs(jobs.jobs.with_columns(priority=pl.Series([0, 1, 0])), reason="none")
    assert order(first, calc_period_s=1) == [0, 1, 2]


def test_a_blocked_head_has_a_reservation() -> None:
    """The head needs the whole node; a long job behind it, which would delay it, does not start, a short one does."""
    jobs = of((0, 12, 50, "x"), (1, 20, 9, "y"), (2, 8, 90, "z"), (3, 8, 9, "z"))
    assert order(jobs) == [0, 3, 1, 2]


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"shares": {"nobody": 3}}, "shares of 'nobody': the log has no such account"),
        ({"parents": {"a": "b", "b": "a"}}, "an account is its own parent"),
        ({"weight_age": -1}, "weight_age"),
        ({"shares": {"a": -1}}, "shares"),
    ],
)
def test_wrong_parameters_are_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError, match=re.escape(said)):
        simulate(of((0, 1, 1, "a", "u")), "1x4", "multifactor", params=params)


def test_it_cannot_take_over_a_run() -> None:
    simulation, _ = opened(WORKED)
    with pytest.raises(UsageError, match="must see the jobs before the run"):
        simulation.adopt(get_policy("multifactor").make())


def test_a_future_goes_on_from_the_usage_so_far() -> None:
    simulation, _ = opened(WORKED, **EXAMPLE)
    simulation.run(160_000)
    future = simulation.foreseen()
    future.run()
    simulation.run()
    assert [int(t) for t in future.handle.world.outcomes["start"]] == [
        int(t) for t in simulation.handle.world.outcomes["start"]
    ]
