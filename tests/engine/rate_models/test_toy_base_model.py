"""A base model is one class, its compiled code and one registration: a toy one works in runs and with factors."""

import json
from pathlib import Path

import pytest

import pointsman
from pointsman.engine.rate_models.registry import BASE_MODELS
from pointsman.report.metrics.groups import group_runs
from pointsman.report.pages.page import facts

from .test_toy_factor import python

HALF_SPEED = "tests.engine.rate_models.half_speed:HalfSpeed"
WIDE = "wide,0,4,100"
"""On two nodes of 2 GPUs: it takes 200 s."""


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BASE_MODELS, "half-speed", HALF_SPEED)


def ends_s(directory: Path, policy: str, *jobs: str) -> dict[str, float]:
    """When each job ends, on two nodes of 2 GPUs."""
    (directory / "jobs.csv").write_text("\n".join(["job_id,submit_s,gpus,duration_s", *jobs]) + "\n")
    run = pointsman.simulate(
        directory / "jobs.csv", "2x2", policy, rate_model="half-speed", overheads="none", audit=True
    )
    assert run.info["rate_model"] == "half-speed"
    return dict(zip(run.jobs["job_id"], run.jobs["end_s"], strict=True))


def test_a_job_runs_at_the_rate_that_its_code_says(tmp_path: Path) -> None:
    assert ends_s(tmp_path, "fifo", WIDE, "narrow,300,2,100") == {"wide": 200, "narrow": 400}


def test_a_preempted_job_keeps_what_it_did_at_that_rate(tmp_path: Path) -> None:
    """At 100 s the wide job has done 50 s of work, and waits for the narrow one; the other 50 s take 100 s."""
    assert ends_s(tmp_path, "srtf", WIDE, "narrow,100,2,20") == {"wide": 220, "narrow": 120}


def test_a_factor_slows_it_as_any_other(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text("job_id,submit_s,gpus,duration_s\na,0,1,100\nb,0,1,100\n")
    code = f"""
    import json, pointsman
    from pointsman.engine.rate_models.registry import BASE_MODELS
    BASE_MODELS["half-speed"] = {HALF_SPEED!r}
    run = pointsman.simulate(
        "jobs.csv", "1x2", "fifo", rate_model="half-speed", overheads="none", audit=True, shared_node_slowdown=2
    )
    print(json.dumps(run.jobs["end_s"].to_list()))
    """
    assert json.loads(python(code, cwd=tmp_path)) == [200, 200]


def test_its_sentence_is_in_the_report(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(f"job_id,submit_s,gpus,duration_s\n{WIDE}\n")
    run = pointsman.simulate(tmp_path / "jobs.csv", "2x2", "fifo", rate_model="half-speed")
    assert "a job on several nodes runs at half speed (half-speed)" in dict(facts(group_runs([run]))).values()
