"""``pointsman measure`` on the cores of this machine, and what reads its files."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Command

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes")

JOBS = Path(__file__).parents[1] / "measure" / "own_jobs.py"
CPU = ("--device", "cpu", "--rounds", "2", "--round-s", "0.05", "--spread-limit", "1")
"""Short, and whatever else runs on the machine."""
ABOUT = ("device", "driver", "versions", "mode", "measured_at")
CLUSTER = """
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: this-machine}
spec:
  node_types: {ours: {gpus: 2, gpu_type: cpu, interconnect: {kind: other, bandwidth: 10 GB/s}}}
  gpu_types: {cpu: {memory: 4GiB}}
  nodes: [{type: ours}]
"""


def own(*functions: str) -> list[str]:
    return [f"{JOBS}:{function}" for function in functions]


def rows(path: str) -> list[dict[str, str]]:
    return list(csv.DictReader(Path(path).read_text().splitlines()))


def test_step_times_become_a_profile(command: Command) -> None:
    done = command("measure", "step", *own("quick"), "--batch", "4,8", "--accumulate", "2", *CPU, "-o", "steps.csv")
    assert done.code == 0, done.err
    assert "steps.csv: 4 measured, 0 kept, 0 failed; use it with 'pointsman profile fit steps.csv -o" in done.err
    found = rows("steps.csv")
    assert [(row["batch_per_gpu"], row["parts"]) for row in found] == [("4", "1"), ("8", "1"), ("4", "2"), ("8", "2")]
    assert all(float(row["step_s"]) > 1e-4 * (int(row["batch_per_gpu"]) + int(row["parts"])) for row in found)
    assert all(row[column] for row in found for column in ABOUT)
    assert found[0]["mode"] == "cpu, 1 core"
    for row in found:
        assert float(row["samples_per_s"]) == pytest.approx(int(row["batch_per_gpu"]) / float(row["step_s"]), rel=1e-4)
    fitted = command("profile", "fit", "steps.csv", "-o", "ours.yaml", "--format", "json")
    assert fitted.code == 0, fitted.err
    (model,) = json.loads(fitted.out)["models"]
    assert (model["model"], model["gpu_type"]) == ("quick", "cpu")
    assert model["beta_s_per_sample"] > 0


def test_pairs_and_nodes_and_profiles_are_simulated(command: Command, here: Path) -> None:
    models = (*own("sleeps", "dozes"), "--batch", "3")
    assert command("measure", "step", *models, *CPU, "-o", "steps.csv").code == 0
    assert command("measure", "pairs", *models, *CPU, "-o", "pairs.csv").code == 0
    pairs = [(row["model_a"], row["model_b"]) for row in rows("pairs.csv")]
    assert pairs == [("sleeps", "sleeps"), ("sleeps", "dozes"), ("dozes", "dozes")]
    assert command("profile", "fit", "steps.csv", "-o", "ours.yaml").code == 0
    assert command("profile", "pairs", "pairs.csv", "-o", "sharing.yaml").code == 0
    more: tuple[str, ...] = ()
    if len(os.sched_getaffinity(0)) > 1:
        assert command("measure", "node", *models, *CPU, "-o", "nodes.csv").code == 0
        learnt = command("profile", "interference", "nodes.csv", "--profiles", "ours.yaml", "-o", "nodes.yaml")
        assert learnt.code == 0, learnt.err
        more = ("--node-interference", "nodes.yaml")
    (here / "cluster.yaml").write_text(CLUSTER)
    lines = ["submit_s,gpus,duration_s,model", *(f"0,1,100,{model}" for model in ("sleeps", "dozes") * 2)]
    (here / "jobs.csv").write_text("\n".join(lines) + "\n")
    done = command(
        "simulate", "jobs.csv", "--cluster", "cluster.yaml", "--policy", "sjf-bsbf", "--profiles", "ours.yaml",
        "--interference", "sharing.yaml", *more,
    )  # fmt: skip
    assert done.code == 0, done.err


def test_the_same_command_goes_on_where_it_stopped(command: Command) -> None:
    first = command("measure", "pairs", *own("sleeps", "dozes"), "--batch", "3", *CPU, "--minutes", "0", "-o", "p.csv")
    assert first.code == 1
    assert "nothing was measured: there was no time for any" in first.err
    assert "3 measurements left out for lack of time: sleeps beside sleeps; sleeps beside dozes; " in first.err
    whole = command("measure", "pairs", *own("sleeps", "dozes"), "--batch", "3", *CPU, "-o", "p.csv")
    assert "p.csv: 3 measured, 0 kept, 0 failed" in whole.err
    text = Path("p.csv").read_text()
    again = command(
        "measure", "pairs", *own("sleeps", "dozes"), "--batch", "3", *CPU, "-o", "p.csv", "--format", "json"
    )
    assert "p.csv: 0 measured, 3 kept, 0 failed" in again.err
    assert Path("p.csv").read_text() == text
    assert [row["model_b"] for row in json.loads(again.out)] == ["sleeps", "dozes", "dozes"]
    bf16 = command("measure", "pairs", *own("quick"), "--batch", "1", *CPU, "-o", "p.csv", "--precision", "bf16")
    assert bf16.code == 2
    assert "precision is 'fp32', and now it is 'bf16'" in bf16.err


def test_failures_are_rows_that_readers_pass_over(command: Command) -> None:
    broken = ("crashes", "lacks_memory", "is_killed", "leaves", "hangs")
    done = command("measure", "step", *own(*broken, "quick"), "--batch", "1", *CPU, "--deadline-s", "4", "-o", "s.csv")
    assert done.code == 0, done.err
    assert "s.csv: 1 measured, 0 kept, 5 failed" in done.err
    reasons = {row["model"]: row["reason"] for row in rows("s.csv")}
    assert [reasons[name].partition(":")[0] for name in broken] == [
        "crash", "out of memory", "killed", "crash", "hang",
    ]  # fmt: skip
    assert reasons["quick"] == ""
    assert "out of memory" in done.out
    fitted = command("profile", "fit", "s.csv")
    assert fitted.code == 0, fitted.err
    assert "crashes" not in fitted.out


def test_both_jobs_of_one_model_have_one_time_alone(command: Command) -> None:
    limits = ("--device", "cpu", "--rounds", "1", "--round-s", "0.05", "--spread-limit", "0.3")
    done = command("measure", "pairs", *own("rests"), "--batch", "1", *limits, "-o", "p.csv")
    assert done.code == 0, done.err
    (row,) = rows("p.csv")
    assert row["alone_s_a"] == row["alone_s_b"]


def test_a_pair_that_does_not_run_says_which_job(command: Command) -> None:
    done = command("measure", "pairs", *own("dozes", "wants_all"), "--batch", "1", *CPU, "-o", "p.csv")
    assert done.code == 0, done.err
    reasons = [row["reason"] for row in rows("p.csv")]
    assert reasons == ["", "", "job b: out of memory: MemoryError: no room for both"]
    assert command("profile", "pairs", "p.csv").code == 0


def test_a_job_that_does_not_run_alone_is_named_too(command: Command) -> None:
    done = command("measure", "pairs", *own("dozes", "crashes"), "--batch", "1", *CPU, "-o", "p.csv")
    assert done.code == 0, done.err
    crash = "alone: crash: ValueError: the loss"
    assert [row["reason"] for row in rows("p.csv")] == ["", f"job b: {crash}", f"job a: {crash}"]


def test_if_all_fail_the_command_fails(command: Command) -> None:
    done = command("measure", "step", *own("crashes"), "--batch", "1", *CPU, "-o", "s.csv")
    assert done.code == 1
    assert "nothing was measured: crash: ValueError: the loss" in done.err
    fitted = command("profile", "fit", "s.csv")
    assert fitted.code == 3
    assert "s.csv:2: no measurements: every row has a reason why it failed (measure again" in fitted.err
    again = command("measure", "step", *own("crashes"), "--batch", "1", *CPU, "-o", "s.csv")
    assert (again.code, len(rows("s.csv"))) == (1, 1)
    assert "1 row failed in an earlier run; --retry-failed measures again what has failed" in again.err
    retried = command("measure", "step", *own("crashes"), "--batch", "1", *CPU, "-o", "s.csv", "--retry-failed")
    assert (retried.code, len(rows("s.csv")), "earlier run" in retried.err) == (1, 2, False)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["step", "resnet51", "-o", "x.csv"], "no model 'resnet51' to measure"),
        (["step", *own("quick"), "--device", "cpu", "-o", "x.csv"], "quick has no usual batch"),
        (["pairs", *own("quick"), "--batch", "1,2", "--device", "cpu", "-o", "x.csv"], "quick: several batches, 1, 2"),
        (["step", *own("nothing"), "--batch", "1", "--device", "cpu", "-o", "x.csv"], "has no function 'nothing'"),
        (["step", "tiny_mlp", "--device", "cpu", "-o", "no/x.csv"], "there is no directory no"),
        (["node", "tiny_mlp", "--device", "cuda:0", "-o", "x.csv"], "one job fits, and a node needs two"),
        (["overheads", *own("quick"), "--batch", "1", "--device", "cpu", "-o", "x.csv"], "x.csv: name a YAML file"),
        (["overheads", "tiny_mlp", "-o", "x.yaml", "--checkpoint-dir", "no"], "--checkpoint-dir no: there is no such"),
        (["step", "tiny_mlp", "--device", "cuda:0,cuda:1", "-o", "x.csv"], "several devices are for 'measure node'"),
    ],
)
def test_what_cannot_be_measured_is_said_before_anything_is(command: Command, words: list[str], message: str) -> None:
    done = command("measure", *words)
    assert (done.code, message in done.err) == (2, True), done.err
    assert not Path("x.csv").exists()


def test_a_gpu_that_is_not_there_is_said(command: Command) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    done = command("measure", "step", "tiny_mlp", "--device", "cuda:77", "-o", "x.csv")
    assert (done.code, "--device cuda:77: PyTorch" in done.err, Path("x.csv").exists()) == (2, True, False)


def test_models_are_listed(command: Command) -> None:
    found = json.loads(command("measure", "models", "--format", "json").out)
    assert {row["model"]: row["parameters"] for row in found}["resnet50"] == 25_557_032


def test_help_of_a_command_imports_no_torch(command: Command) -> None:
    assert command("measure", "step", "--help").code == 0
    code = "import sys; from pointsman.cli.run import run; run(sys.argv[1:]); print('torch' in sys.modules)"
    words = ["measure", "step", *own("quick"), "--batch", "1", *CPU, "-o", "x.csv"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


def test_overheads_become_an_overheads_file(command: Command, jobs: str) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    done = command(
        "measure", "overheads", *own("saves"), "--batch", "1", "--device", "cpu", "--rounds", "1", "-o", "o.yaml"
    )
    assert done.code == 0, done.err
    table = {row["what"]: row for row in rows("o.csv")}
    assert list(table) == ["process", "imports", "device", "model", "first_step", "start", "write", "read", "stop"]
    parts = [float(table[what]["seconds"]) for what in list(table)[:5]]
    assert sum(parts) == pytest.approx(float(table["start"]["seconds"]), rel=1e-3)
    assert int(table["write"]["bytes"]) > 100_000
    assert all(row[column] for row in table.values() for column in ABOUT)
    assert not list(Path().glob("checkpoint-*"))
    plan = command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "--overheads", "o.yaml", "-o", "run")
    assert plan.code == 0, plan.err
    stated = json.loads(Path("run/manifest.json").read_text())
    assert float(table["stop"]["seconds"]) == pytest.approx(find_overheads(stated)["stop_s"], rel=1e-3)
    again = command("measure", "overheads", *own("saves"), "--batch", "1", "--device", "cpu", "-o", "o.yaml")
    assert (again.code, "o.yaml: exists already" in again.err) == (2, True)


def find_overheads(stated: object) -> dict[str, float]:
    """Wherever a manifest has them."""
    if isinstance(stated, dict):
        if "stop_s" in stated:
            return stated
        return next((found for value in stated.values() if (found := find_overheads(value))), {})
    return {}


def test_a_job_without_a_state_has_no_overheads(command: Command) -> None:
    done = command("measure", "overheads", *own("quick"), "--batch", "1", "--device", "cpu", "-o", "o.yaml")
    assert (done.code, "has no state_dict()" in done.err, Path("o.yaml").exists()) == (2, True, False)


def test_tiny_models_are_measured(command: Command) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    done = command("measure", "step", "tiny-mlp", "tiny-transformer", "--batch", "2,4", *CPU, "-o", "s.csv")
    assert done.code == 0, done.err
    assert [(row["model"], row["gradient_bytes"]) for row in rows("s.csv")] == [
        ("tiny_mlp", "1597480"), ("tiny_transformer", "451472"),
    ] * 2  # fmt: skip
    assert command("profile", "fit", "s.csv", "-o", "tiny.yaml").code == 0
    shown = command("profile", "show", "tiny_mlp", "--profiles", "tiny.yaml")
    assert "source: 'measured: and ours: 1.07e9 B of CUDA context'" in shown.out
