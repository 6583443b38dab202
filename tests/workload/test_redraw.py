"""Generated workloads are drawn anew from what their provenance says, and nothing else is."""

import re
from pathlib import Path

import pytest

import pointsman
from pointsman.errors import UsageError
from pointsman.workload import generator
from pointsman.workload.generator.redraw import redrawn

MADE = {
    "philly": {"jobs": 40, "cluster_gpus": 16, "load": 0.8},
    "helios": {"jobs": 40, "cluster_gpus": 16, "load": None},
    "topdrl": {"jobs": 30, "cluster_gpus": 4, "load": 0.8},
    "dl2-1-8": {"jobs": 30, "cluster_gpus": 16, "load": 0.8},
}


@pytest.mark.parametrize("like", MADE)
def test_other_seeds_give_what_generate_gives(like: str, tmp_path: Path) -> None:
    first = pointsman.generate(like, seed=7, **MADE[like])
    pointsman.write_workload(first, tmp_path / "jobs.parquet")
    expected = [pointsman.generate(like, seed=seed, **MADE[like]) for seed in (3, 7)]
    for log in (first, pointsman.read_workload(tmp_path / "jobs.parquet")):
        found = redrawn(log, (3, 7))
        assert [each.provenance for each in found] == [each.provenance for each in expected]
        assert all(one.jobs.equals(other.jobs) for one, other in zip(found, expected, strict=True))
        assert [each.provenance.seed for each in found] == [3, 7]


def test_a_profile_of_ones_own_is_found_again(tmp_path: Path) -> None:
    mine, shipped = tmp_path / "mine.yaml", Path(generator.__file__).parent / "itp.yaml"
    mine.write_text(re.sub(r"^name: itp$", "name: mine", shipped.read_text(), flags=re.M))
    made = pointsman.generate(str(mine), jobs=20, cluster_gpus=8, seed=1)
    assert made.provenance.source == "generated like mine"
    (again,) = redrawn(made, [2])
    assert again.jobs.equals(pointsman.generate(str(mine), jobs=20, cluster_gpus=8, seed=2).jobs)


def log(tmp_path: Path, name: str, **options: object) -> pointsman.Workload:
    file = tmp_path / name
    pointsman.write_workload(pointsman.generate("philly", seed=7, **MADE["philly"]), file)
    return pointsman.read_workload(file, **options)  # ty: ignore


def test_a_log_that_does_not_say_how_it_was_made_is_refused(tmp_path: Path) -> None:
    generated = pointsman.generate("philly", seed=7, **MADE["philly"])
    user = generated["user"][0]
    for given in (
        log(tmp_path, "jobs.csv"),
        log(tmp_path, "jobs.parquet", only={"user": user}),
        pointsman.Workload.of(generated.jobs),
        pointsman.Workload.of(generated.jobs, format="generated", command="__import__('os').getcwd()"),
        pointsman.Workload.of(generated.jobs, format="generated", command="open(file='x')"),
    ):
        with pytest.raises(UsageError, match="does not say how its jobs were generated: give what 'pointsman trace"):
            redrawn(given, [1])


def test_jobs_that_were_changed_are_refused() -> None:
    generated = pointsman.generate("philly", seed=7, **MADE["philly"])
    for given in (
        generated.with_jobs(generated.jobs.head(10), reason="mine"),
        pointsman.Workload.of(generated.jobs, format="generated", command="generate(like='philly', speed=3)"),
    ):
        with pytest.raises(UsageError, match="are not the jobs that its provenance names: it was changed"):
            redrawn(given, [1])
