"""The same schedule with the JIT on and off, and whatever servers are called."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import pointsman
from benchmarks.placement.cell import cluster, run, workload

POLICIES = ("tetris-place", "packed-lif", "packed-patience", "scorer")
"""They have all the parts between them."""
CASES = """
import json, sys, tempfile
from pathlib import Path
from benchmarks.placement.cell import cluster, run, workload
with tempfile.TemporaryDirectory() as folder:
    on = cluster(Path(folder), servers=6)
    for policy in sys.argv[1:]:
        done = run(workload("1-8", 0.9, 40, 3, servers=6), on, policy)
        print(json.dumps([done.jobs["start_s"].to_list(), done.jobs["end_s"].to_list()]))
"""


def schedules(**environment: str) -> list[list[list[float]]]:
    """What CASES prints in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", CASES, *POLICIES],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), **environment},
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.slow
def test_the_jit_changes_nothing() -> None:
    compiled = schedules()
    assert len({str(schedule) for schedule in compiled}) == len(POLICIES), "they differ among each other"
    assert compiled == schedules(NUMBA_DISABLE_JIT="1")


def test_names_change_nothing_but_names(tmp_path: Path) -> None:
    plain = Path(cluster(tmp_path, servers=6))
    named = tmp_path / "named.yaml"
    named.write_text(plain.read_text().replace("count: 6", "count: 6\n    names: 'z[6-9],b[1-2]'"))
    assert pointsman.load_cluster(str(named)).spec.node_names() != pointsman.load_cluster(str(plain)).spec.node_names()
    jobs = workload("1-8", 0.9, 60, 3, servers=6)
    for policy in ("lif", "scorer"):
        first, second = (run(jobs, str(on), policy).jobs for on in (plain, named))
        assert first["end_s"].to_list() == second["end_s"].to_list()
        assert first["start_s"].to_list() == second["start_s"].to_list()
