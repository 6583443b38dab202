"""What `generate` promises, for every shipped profile."""

import hashlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from pointsman.errors import UsageError
from pointsman.workload import generate
from pointsman.workload.columns import SCHEMA
from pointsman.workload.generator import helios
from pointsman.workload.generator.fit import dispersion
from pointsman.workload.generator.profile import SHIPPED, load_profile
from pointsman.workload.table import Workload
from pointsman.workload.transforms.rescale import offered_load

DISPERSIONS = {"philly": 161.4, "itp": 59.9}
"""Hourly index of dispersion of the logs (`benchmarks/generator_fit.py`)."""


@pytest.fixture(scope="module", params=SHIPPED)
def whole(request: pytest.FixtureRequest) -> tuple[str, Workload]:
    """As many jobs as the log has, at its own pace."""
    like = request.param
    return like, generate(like, jobs=load_profile(like).jobs, cluster_gpus=1 << 20, seed=3)


def column(workload: Workload, name: str) -> np.ndarray:
    return workload.jobs[name].to_numpy()


def digest(workload: Workload) -> str:
    return hashlib.sha256(workload.jobs.write_csv().encode()).hexdigest()


@pytest.mark.parametrize("like", SHIPPED)
def test_the_table_is_canonical(like: str) -> None:
    jobs = generate(like, jobs=500, cluster_gpus=64, load=0.8).jobs
    assert dict(jobs.schema) == SCHEMA
    assert jobs.height == 500
    assert jobs["submit_s"][0] == 0 and jobs["submit_s"].is_sorted()
    assert jobs["gpus"].is_between(1, 64).all()
    assert (jobs["duration_s"] > 0).all() and jobs["duration_s"].is_finite().all()
    assert jobs["job_id"].is_unique().all()
    assert jobs["queue"].null_count() == jobs["user"].null_count() == 0


@pytest.mark.parametrize("like", SHIPPED)
@pytest.mark.parametrize("load", [0.3, 1.05])
@pytest.mark.parametrize("jobs", [2, 3_000])
def test_the_load_is_realised(like: str, load: float, jobs: int) -> None:
    workload = generate(like, jobs=jobs, cluster_gpus=256, load=load, seed=5)
    assert offered_load(workload.jobs, 256) == pytest.approx(load, rel=1e-12)


def test_more_jobs_than_the_log_has_repeat_its_season() -> None:
    profile = load_profile("itp")
    workload = generate("itp", jobs=2 * profile.jobs + 1000, cluster_gpus=6400, load=0.9)
    assert workload.jobs.height == 2 * profile.jobs + 1000
    assert offered_load(workload.jobs, 6400) == pytest.approx(0.9, rel=1e-12)


