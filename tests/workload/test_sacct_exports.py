"""Exports of sites whose truth is known: jobs and GPU-hours come out exactly, of text and of JSON."""

import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from pointsman.types import JOB_STEP, NO_GPU
from pointsman.workload import Workload, read_workload
from pointsman.workload.columns import SCHEMA
from tests.workload.sacct_exports import as_job_list, as_json, strategies, truth
from tests.workload.sacct_exports.all_fields import ALL_FIELDS
from tests.workload.sacct_exports.as_text import Export, Layout
from tests.workload.sacct_exports.site import FREE_TEXT, Gres, Job, Part, Run, Site
from tests.workload.sacct_exports.truth import Known, Truth

LONG = settings(max_examples=3000, suppress_health_check=list(HealthCheck), report_multiple_bugs=False)
EVERY_DAY = settings(LONG, max_examples=12, derandomize=True, phases=(Phase.explicit, Phase.generate))
"""The same sites in each run, and none is made smaller, which takes minutes. `LONG` finds new ones."""
CLEAN_FIELDS = tuple(name for name in ALL_FIELDS if name not in FREE_TEXT or name == "JobName")


def found(workload: Workload) -> list[Known]:
    """The jobs of a table; clocks count from the first job, which is always there."""
    return [_known(row) for row in workload.jobs.iter_rows(named=True)]


def _known(row: dict) -> Known:
    clock = {name: None if row[name] is None else row[name] + strategies.BEGIN_S for name in ("start_s", "end_s")}
    return Known(
        submit=row["submit_s"] + strategies.BEGIN_S,
        gpus=row["gpus"],
        fraction=row["fraction"],
        duration=row["duration_s"],
        types=frozenset((row["gpu_type"] or "").split("+")) - {""},
        status=row["status"],
        user=row["user"],
        account=row["account"],
        partition=row["partition"],
        qos=row["qos"],
        start=clock["start_s"],
        end=clock["end_s"],
        limit_s=row["time_limit_s"],
        nodes=row["nodes_requested"],
        node_list=row["node_list"],
    )


def gpu_hours(jobs: list[Known]) -> float:
    return sum(job.gpus * (job.fraction or 1) * job.duration for job in jobs) / 3600


def apart(have: list[Known], other: list[Known]) -> tuple[list[Known], list[Known]]:
    """Those of each list that the other lacks: a largest matching, as a job of which little is known fits several."""
    matched: dict[int, int] = {}

    def placed(one: int, tried: set[int]) -> bool:
        for place, job in enumerate(other):
            if place not in tried and job == have[one]:
                tried.add(place)
                if place not in matched or placed(matched[place], tried):
                    matched[place] = one
                    return True
        return False

    unmatched = [job for one, job in enumerate(have) if not placed(one, set())]
    return unmatched, [job for place, job in enumerate(other) if place not in matched]


def check(workload: Workload, right: Truth) -> bool:
    """Nothing is lost, invented or misread; returns whether jobs were lost where that is allowed.

    If one matching covers all that was found, and another all that must be, then some matching covers both.
    """
    quality, jobs = workload.quality, found(workload)
    misread, _ = apart(jobs, right.jobs + right.perhaps)
    _, missing = apart(jobs, right.jobs)
    assert (misread, missing) == ([], [])
    if not right.perhaps:
        assert gpu_hours(jobs) == pytest.approx(gpu_hours(right.jobs), abs=1e-6)
    assert quality.kept == len(jobs)
    assert quality.rows_read == quality.kept + sum(quality.dropped.values()) + sum(quality.merged.values())
    assert right.fewest_rows <= quality.rows_read <= right.most_rows
    return len(jobs) < len(right.jobs) + len(right.perhaps)


def check_reasons(workload: Workload, right: Truth) -> None:
    """What is dropped is counted under what it is; what is assumed is said."""
    quality = workload.quality
    dropped = quality.dropped
    never = sum(n for reason, n in dropped.items() if "never started" in reason)
    assert dropped.get(JOB_STEP, 0) >= right.steps
    assert dropped.get(NO_GPU, 0) >= right.without_gpu
    assert never >= right.never_started
    if right.unshared:
        assert re.search(r"GPU-h|GPU hours", quality.render())
        assert any(name.removeprefix("gpu:") in quality.render() for name in right.unshared)
    if right.mixed:
        assert re.search("heterogeneous", quality.render(), re.IGNORECASE)


