"""Environments in which jobs slow each other on nodes (semantics.md §15) are as slow as runs."""

from pathlib import Path

import polars as pl
import pytest

import pointsman
from pointsman.learn.environments import PickJobEnv
from tests.engine.rate_models.learnt_file import learnt_file
from tests.free import simulate

MODELS = ["vgg16", "vgg16", "inception_bn", "resnet50"]
LEARNT = learnt_file("""\
    vgg16:
      otherwise: {alone: 1.0, per_own_gpu: 1.0, beside: {inception_bn: {met: 1.3, per_gpu: 1.0}}}
      measured: {1 beside inception_bn*1 + resnet50*1 + vgg16*1: 1.7, 1 beside vgg16*1: 1.2}
""")


@pytest.mark.parametrize("source", ["table:kappa=13", "table:sigma=0.5,kappa=13", LEARNT])
@pytest.mark.parametrize("rate_model", ["rates", "tree:clamp=1", "goodput"])
def test_an_episode_takes_as_long_as_a_run(rate_model: str, source: str, tmp_path: Path) -> None:
    if source == LEARNT:
        source = str(tmp_path / "learnt.yaml")
        Path(source).write_text(LEARNT)
    rows = {"submit_s": [0.0] * 4, "gpus": [1] * 4, "duration_s": [100.0] * 4, "model": MODELS}
    jobs = pointsman.Workload.of(pl.DataFrame(rows))
    options = {"node_interference": source}
    environment = PickJobEnv(
        cluster="1x4/gpu=v100", workload=lambda seed, gpus: jobs, rate_model=rate_model, reward="jobs", horizon_s=None,
        gpus="consolidated", factors=options, episodes=1, slots=4, tau_s=1000.0,
    )  # fmt: skip
    run = simulate(jobs, "1x4/gpu=v100", "fifo", rate_model=rate_model, **options)
    assert run.jobs["end_s"].max() > 120
    for _ in "twice":
        environment.reset(seed=1)
        elapsed_s, ended = 0.0, False
        while not ended:
            _, _, ended, _, info = environment.step(0)
            elapsed_s += info["elapsed_s"]
        assert elapsed_s == pytest.approx(run.jobs["end_s"].max())


@pytest.mark.parametrize("contention", ["level", "max-min", "duty-cycle", "node-link:2"])
def test_jobs_that_share_links_are_as_slow_as_in_a_run(contention: str) -> None:
    rows = {
        "submit_s": [0.0, 0.0, 5.0, 40.0, 90.0], "gpus": [3, 3, 2, 3, 1],
        "duration_s": [100.0, 150.0, 80.0, 60.0, 30.0],
        "model": ["vgg16", "vgg16", "resnet50", "bert", "inception_bn"],
    }  # fmt: skip
    jobs = pointsman.Workload.of(pl.DataFrame(rows))

    def ends_s(contention: str) -> list[float]:
        environment = PickJobEnv(
            cluster="4x2/rack=2,nic=10Gbps", workload=lambda seed, gpus: jobs, contention=contention, reward="jobs",
            horizon_s=None, gpus="spread", episodes=1, slots=5, tau_s=1000.0, rate_model="rates",
        )  # fmt: skip
        environment.reset(seed=1)
        ended = False
        while not ended:
            first = int(environment.window[0] < 0) * 5
            _, _, ended, _, _ = environment.step(first)
        return (environment.outcomes["end"] / 1000.0).tolist()

    run = simulate(jobs, "4x2/rack=2,nic=10Gbps", "fifo", placement="spread", contention=contention)
    assert ends_s(contention) == run.jobs["end_s"].to_list()
    assert ends_s(contention) != ends_s("none")
