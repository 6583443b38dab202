"""``pointsman measure`` on the cores of this machine, and what reads its files."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import Command
from .measuring import ABOUT, CPU, own, rows

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux pins processes")

CLUSTER = """
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: this-machine}
spec:
  node_types: {ours: {gpus: 2, gpu_type: cpu, interconnect: {kind: other, bandwidth: 10 GB/s}}}
  gpu_types: {cpu: {memory: 4GiB}}
  nodes: [{type: ours}]
"""


def test_step_times_become_a_profile(command: Command) -> None:
    done = command("measure", "step", *own("quick"), "--batch", "4,8", "--accumulate", "2", *CPU, "-o", "steps.csv")
    assert done.code == 0, done.err
    assert "steps.csv: rows: 4 measured, 0 kept, 0 failed; use it with 'pointsman profile fit steps.csv -o" in done.err
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
        measured = command("measure", "node", *models, *CPU, "-o", "nodes.csv")
        hint = "use it with 'pointsman profile interference nodes.csv -o nodes.yaml --profiles profiles.yaml'"
        assert (measured.code, hint in measured.err) == (0, True), measured.err
        assert "not in the catalogue: sleeps, dozes; 'measure step' and" in measured.err
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


def test_failures_are_rows_that_readers_pass_over(command: Command) -> None:
    broken = ("crashes", "lacks_memory", "is_killed", "leaves", "hangs")
    done = command("measure", "step", *own(*broken, "quick"), "--batch", "1", *CPU, "--deadline-s", "4", "-o", "s.csv")
    assert done.code == 0, done.err
    assert "s.csv: rows: 1 measured, 0 kept, 5 failed" in done.err
    reasons = {row["model"]: row["reason"] for row in rows("s.csv")}
    assert [reasons[name].partition(":")[0] for name in broken] == [
        "crash", "out of memory", "killed", "crash", "hang",
    ]  # fmt: skip
    assert reasons["quick"] == ""
    assert "out of memory" in done.out
    fitted = command("profile", "fit", "s.csv")
    assert fitted.code == 0, fitted.err
    assert "crashes" not in fitted.out


def test_a_pair_that_does_not_run_says_which_job(command: Command) -> None:
    done = command("measure", "pairs", *own("dozes", "wants_all"), "--batch", "1", *CPU, "-o", "p.csv")
    assert done.code == 0, done.err
    reasons = [row["reason"].partition(" (")[0] for row in rows("p.csv")]
    assert reasons == ["", "", "job b: out of memory: MemoryError: no room for both"]
    assert command("profile", "pairs", "p.csv").code == 0


def test_a_job_that_does_not_run_alone_is_named_too(command: Command) -> None:
    done = command("measure", "pairs", *own("dozes", "crashes"), "--batch", "1", *CPU, "-o", "p.csv")
    assert done.code == 0, done.err
    crash = "alone: crash: ValueError: the loss"
    assert [row["reason"].partition(" (")[0] for row in rows("p.csv")] == ["", f"job b: {crash}", f"job a: {crash}"]


def test_if_all_fail_the_command_fails(command: Command) -> None:
    done = command("measure", "step", *own("crashes"), "--batch", "1", *CPU, "-o", "s.csv")
    assert done.code == 1
    assert "nothing was measured: crash: ValueError: the loss" in done.err
    fitted = command("profile", "fit", "s.csv")
    assert fitted.code == 3
    assert "s.csv:2: no measurements: every row has a reason why it failed (measure again" in fitted.err
    again = command("measure", "step", *own("crashes"), "--batch", "1", *CPU, "-o", "s.csv")
    assert (again.code, len(rows("s.csv"))) == (1, 1)
    assert "1 row failed in an earlier run; --again failed measures again what has failed" in again.err
    retried = command("measure", "step", *own("crashes"), "--batch", "1", *CPU, "-o", "s.csv", "--again", "failed")
    assert (retried.code, len(rows("s.csv")), "earlier run" in retried.err) == (1, 1, False)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        ("nothing", "own_jobs.py has no function 'nothing'"),
        ("crashes_at_once", "own_jobs.py:crashes_at_once cannot be trained: crash: RuntimeError: no data"),
        ("leaves_at_once", "own_jobs.py:leaves_at_once cannot be trained: crash: exit code 7: no data"),
        ("returns_nothing", "own_jobs.py:returns_nothing returned NoneType; return a step"),
        ("dozes", "own_jobs.py:dozes has no parameter 'parts'"),
    ],
)
def test_a_wrong_function_is_said_before_any_is_measured(command: Command, function: str, message: str) -> None:
    words = ("--batch", "4", "--accumulate", "2", *CPU, "-o", "x.csv")
    done = command("measure", "step", *own("quick", function), *words)
    assert (done.code, message in done.err, Path("x.csv").exists()) == (2, True, False), done.err


def test_rows_are_replaced_once_there_are_others(command: Command) -> None:
    words = ("--batch", "1", *CPU, "-o", "x.csv")
    assert command("measure", "step", *own("quick"), *words).code == 0
    before = Path("x.csv").read_text()
    assert command("measure", "step", *own("nothing"), *words, "--force").code == 2
    assert command("measure", "step", *own("quick"), *words, "--force", "--minutes", "0").code == 1
    assert Path("x.csv").read_text() == before
    assert command("measure", "step", *own("dozes"), *words, "--force").code == 0
    assert [row["model"] for row in rows("x.csv")] == ["dozes"]


def test_a_function_that_is_wrong_at_another_batch_is_a_row(command: Command) -> None:
    done = command("measure", "step", *own("only_small"), "--batch", "1,2", *CPU, "-o", "s.csv")
    assert done.code == 0, done.err
    assert [row["reason"].partition("only_small ")[2] for row in rows("s.csv")] == [
        "", "returned NoneType; return a step (a function) or a Recipe",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["step", "resnet51", "-o", "x.csv"], "no model 'resnet51' to measure"),
        (["step", *own("quick"), "--device", "cpu", "-o", "x.csv"], "quick has no usual batch"),
        (["step", *own("quik"), "--device", "cpu", "-o", "x.csv"], "no function 'quik' (did you mean 'quick'?"),
        (["pairs", *own("quick"), "--batch", "1,2", "--device", "cpu", "-o", "x.csv"], "quick: several batches, 1, 2"),
        (["step", *own("nothing"), "--batch", "1", "--device", "cpu", "-o", "x.csv"], "has no function 'nothing'"),
        (["step", "tiny_mlp", "--device", "cpu", "-o", "no/x.csv"], "there is no directory no"),
        (["step", "tiny_mlp", "--batch", "2,1", "--accumulate", "2,4", "-o", "x.csv"], "largest batch has 2 sample"),
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
    assert "sees 0 GPUs" not in done.err or "; --device cpu measures on cores of this machine" in done.err


def test_models_are_listed(command: Command) -> None:
    found = json.loads(command("measure", "models", "--format", "json").out)
    assert {row["model"]: row["parameters"] for row in found}["resnet50"] == 25_557_032


def test_help_of_a_command_imports_no_torch(command: Command) -> None:
    assert command("measure", "step", "--help").code == 0
    code = "import sys; from pointsman.cli.run import run; run(sys.argv[1:]); print('torch' in sys.modules)"
    words = ["measure", "step", *own("quick"), "--batch", "1", *CPU, "-o", "x.csv"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")


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
