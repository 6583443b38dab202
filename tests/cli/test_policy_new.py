import json
import subprocess
import sys
from pathlib import Path

from .command import pointsman


def test_a_new_policy_runs_and_passes_its_own_test(tmp_path: Path) -> None:
    done = pointsman("policy", "new", "my-first", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["my_first.py", "test_my_first.py"]
    tests = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert tests.returncode == 0, tests.stdout
    assert "2 passed" in tests.stdout
    shown = pointsman("policy", "show", "my_first.py:MyFirst", cwd=tmp_path)
    assert "needs: none" in shown.stdout, shown.stderr


def test_a_new_policy_passes_over_a_queue_at_its_limit(tmp_path: Path) -> None:
    assert pointsman("policy", "new", "my-first", cwd=tmp_path).returncode == 0
    (tmp_path / "limited.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: limited}, spec: {node_types: "
        "{t: {gpus: 4, gpu_type: v100}}, nodes: [{type: t}], queues: {a: {gpu_limit: 1}}}}"
    )
    (tmp_path / "jobs.csv").write_text("queue,submit_s,gpus,duration_s\na,0,1,9\na,0,1,9\nb,0,2,9\n")
    options = ("--cluster", "limited.yaml", "--policy", "my_first.py:MyFirst", "--format", "json")
    done = pointsman("simulate", "jobs.csv", *options, cwd=tmp_path)
    assert json.loads(done.stdout)["wait_mean_s"] == 3.0, done.stderr


def test_nothing_is_overwritten_unless_forced(tmp_path: Path) -> None:
    mine = tmp_path / "my_first.py"
    mine.write_text("mine")
    done = pointsman("policy", "new", "my-first", "-o", str(tmp_path))
    assert (done.returncode, mine.read_text()) == (2, "mine")
    assert "exists already" in done.stderr
    assert pointsman("policy", "new", "my-first", "-o", str(tmp_path), "--force").returncode == 0
    assert mine.read_text() != "mine"


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    done = pointsman("policy", "new", "my-first", "--dry-run", cwd=tmp_path)
    assert done.stdout.split() == ["my_first.py", "test_my_first.py"]
    assert list(tmp_path.iterdir()) == []


def test_names_that_will_not_do() -> None:
    for name, sentence in (("My Policy", "is no name for a policy"), ("fifo", "there is a policy 'fifo' already")):
        done = pointsman("policy", "new", name, "--dry-run")
        assert (done.returncode, sentence in done.stderr) == (2, True)
