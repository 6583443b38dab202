"""As an operator would: what Slurm prints becomes a compared table by two commands."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.workload.sacct_exports import truth
from tests.workload.sacct_exports.all_fields import ALL_FIELDS
from tests.workload.sacct_exports.as_json import JsonLayout, printed
from tests.workload.sacct_exports.as_text import Export, Layout
from tests.workload.sacct_exports.nodes import physical, scontrol
from tests.workload.sacct_exports.operator_site import NODES, SITE
from tests.workload.sacct_exports.truth import Known, Truth

from .command import pointsman
from .conftest import Command, Done

COMPARE = ("--cluster", "c.yaml", "--policy", "fifo", "--policy", "easy", "-o", "out")


def gpu_hours(jobs: list[Known]) -> float:
    """A job on a slice takes a whole GPU unless GPUs are shared."""
    return sum(job.gpus * job.duration for job in jobs) / 3600


def import_and_compare(log: str, run: Callable[..., Done]) -> None:
    """The two commands."""
    Path("nodes.txt").write_text(scontrol(NODES))
    imported = run("cluster", "import", "nodes.txt", "-o", "c.yaml")
    assert imported.code == 0, imported.err
    assert f"{len(NODES) - 1} nodes, {physical(NODES).total()} GPUs" in imported.err
    done = run("compare", log, *COMPARE)
    assert done.code == 0, done.err
    assert "bug" not in done.err
    assert {line.split(" ")[0] for line in done.out.splitlines()} >= {"fifo", "easy"}


def check_table(right: Truth) -> None:
    """Whether the table is of all jobs that there were."""
    with Path("out/comparison.csv").open() as file:
        rows = {row["policy"]: row for row in csv.DictReader(file)}
    for policy in ("fifo", "easy"):
        summary = json.loads(Path(f"out/runs/{policy}_s0/summary.json").read_text())
        lost = len(right.jobs) + len(right.perhaps) - summary["jobs"]
        assert 0 <= lost <= len(right.perhaps)
        assert rows[policy]["jobs_counted"] == str(summary["jobs"])
        assert summary["gpu_hours_productive"] in nearly(right)


def nearly(right: Truth) -> list[object]:
    """GPU-hours with and without each job whose row may be lost."""
    sums = [gpu_hours(right.jobs)]
    for job in right.perhaps:
        sums += [one + gpu_hours([job]) for one in sums]
    return [pytest.approx(one, rel=1e-6) for one in sums]


def in_a_process(*args: str) -> Done:
    """With all that a user gets: overheads, figures, a page."""
    done = pointsman(*args)
    return Done(done.returncode, done.stdout, done.stderr)


def test_from_all_fields_of_sacct_and_scontrol_to_a_table_and_a_page(here: Path) -> None:
    layout = Layout(ALL_FIELDS)
    export = Export(SITE, layout)
    Path("jobs.txt").write_bytes(export.data)
    import_and_compare("jobs.txt", in_a_process)
    check_table(truth.of_text(SITE, export, layout))
    assert Path("out/report.html").exists()


def test_from_json_to_the_same_table(command: Command) -> None:
    layout = JsonLayout(indent=1)
    Path("jobs.json").write_bytes(printed(SITE, layout))
    import_and_compare("jobs.json", command)
    check_table(truth.of_json(SITE, layout.version))