def test_the_lead_in_is_not_repeated() -> None:
    profile = load_profile("philly")
    submit_s = column(generate("philly", jobs=2 * profile.jobs - 100, cluster_gpus=1 << 20), "submit_s")
    empty_days = np.sum(np.bincount((submit_s // profile.day_s).astype(int)) < 20)
    assert profile.lead_in_days <= empty_days < 1.8 * profile.lead_in_days


def test_seeds_and_processes() -> None:
    def code(seed: int) -> str:
        return (
            "import hashlib; from pointsman.workload import generate;"
            f"w = generate('philly', jobs=2000, cluster_gpus=512, load=0.85, seed={seed});"
            "print(hashlib.sha256(w.jobs.write_csv().encode()).hexdigest())"
        )

    here = digest(generate("philly", jobs=2000, cluster_gpus=512, load=0.85, seed=1))
    there = subprocess.run([sys.executable, "-c", code(1)], capture_output=True, text=True, check=True).stdout.strip()
    assert here == there
    assert here != digest(generate("philly", jobs=2000, cluster_gpus=512, load=0.85, seed=2))


def test_the_jobs_do_not_depend_on_load_or_cluster() -> None:
    slow, fast = (generate("itp", jobs=2000, cluster_gpus=g, load=f, seed=1) for g, f in ((512, 0.5), (4096, 0.9)))
    same = ["user", "queue", "gpus", "duration_s"]
    assert slow.jobs.select(same).equals(fast.jobs.select(same))


def test_sizes_are_those_of_the_table(whole: tuple[str, Workload]) -> None:
    like, workload = whole
    wanted: dict[int, int] = {}
    for band in (b for s in load_profile(like).streams for t in s.tiers for b in t.bands):
        for by_gpus in band.jobs.values():
            wanted |= {gpus: wanted.get(gpus, 0) + n for gpus, n in by_gpus.items()}
    made = dict(workload.jobs["gpus"].value_counts().iter_rows())
    assert sum(made.values()) == sum(wanted.values())
    off = sum(abs(made.get(gpus, 0) - n) for gpus, n in wanted.items()) / 2 / workload.jobs.height
    assert off < 0.001


def test_gaps_are_those_of_the_table(whole: tuple[str, Workload]) -> None:
    like, workload = whole
    profile = load_profile(like)
    gaps = np.diff(column(workload, "submit_s"))
    assert (gaps == np.rint(gaps)).all()
    if profile.gaps_s:
        assert gaps.mean() == pytest.approx(profile.mean_gap_s, rel=1e-6)
        middle = profile.gaps_s[len(profile.gaps_s) // 2]
        assert np.median(gaps) == pytest.approx(middle, abs=1)
    assert workload.jobs["submit_s"][-1] == pytest.approx(profile.mean_gap_s * (workload.jobs.height - 1), rel=0.01)


def test_arrivals_are_bursty(whole: tuple[str, Workload]) -> None:
    like, workload = whole
    submit_s = column(workload, "submit_s")
    if like in DISPERSIONS:
        assert dispersion(submit_s) == pytest.approx(DISPERSIONS[like], rel=0.25)
    else:
        assert dispersion(submit_s, 600.0) == pytest.approx(helios.DISPERSION_10_MIN, rel=0.25)
    poisson = np.sort(np.random.default_rng(0).uniform(0, submit_s[-1], submit_s.size))
    assert dispersion(poisson) < 1.5 < dispersion(submit_s) / 5


def test_wide_jobs_are_longer(whole: tuple[str, Workload]) -> None:
    _, workload = whole
    gpus, duration_s = column(workload, "gpus"), column(workload, "duration_s")
    assert duration_s[gpus >= 8].mean() > 2 * duration_s[gpus == 1].mean()
    assert workload.jobs.select(pl.corr("gpus", "duration_s", method="spearman")).item() > 0.05


def test_durations_are_heavy_tailed(whole: tuple[str, Workload]) -> None:
    _, workload = whole
    work = np.sort(column(workload, "gpus") * column(workload, "duration_s"))
    assert work[-work.size // 20 :].sum() > 0.6 * work.sum()


def test_consecutive_jobs_are_alike(whole: tuple[str, Workload]) -> None:
    _, workload = whole
    user = workload.jobs["user"].to_numpy()
    mixed = np.random.default_rng(0).permutation(user)
    assert (user[1:] == user[:-1]).mean() > 2 * (mixed[1:] == mixed[:-1]).mean()
    assert np.unique(user).size > 50


def test_statuses_have_the_published_shares(whole: tuple[str, Workload]) -> None:
    like, workload = whole
    status = load_profile(like).status
    if status is None:
        assert workload.jobs["status"].null_count() == workload.jobs.height
        return
    work = pl.col("gpus") * pl.col("duration_s")
    made = workload.jobs.group_by("status").agg(jobs=pl.len(), work=work.sum())
    for name, jobs, gpu_time in made.iter_rows():
        total = sum(status.jobs.values())
        assert jobs / workload.jobs.height == pytest.approx(status.jobs[name] / total, abs=0.01)
        assert gpu_time / made["work"].sum() == pytest.approx(status.gpu_time[name], abs=0.08)


@pytest.mark.parametrize(("gpus", "load"), [(1022, None), (6220, 0.8)])
def test_helios_keeps_the_published_hours_at_any_load(gpus: int, load: float | None) -> None:
    submit_s = column(generate("helios", jobs=helios.JOBS, cluster_gpus=gpus, load=load, seed=1), "submit_s")
    hour = (submit_s // 3600).astype(int) % 24
    share = 100 * np.bincount(hour, minlength=24) / hour.size
    assert np.abs(share - np.array(helios.HOURLY)).max() < 2.5
    assert share[15:18].sum() > 4 * share[4:7].sum()


def test_helios_has_the_published_marginals() -> None:
    workload = generate("helios", jobs=helios.JOBS, cluster_gpus=6220, seed=2)
    assert column(workload, "gpus").mean() == pytest.approx(helios.MEAN_GPUS, rel=0.03)
    assert np.median(column(workload, "gpus")) == 1
    assert np.median(column(workload, "duration_s")) == pytest.approx(helios.MEDIAN_S, rel=0.03)
    assert column(workload, "duration_s").mean() == pytest.approx(helios.MEAN_S, rel=0.08)


def test_gangs_wider_than_the_cluster_are_narrowed_and_counted() -> None:
    wide = generate("itp", jobs=5000, cluster_gpus=1 << 20)
    narrow = generate("itp", jobs=5000, cluster_gpus=8)
    over = int((wide.jobs["gpus"] > 8).sum())
    assert over > 0
    assert narrow.jobs["gpus"].max() == 8
    assert list(narrow.quality.clamped.values()) == [over]
    assert not wide.quality.clamped


def test_it_says_where_it_comes_from() -> None:
    workload = generate("philly", jobs=100, cluster_gpus=64, load=0.5, seed=9)
    assert "philly" in workload.provenance.source and "seed=9" in workload.provenance.command
    assert any("Philly" in note and "CC-BY" in note for note in workload.quality.notes)


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"like": "phily"}, "philly"),
        ({"jobs": 1}, "at least 2"),
        ({"cluster_gpus": 0}, "at least 1"),
        ({"load": 0.0}, "load 0 must be from 1e-06 to 1000"),
        ({"load": -1.0}, "must be from"),
        ({"load": 1e-300}, "must be from"),
        ({"load": float("nan")}, "load nan must be from"),
        ({"load": float("inf")}, "must be from"),
        ({"seed": -1}, "seed -1 must be a whole number"),
        ({"like": "absent.yaml"}, "cannot be read"),
    ],
)
def test_bad_arguments(arguments: dict[str, object], word: str) -> None:
    with pytest.raises(UsageError, match=word):
        generate(**({"like": "itp", "jobs": 10, "cluster_gpus": 8} | arguments))  # ty: ignore[invalid-argument-type]


@pytest.mark.parametrize(
    ("old", "new", "word"),
    [
        ("shortest_s", "shortest", "shortest"),
        ("lead_in_days: 0", "lead_in_days: -1", "lead_in_days"),
        ("name: itp", "name: [", r"mine\.yaml:3: not valid YAML"),
    ],
)
def test_a_bad_profile_is_refused(tmp_path: Path, old: str, new: str, word: str) -> None:
    import pointsman.workload.generator as package

    text = (Path(package.__file__).parent / "itp.yaml").read_text()
    path = tmp_path / "mine.yaml"
    path.write_text(text.replace(old, new, 1))
    with pytest.raises(UsageError, match=word):
        load_profile(str(path))
