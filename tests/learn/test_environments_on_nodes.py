"""Environments in which jobs slow each other on nodes (semantics.md §15) are as slow as runs."""

import polars as pl
import pytest

import pointsman
from pointsman.learn.environments import PickJobEnv

MODELS = ["vgg16", "vgg16", "inception_bn", "resnet50"]


@pytest.mark.parametrize("rate_model", ["rates", "tree:clamp=1", "goodput"])
def test_an_episode_takes_as_long_as_a_run(rate_model: str) -> None:
    rows = {"submit_s": [0.0] * 4, "gpus": [1] * 4, "duration_s": [100.0] * 4, "model": MODELS}
    jobs = pointsman.Workload.of(pl.DataFrame(rows))
    options = {"node_interference": "table:kappa=13"}
    environment = PickJobEnv(
        cluster="1x4", workload=lambda seed, gpus: jobs, rate_model=rate_model, reward="jobs", horizon_s=None,
        gpus="consolidated", factors=options, episodes=1, slots=4, tau_s=1000.0,
    )  # fmt: skip
    run = pointsman.simulate(jobs, "1x4", "fifo", rate_model=rate_model, **options)
    assert run.jobs["end_s"].max() > 150
    for _ in "twice":
        environment.reset(seed=1)
        elapsed_s, ended = 0.0, False
        while not ended:
            _, _, ended, _, info = environment.step(0)
            elapsed_s += info["elapsed_s"]
        assert elapsed_s == pytest.approx(run.jobs["end_s"].max())