def read(folder: Path, data: bytes) -> Workload:
    path = folder / "log"
    path.write_bytes(data)
    return read_workload(path)


def text_is_read(folder: Path, data: st.DataObject) -> None:
    site = data.draw(strategies.sites())
    text_of(folder, site, data.draw(strategies.layouts(site)))


def text_of(folder: Path, site: Site, layout: Layout) -> None:
    export = Export(site, layout)
    right = truth.of_text(site, export, layout)
    workload = read(folder, export.data)
    assert workload.provenance.format == "sacct"
    lost = check(workload, right)
    check_reasons(workload, right)
    if lost:
        assert re.search(r"\blines? [0-9]", workload.quality.render())


def json_is_read(folder: Path, data: st.DataObject) -> None:
    site = data.draw(strategies.sites())
    layout = data.draw(strategies.json_layouts)
    right = truth.of_json(site, layout.version)
    workload = read(folder, as_json.printed(site, layout))
    check(workload, right)
    check_reasons(workload, right)


def job_list_is_read(folder: Path, data: st.DataObject) -> None:
    """Of what slurmctld remembers, whose starts of waiting jobs are estimates."""
    site = as_job_list.remembered(data.draw(strategies.sites()))
    right = truth.of_json(site)
    workload = read(folder, as_job_list.printed(site, strategies.NOW_S))
    check(workload, right)
    check_reasons(workload, right)


def text_and_json_agree(folder: Path, data: st.DataObject) -> None:
    """Where nothing in the text needs a guess."""
    site = data.draw(strategies.sites())
    exact = strategies.json_layouts.filter(lambda layout: not layout.version.start_is_eligible)
    layout = Layout(CLEAN_FIELDS, data.draw(st.sampled_from(("|", "§"))))
    export = Export(site, layout)
    if truth.of_text(site, export, layout).perhaps:
        layout = Layout(tuple(name for name in CLEAN_FIELDS if name != "JobName"))
        export = Export(site, layout)
    text = read(folder, export.data)
    document = read(folder, as_json.printed(site, data.draw(exact)))
    assert_same(text.jobs, document.jobs)


def assert_same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    different = [name for name in SCHEMA if not one.sort(by_job(one))[name].equals(other.sort(by_job(other))[name])]
    assert different == []


def by_job(jobs: pl.DataFrame) -> list[str]:
    return ["submit_s", "job_id", "duration_s"]


PROPERTIES = (text_is_read, json_is_read, job_list_is_read, text_and_json_agree)


@pytest.mark.parametrize("holds", PROPERTIES)
@EVERY_DAY
@given(data=st.data())
def test_what_happened_comes_out(
    tmp_path: Path, holds: Callable[[Path, st.DataObject], None], data: st.DataObject
) -> None:
    holds(tmp_path, data)


def test_jobs_at_one_instant_are_not_confused(tmp_path: Path) -> None:
    """Requeued and then cancelled: nothing in its last record decides the job's status, so it fits others, too."""
    part, at = Part((Gres(1),)), strategies.BEGIN_S + 1
    completed = Run(at, "COMPLETED", at, at, at, ran=True)
    requeued = Run(at, "NODE_FAIL", at, at, at, ran=True)
    cancelled = Run(at + 1, "CANCELLED by 1001", at + 1, end=at + 1)
    jobs = (
        strategies.first_job("untyped"),
        Job(102, "ann", (part,), (requeued, cancelled)),
        Job(103, "ann", (part,), (completed,)),
    )
    fields = ("State", "Submit", "AllocTRES", "JobID", "Start", "End", "ElapsedRaw")
    text_of(tmp_path, Site(jobs, "untyped"), Layout(fields, order="reversed"))


@pytest.mark.slow
@pytest.mark.parametrize("holds", PROPERTIES)
@LONG
@given(data=st.data())
def test_what_happened_comes_out_of_thousands_of_sites(
    tmp_path: Path, holds: Callable[[Path, st.DataObject], None], data: st.DataObject
) -> None:
    holds(tmp_path, data)
