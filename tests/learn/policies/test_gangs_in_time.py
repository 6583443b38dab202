"""MARL and Meta-RL bound waits as the placers do: no gang waits for ever, in either order of jobs."""

from importlib.util import find_spec

import numpy as np
import pytest

from pointsman.errors import UsageError
from pointsman.workload import Workload
from tests.free import simulate
from tests.policies.gittins_runs import jobs_of
from tests.policies.test_bounded_waiting import LIMIT, random_jobs, start_of_the_gang_s, stream
from tests.policies.test_reservations import LONGER

POLICIES = [
    pytest.param("marl", marks=pytest.mark.skipif(find_spec("torch") is None, reason="no PyTorch (make learn)")),
    "metarl:none",
    "scorer",
]
SHORT_S = 2000.0


def crowd(until_s: float) -> Workload:
    """32 GPUs at load 0.9, all but one job of one GPU each; that one asks for all 32."""
    draw = np.random.default_rng(5)
    gaps_s = draw.exponential(SHORT_S / 32 / 0.9, int(until_s * 32 * 0.9 / SHORT_S))
    narrow = [(float(begin_s), 1, float(draw.uniform(0.2, 1.8) * SHORT_S)) for begin_s in np.cumsum(gaps_s)]
    return jobs_of(sorted([*narrow, (5000.0, 32, 500.0)]))


@pytest.mark.parametrize("order", ["fifo", pytest.param("sjf", marks=pytest.mark.slow)])
@pytest.mark.parametrize("policy", POLICIES)
def test_a_gang_as_wide_as_the_cluster_starts(policy: str, order: str) -> None:
    """Unbounded, it waits until the stream of jobs dries up."""
    waits_s = {}
    for patience_s in (0.0, 10_000.0):
        params = {"order": order, "patience": 0.0, "patience_s": patience_s}  # what fits starts at once
        jobs = simulate(crowd(40_000.0), "8x4/rack=8", policy, params=params, assign_models=1).jobs
        waits_s[patience_s] = jobs.filter(gpus=32)["start_s"].item() - 5000.0
    assert waits_s[0.0] > 30_000
    assert waits_s[10_000.0] < 10_000 + 3 * 1.8 * SHORT_S


@pytest.mark.parametrize("order", ["fifo", "sjf"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in (1, 2))])
def test_each_job_starts_by_the_formula(seed: int, policy: str, order: str) -> None:
    """As under `sjf-backfill`, whose durations are as exact: the bound of ``test_reservations``."""
    params = {"patience_s": LIMIT["patience_s"], "order": order}
    jobs = simulate(random_jobs(seed), "4x4", policy, params=params).jobs
    submit, start, gpus = (jobs[name].to_numpy() for name in ("submit_s", "start_s", "gpus"))
    queued = ((submit[:, None] > submit) & (submit[:, None] < start)) @ gpus
    limit = LIMIT["patience_s"] * (1 + queued / 16) * np.sqrt(np.minimum(1, 4 / gpus))
    longest, ahead = jobs["duration_s"].max(), (start - submit >= limit).sum()
    assert (start - submit <= limit + longest + (1 + ahead) * LONGER * longest).all()
    assert ahead > 10


@pytest.mark.parametrize("policy", POLICIES)
def test_the_others_start_where_the_gang_is_not_delayed(policy: str) -> None:
    """GPUs that are reserved are free again after each cycle, and jobs that end in time take them (the audit looks)."""
    jobs = simulate(stream(6000.0), "1x2", policy, params={"patience_s": 1000.0}, audit=True)
    assert 1010 <= start_of_the_gang_s(jobs) <= 1010 + 2 * LONGER * 300


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"order": "lifo"}, "metarl.order = 'lifo': it must be one of fifo, sjf"),
        ({"patience_s": -1.0}, "metarl.patience_s = -1: it must be from 0"),
        ({"run_time_quantile": 1.0}, "metarl.run_time_quantile = 1: it must be between 0 and 1"),
    ],
)
def test_parameters_that_make_no_sense_are_refused(params: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        simulate(stream(1500.0), "1x2", "metarl:none", params=params)


def test_where_waits_are_bounded_decisions_take_no_time() -> None:
    pytest.importorskip("torch")
    with pytest.raises(UsageError, match="decision"):
        simulate(stream(1500.0), "1x2", "marl", params={"patience_s": 100.0}, decision_time=1.0)
