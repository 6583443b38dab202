"""Exports of made-up sites with everything at once: jobs and GPU-hours come out exactly, from text and from JSON."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pointsman.errors import InputError
from pointsman.workload import Workload, read_workload
from tests.workload.slurm_site import Site, Truth, as_json, as_text, sites

SETTINGS = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def truth_of(workload: Workload) -> Truth:
    rows = workload.jobs.select("job_id", "gpus", "fraction", "duration_s").rows()
    return {job_id: (gpus * (1.0 if part is None else part), run_s) for job_id, gpus, part, run_s in rows}


def check(path: Path, site: Site, data: bytes, steps: int) -> None:
    path.write_bytes(data)
    if not site.truth:
        with pytest.raises(InputError, match=r"no job is left|none of .* rows names a GPU"):
            read_workload(path)
        return
    read = read_workload(path)
    assert truth_of(read) == site.truth
    quality = read.quality
    assert sum(quality.merged.values()) == site.further
    assert sum(quality.dropped.values()) == site.never + steps
    assert quality.rows_read == len(site.records) - site.steps + steps


@SETTINGS
@given(sites(), st.sampled_from(["|", "|#", "^", ";;", "¦"]), st.booleans(), st.booleans())
def test_text(tmp_path: Path, site: Site, delimiter: str, trailing: bool, epochs: bool) -> None:
    check(tmp_path / "log", site, as_text(site, delimiter, trailing=trailing, epochs=epochs), site.steps)


@SETTINGS
@given(sites(), st.booleans())
def test_json(tmp_path: Path, site: Site, numbers: bool) -> None:
    check(tmp_path / "log", site, as_json(site, numbers=numbers), 0)
