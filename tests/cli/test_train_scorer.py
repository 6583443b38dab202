"""``pointsman train scorer``, which needs no PyTorch: a search that is kept, gone on with and used as a policy."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
import yaml

from .command import pointsman
from .conftest import Command, Once

SMALL = [
    *("--cluster", "4x4/rack=2,gpu=v100", "--set", "practice.jobs=40", "--set", "practice.load=0.9"),
    *("--set", "practice.workloads=1", "--set", "cross-entropy.population=3", "--set", "cross-entropy.elite=2"),
]
TRAIN = ["train", "scorer", *SMALL, "-o", "mine"]
GENERATIONS = "cross-entropy.generations="
WITHOUT_TORCH = """
import sys
for name in ("torch", "safetensors", "gymnasium", "tensorboard"):
    sys.modules[name] = None
from pointsman.cli.run import run
sys.exit(run(sys.argv[1:]))
"""


@pytest.fixture
def trained(command: Command, here: Path, once: Once) -> Path:
    """Where there is a training of one generation, ``mine``."""

    def fill() -> None:
        assert command(*TRAIN, "--set", f"{GENERATIONS}1").code == 0

    once("trained", fill)
    return here


def weights(directory: Path) -> dict[str, float]:
    return json.loads((directory / "policy.json").read_text())


def test_weights_are_found_kept_and_used(command: Command, here: Path) -> None:
    done = command(*TRAIN, "--set", f"{GENERATIONS}2", "--seeds", "2")
    assert done.code == 0, done.err
    assert "philly, 40 jobs at load 0.9, on 4x4/rack=2,gpu=v100" in done.err
    first, second = here / "mine/seed-0", here / "mine/seed-1"
    card = yaml.safe_load((first / "policy.yaml").read_text())
    assert (card["agent"], card["seed"], card["steps"]) == ("scorer", 0, 2 * 3 * 40)
    assert card["cluster"] == {"racks": 2, "nodes": 4, "gpus": 16}
    rows = [json.loads(line) for line in (first / "metrics.jsonl").read_text().splitlines()]
    assert [row["generation"] for row in rows] == [1, 2]
    assert weights(first) != weights(second)

    made = command(
        "trace", "generate", "--like", "philly", "--jobs", "60", "--cluster", "4x4", "--seed", "7", "-o", "log.csv"
    )
    assert made.code == 0, made.err
    cluster = ("--cluster", "4x4/rack=2,gpu=v100")
    assert command("simulate", "log.csv", *cluster, "--policy", "scorer:mine/seed-0", "-o", "run").code == 0
    given = [arg for name, value in weights(first).items() for arg in ("--set", f"scorer.{name}={value}")]
    assert command("simulate", "log.csv", *cluster, "--policy", "scorer", *given, "-o", "said").code == 0
    assert (here / "run/jobs.parquet").read_bytes() == (here / "said/jobs.parquet").read_bytes()

    done = command("eval", "mine", "--policy", "packed", "--seeds", "0-1", "--format", "json")
    assert done.code == 0, done.err
    found = {row["policy"]: row for row in json.loads(done.out)}
    assert (found["scorer:mine"]["trainings"], found["packed"]["jobs_ended"]) == (2, 40)


def test_one_that_was_stopped_ends_with_the_same_weights(command: Command, here: Path) -> None:
    assert command(*TRAIN[:-1], "whole", "--set", f"{GENERATIONS}3").code == 0
    from pointsman.learn import scorer_checkpoint

    patch, calls = pytest.MonkeyPatch(), []
    save = scorer_checkpoint.ScorerTraining._save

    def stops(self: scorer_checkpoint.ScorerTraining) -> None:
        save(self)
        calls.append(len(self.history))
        if calls == [0, 1]:
            raise KeyboardInterrupt

    patch.setattr(scorer_checkpoint.ScorerTraining, "_save", stops)
    stopped = command(*TRAIN, "--set", f"{GENERATIONS}3")
    patch.undo()
    assert (stopped.code, calls) == (130, [0, 1])
    assert "--resume goes on" in stopped.err
    done = command("train", "scorer", "-o", "mine", "--resume")
    assert done.code == 0, done.err
    for name in ("policy.json", "training.json", "metrics.jsonl"):
        assert (here / "mine" / name).read_bytes() == (here / "whole" / name).read_bytes(), name


def test_what_does_not_go_with_it_is_refused(command: Command, here: Path) -> None:
    for more, said in (
        (["--steps", "5"], "give --set cross-entropy.generations=N, not --steps"),
        (["--device", "cpu"], "scorer is no network"),
        (["--set", "ppo.clip=1"], "scorer has no part 'ppo'"),
        (["--set", "cross-entropy.elite=9"], "--set cross-entropy.elite is given twice"),
        (["--set", "practice.contention=fair"], "contention"),
    ):
        done = command(*TRAIN, *more)
        assert done.code == 2 and said in done.err, (more, done.err)
    wide = [word.replace("elite=2", "elite=9") for word in TRAIN]
    assert "cross-entropy.elite: must be at most the population, 3, not 9" in command(*wide).err
    assert not (here / "mine").exists()
    assert command("train", "topdrl", "-o", "mine").code == 2


def test_the_dry_run_shows_what_can_be_set(command: Command, here: Path) -> None:
    done = command(*TRAIN, "--dry-run")
    assert done.code == 0 and not (here / "mine").exists()
    shown = yaml.safe_load(done.out)
    assert shown["cross-entropy"]["population"] == 3 and shown["practice"]["contention"] == "duty-cycle"


def test_a_checkpoint_is_checked_before_it_is_used(command: Command, trained: Path) -> None:
    given = ("simulate", "jobs.csv", "--cluster", "2x4", "-o", "run", "--policy")
    (trained / "jobs.csv").write_text("submit_s,gpus,duration_s\n0,1,10\n")
    assert "there is no such directory" in command(*given, "scorer:none").err
    good = weights(trained / "mine")
    wrong = [good | odd for odd in ({"patience": -1}, {"harm": True}, {"harm": float("nan")}, {"more": 1.0})]
    for broken in ("{", "[" * 100_000, "[1]", '{"harm": 1}', *map(json.dumps, wrong)):
        (trained / "mine/policy.json").write_text(broken)
        done = command(*given, "scorer:mine")
        assert done.code == 3 and "policy.json: not the weights of scorer" in done.err, done.err
    (trained / "mine/policy.json").write_text(json.dumps(good | {"patience": -1}))
    assert "patience = -1: must be greater than or equal to 0" in command(*given, "scorer:mine").err
    (trained / "mine/policy.json").unlink()
    os.mkfifo(trained / "mine/policy.json")
    assert command(*given, "scorer:mine").code == 3


@pytest.mark.parametrize("mean", [[1.0, 2.0], ["a"] * 7, [float("nan")] * 7, [1e308] * 7, None])
def test_a_damaged_state_is_no_training_to_go_on_with(mean: object, command: Command, trained: Path) -> None:
    path = trained / "mine/training.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"mean": mean}))
    done = command("train", "scorer", "-o", "mine", "--resume")
    assert done.code == 3 and "training.json: not the state of a training" in done.err, done.err


@pytest.mark.slow
def test_pytorch_is_not_needed(here: Path) -> None:
    import subprocess
    import sys

    for args in ([*TRAIN, "--set", f"{GENERATIONS}1"], ["eval", "mine", "--seeds", "0"]):
        done = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *args], cwd=here, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    assert pointsman("eval", "mine", "--seeds", "0", cwd=here).returncode == 0


@pytest.mark.parametrize(
    ("damaged", "said"),
    [
        ([], "it must be an object of names and values, not []"),
        (None, "it must be an object of names and values, not None"),
        ({}, "mean: field required (train anew"),
        ({"history": None}, "history: must be a list, not None"),
        ({"history": ["a"]}, "history.0: must be a number, not 'a'"),
        ({"history": [1.0] * 2}, "it has 2 generations of 1"),
        ({"random": None}, "random: "),
        ({"random": {"bit_generator": "MT19937"}}, "random.bit_generator: must be 'PCG64'"),
        ({"random": -1}, "random.state.state: must be greater than or equal to 0, not -1"),
    ],
)
def test_what_is_no_state_is_refused_by_its_file_and_fault(
    damaged: Any, said: str, command: Command, trained: Path
) -> None:
    path = trained / "mine/training.json"
    state = json.loads(path.read_text())
    if damaged == {"random": -1}:
        damaged = {"random": state["random"] | {"state": {"state": -1, "inc": 1}}}
    path.write_text(json.dumps(state | damaged if damaged else damaged))
    done = command("train", "scorer", "-o", "mine", "--resume")
    assert done.code == 3, done.err
    said = f"mine/training.json: not the state of a training: {said}"
    assert said in done.err and "train anew, elsewhere" in done.err, done.err
