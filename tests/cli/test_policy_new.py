import json
import subprocess
import sys
from pathlib import Path

from .conftest import Command


def test_a_new_policy_runs_and_passes_its_own_test(here: Path, command: Command) -> None:
    done = command("policy", "new", "my-first")
    assert done.code == 0, done.err
    assert done.out.split() == ["my_first.py", "test_my_first.py"]
    tests = subprocess.run(
        [sys.executable, "-W", "error", "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=here,
        capture_output=True,
        text=True,
    )
    assert tests.returncode == 0, tests.stdout
    assert "2 passed" in tests.stdout
    shown = command("policy", "show", "my_first.py:MyFirst")
    assert "durations: none" in shown.out, shown.err


def test_a_new_policy_passes_over_a_queue_at_its_limit(here: Path, command: Command) -> None:
    assert command("policy", "new", "my-first").code == 0
    (here / "limited.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: limited}, spec: {node_types: "
        "{t: {gpus: 4, gpu_type: v100}}, nodes: [{type: t}], queues: {a: {gpu_limit: 1}}}}"
    )
    (here / "jobs.csv").write_text("queue,submit_s,gpus,duration_s\na,0,1,9\na,0,1,9\nb,0,2,9\n")
    options = ("--cluster", "limited.yaml", "--policy", "my_first.py:MyFirst", "--format", "json")
    done = command("simulate", "jobs.csv", *options)
    assert json.loads(done.out)["wait_mean_s"] == 3.0, done.err


def test_nothing_is_overwritten_unless_forced(here: Path, command: Command) -> None:
    mine = here / "my_first.py"
    mine.write_text("mine")
    done = command("policy", "new", "my-first", "-o", str(here))
    assert (done.code, mine.read_text()) == (2, "mine")
    assert "exists already" in done.err
    assert command("policy", "new", "my-first", "-o", str(here), "--force").code == 0
    assert mine.read_text() != "mine"


def test_a_dry_run_writes_nothing(here: Path, command: Command) -> None:
    done = command("policy", "new", "my-first", "--dry-run")
    assert done.out.split() == ["my_first.py", "test_my_first.py"]
    assert list(here.iterdir()) == []


def test_names_that_will_not_do(command: Command) -> None:
    for name, sentence in (("My Policy", "is no name for a policy"), ("fifo", "there is a policy 'fifo' already")):
        done = command("policy", "new", name, "--dry-run")
        assert (done.code, sentence in done.err) == (2, True)
