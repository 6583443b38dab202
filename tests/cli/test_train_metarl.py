"""``pointsman train metarl``, which needs no PyTorch: runs under different truths, kept, gone on with and used."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from .conftest import Command, Once
from .test_train_scorer import WITHOUT_TORCH

with_network = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (make learn)")

SMALL = ["--cluster", "4x4/rack=2,gpu=v100", "--set", "practice.jobs=40", "--set", "meta.decisions=16"]
TRAIN = ["train", "metarl", *SMALL, "-o", "mine"]
KEPT = ("performance-model.yaml", "training.json", "metrics.jsonl", "policy.safetensors")


@pytest.fixture
def trained(command: Command, here: Path, once: Once) -> Path:
    """Where there is a training of one run, ``mine``."""

    def fill() -> None:
        assert command(*TRAIN, "--set", "meta.runs=1").code == 0

    once("trained", fill)
    return here


@pytest.fixture
def without_network(command: Command, here: Path, once: Once) -> Path:
    """Where there is one whose network stays as it is."""

    def fill() -> None:
        assert command(*TRAIN, "--set", "meta.runs=1", "--set", "meta.network=none").code == 0

    once("without network", fill)
    return here


@pytest.mark.slow
@with_network
def test_what_runs_taught_is_kept_and_used(command: Command, here: Path) -> None:
    done = command(*TRAIN, "--set", "meta.runs=3")
    assert done.code == 0, done.err
    assert "dl2-philly, 40 jobs at load 0.7, on 4x4/rack=2,gpu=v100" in done.err
    card = yaml.safe_load((here / "mine/policy.yaml").read_text())
    assert (card["agent"], card["seed"], card["steps"]) == ("metarl", 0, 3 * 40)
    rows = [json.loads(line) for line in (here / "mine/metrics.jsonl").read_text().splitlines()]
    assert [row["run"] for row in rows] == [1, 2, 3]
    assert rows[2]["error_before"] < rows[0]["error_before"], "it has come to expect interference"

    log = (
        "trace",
        "generate",
        "--like",
        "dl2-philly",
        "--jobs",
        "300",
        "--cluster",
        "4x4",
        "--load",
        "0.9",
        "-o",
        "log.csv",
    )
    assert command(*log).code == 0
    on = ("--cluster", "4x4/rack=2,gpu=v100", "--node-interference", "table:sigma=0.2,seed=9")
    for policy, name in (("metarl:mine", "taught"), ("metarl:none", "untaught")):
        given = ("--policy", policy, "--set", "metarl.steps=0", "-o", name)
        assert command("simulate", "log.csv", *on, *given).code == 0
    assert (here / "taught/jobs.parquet").read_bytes() != (here / "untaught/jobs.parquet").read_bytes()

    done = command("eval", "mine", "--policy", "packed", "--seeds", "0-1", "--format", "json")
    assert done.code == 0, done.err
    assert {row["policy"] for row in json.loads(done.out)} == {"metarl:mine", "packed"}


@with_network
@pytest.mark.slow
@pytest.mark.parametrize("network", ["reptile", "actor-critic"])
def test_one_that_was_stopped_ends_with_the_same(network: str, command: Command, here: Path) -> None:
    how = ("--set", "meta.runs=2", "--set", f"meta.network={network}")
    assert command(*TRAIN[:-1], "whole", *how).code == 0
    from pointsman.learn.meta import training

    patch = pytest.MonkeyPatch()
    learn = training.MetaTraining._learn

    def stops(self: training.MetaTraining) -> None:
        if len(self.history) == 1:
            raise KeyboardInterrupt
        learn(self)

    patch.setattr(training.MetaTraining, "_learn", stops)
    stopped = command(*TRAIN, *how)
    patch.undo()
    assert stopped.code == 130
    assert "--resume goes on" in stopped.err
    done = command("train", "metarl", "-o", "mine", "--resume")
    assert done.code == 0, done.err
    for name in KEPT:
        assert (here / "mine" / name).read_bytes() == (here / "whole" / name).read_bytes(), name


def test_it_needs_no_pytorch(here: Path) -> None:
    args = [sys.executable, "-c", WITHOUT_TORCH, *TRAIN, "--set", "meta.runs=1", "--set", "meta.network=none"]
    done = subprocess.run(args, cwd=here, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--steps", "10"], "metarl is trained by runs: give --set meta.runs=N, not --steps"),
        (["--set", "meta.method=maml"], "meta.method"),
        (["--set", "meta.run=3"], "did you mean 'runs'?"),
        (["--set", "practice.sigma=3"], "practice.sigma"),
        (["--set", "marl.caution=1"], "metarl has no part 'marl'"),
    ],
)
def test_wrong_settings_are_refused(command: Command, given: list[str], said: str) -> None:
    done = command(*TRAIN, *given)
    assert done.code == 2
    assert said in done.err


@with_network
def test_a_broken_state_is_refused(command: Command, trained: Path) -> None:
    (trained / "mine/training.json").write_text('{"history": [], "expected": "kind: Nothing"}')
    done = command("train", "metarl", "-o", "mine", "--resume")
    assert done.code == 3, done.err
    assert "not the state of a training" in done.err


@pytest.mark.parametrize("history", [[{}], [{"run": 2}], "many", 3, "twice", "words", "nan"])
def test_a_damaged_history_is_refused(history: object, command: Command, without_network: Path) -> None:
    path = without_network / "mine/training.json"
    state = json.loads(path.read_text())
    (row,) = state["history"]
    odd = {"twice": [row, row | {"run": 2}], "words": [row | {"jobs": "many"}], "nan": [row | {"jobs": float("nan")}]}
    path.write_text(json.dumps(state | {"history": odd.get(str(history), history)}))
    done = command("train", "metarl", "-o", "mine", "--resume")
    assert done.code == 3 and "training.json: not the state of a training" in done.err, done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "it is not JSON"),
        ("[" * 100_000, "it is not JSON"),
        ("[]", "it must be an object of names and values, not []"),
        ("null", "it must be an object of names and values, not None"),
        ('{"expected": ""}', "history: field required (train anew"),
        ('{"history": null, "expected": ""}', "history: must be a list, not None"),
        ('{"history": [null], "expected": ""}', "history.0: must be a mapping, not None"),
        ('{"history": [], "expected": 3}', "expected: must be a string, not 3"),
    ],
)
def test_what_is_no_state_is_refused_by_its_file_and_fault(
    text: str, said: str, command: Command, without_network: Path
) -> None:
    (without_network / "mine/training.json").write_text(text)
    done = command("train", "metarl", "-o", "mine", "--resume")
    assert done.code == 3, done.err
    said = f"mine/training.json: not the state of a training: {said}"
    assert said in done.err and "train anew, elsewhere" in done.err, done.err


@with_network
@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        (None, "weights: must be a mapping, not None"),
        ({}, "weights of another network"),
        ("short", "weights of another network"),
        ("words", "must be a number, not 'a'"),
    ],
)
def test_weights_of_something_else_are_refused(damaged: object, said: str, command: Command, trained: Path) -> None:
    path = trained / "mine/training.json"
    state = json.loads(path.read_text())
    name, numbers = next(iter(state["weights"].items()))
    odd = {"short": state["weights"] | {name: numbers[1:]}, "words": state["weights"] | {name: ["a", *numbers[1:]]}}
    path.write_text(json.dumps(state | {"weights": odd.get(str(damaged), damaged)}))
    done = command("train", "metarl", "-o", "mine", "--resume")
    assert (done.code, said in done.err) == (3, True), done.err
