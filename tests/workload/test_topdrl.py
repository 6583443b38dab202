"""Jobs as TopDRL's simulator draws them, and logs for smaller clusters."""

import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError
from pointsman.speed.profiles.catalogue import load_catalogue
from pointsman.workload import generate
from pointsman.workload.generator.topdrl import MODELS, SAMPLES, STEP_S, generate_topdrl
from pointsman.workload.transforms.narrow import narrowed
from pointsman.workload.transforms.rescale import offered_load


def test_half_are_short_a_tenth_medium_a_fifth_long_and_a_fifth_extreme() -> None:
    work = generate_topdrl(1000, 5)
    steps = (work.jobs["duration_s"] / STEP_S).round().cast(pl.Int64)
    assert pytest.approx(241.5, abs=0.01) == STEP_S
    assert sorted(steps.unique()) == list(range(1, 21))
    for values, bands in ((steps, (6, 7, 15, 20)), (work.jobs["gpus"], (1, 2, 4, 8))):
        upto = [int((values <= band).sum()) for band in bands]
        assert upto[3] == 1000
        assert upto[2] == 800
        assert 500 <= upto[0] <= upto[1]  # a band may reach down into the one below it
    assert set(work.jobs["model"]) == set(MODELS)
    assert set(work.jobs["batch_size"] // work.jobs["gpus"]) == set(SAMPLES)
    assert all(load_catalogue().knows(model) for model in MODELS)
    lengths = work.jobs.group_by("gpus").agg(pl.col("duration_s").mean())["duration_s"] / STEP_S
    assert lengths.min() > 6 and lengths.max() < 11  # shuffled apart: width says nothing of length


def test_the_seed_says_everything_and_the_load_is_exact() -> None:
    assert generate_topdrl(50, 3).jobs.equals(generate_topdrl(50, 3).jobs)
    assert not generate_topdrl(50, 3).jobs.equals(generate_topdrl(50, 4).jobs)
    assert set(generate_topdrl(50, 3).jobs["submit_s"]) == {0.0}
    paced = generate_topdrl(50, 3, cluster_gpus=64, load=1.2)
    assert offered_load(paced.jobs, 64) == pytest.approx(1.2)
    assert paced.jobs.drop("submit_s").equals(generate_topdrl(50, 3).jobs.drop("submit_s"))
    assert generate("topdrl", jobs=50, cluster_gpus=64, load=1.2, seed=3).jobs.equals(paced.jobs)
    assert generate("topdrl", jobs=20, cluster_gpus=4).jobs["gpus"].max() == 4


def test_small_episodes_have_every_share() -> None:
    for jobs in (1, 2, 5, 30):
        work = generate_topdrl(jobs, 0, longest=3, widest=2)
        assert work.jobs.height == jobs
        assert work.jobs["gpus"].is_between(1, 2).all()
        assert (work.jobs["duration_s"] / STEP_S).round().is_between(1, 3).all()


def test_wide_gangs_are_narrowed_and_counted() -> None:
    work = pointsman.Workload.of(pl.DataFrame({"submit_s": [0.0, 1, 2], "gpus": [4, 8, 64], "duration_s": [5.0] * 3}))
    small = narrowed(work, 8)
    assert small.jobs["gpus"].to_list() == [4, 8, 8]
    assert small.jobs["duration_s"].to_list() == [5.0] * 3
    assert small.quality.clamped == {"narrowed to 8 GPUs": 1}
    assert narrowed(small, 8) is small
    with pytest.raises(UsageError):
        narrowed(work, 0)
