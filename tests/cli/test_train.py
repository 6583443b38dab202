"""``pointsman train`` and ``eval`` as people use them: they save when they are stopped, and go on."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import yaml

from pointsman.cli.run import run
from pointsman.learn.policies.learned import SHIPPED

from .conftest import Command

for package in ("torch", "gymnasium", "safetensors", "tensorboard"):
    pytest.importorskip(package, reason=f"{package} is not installed (make learn)")

SMALL = [
    *("--cluster", "2x4", "--set", "practice.jobs=30", "--set", "practice.episodes=4"),
    *(
        "--set",
        "practice.horizon_s=2h",
        "--set",
        "ppo.num_envs=4",
        "--set",
        "ppo.steps=32",
        "--set",
        "ppo.minibatch=64",
    ),
]
STEPS = ["--steps", "300"]
LOG = ["--workload", "log.csv", "--set", "practice.jobs=12"]


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix == ".safetensors"}


def test_train_and_eval(command: Command, here: Path) -> None:
    done = command("train", "topdrl", *SMALL, *STEPS, "--seeds", "2", "-o", "out/agent")
    assert done.code == 0, done.err
    assert "topdrl, 30 jobs all there from the start, on 2x4, for 2 h" in done.err and "100 %" in done.err
    for seed in (0, 1):
        card = yaml.safe_load((here / f"out/agent/seed-{seed}/policy.yaml").read_text())
        assert (card["seed"], card["steps"], card["cluster"]) == (seed, 384, {"racks": 1, "nodes": 2, "gpus": 8})
        assert card["environment"]["jobs"] == 30 and card["observation"]["name"] == "topdrl"
        rows = [json.loads(line) for line in (here / f"out/agent/seed-{seed}/metrics.jsonl").read_text().splitlines()]
        assert [row["steps"] for row in rows] == [128, 256, 384]
    assert files(here / "out/agent/seed-0") != files(here / "out/agent/seed-1")

    done = command("eval", "out/agent", "--policy", "fifo", "--baselines", "--seeds", "0-2", "--format", "json")
    assert done.code == 0, done.err
    found = {row["policy"]: row for row in json.loads(done.out)}
    learned = found["topdrl:out/agent"]
    assert (learned["trainings"], learned["seeds"], found["fifo"]["trainings"]) == (2, 3, 1)
    assert learned["throughput_low"] <= learned["throughput"] <= learned["throughput_high"]
    assert 0 < learned["proximity"] <= 1 and learned["makespan_s"] is None  # cut after 2 h
    assert len(found) == 9

    done = command("eval", "out/agent/seed-0", "--seeds", "0", "--set", "practice.horizon_s=none")
    assert done.code == 0, done.err
    head, row = done.out.splitlines()[:2]
    assert head.split()[:3] == ["policy", "runs", "throughput"] and row.split()[:2] == ["topdrl:out/agent/seed-0", "1"]
    assert "until all are done; held-out seeds: 0." in done.out


@pytest.mark.slow
def test_the_same_command_gives_the_same_bytes_also_in_a_process_of_its_own(command: Command, here: Path) -> None:
    assert command("train", "deeprm", *_deeprm(), "-o", "a").code == 0
    assert command("train", "deeprm", *_deeprm(), "--seeds", "2", "--workers", "2", "-o", "b").code == 0
    assert files(here / "a") == files(here / "b/seed-0") != files(here / "b/seed-1")
    done = command("eval", "b", "--seeds", "0-1", "--workers", "2", "--format", "csv")
    assert done.code == 0 and done.out.splitlines()[1].startswith("2x4,topdrl,deeprm:b,2,2,"), done.err


def _deeprm() -> list[str]:
    sizes = ["--set", "reinforce.rollouts=4", "--set", "reinforce.sequences=1", "--set", "practice.horizon_s=1h"]
    return ["--cluster", "2x4", "--set", "practice.jobs=20", "--set", "practice.episodes=4", *sizes, "--steps", "60"]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is a signal")
def test_interrupted_it_saves_and_goes_on_as_if_nothing_had_been(command: Command, here: Path) -> None:
    whole = command("train", "topdrl", *SMALL, "--steps", "640", "-o", "whole")
    assert whole.code == 0, whole.err
    arguments = ["train", "topdrl", *SMALL, "--steps", "640", "-o", "parts"]
    started = subprocess.Popen(
        [sys.executable, "-m", "pointsman", *arguments], cwd=here, stderr=subprocess.PIPE, text=True
    )
    metrics = here / "parts" / "metrics.jsonl"
    while not metrics.exists() or len(metrics.read_text().splitlines()) < 2:
        assert started.poll() is None, started.communicate()
        time.sleep(0.01)
    os.kill(started.pid, signal.SIGINT)
    said = started.communicate(timeout=250)[1]
    assert started.returncode == 130 and said.endswith("pointsman: interrupted\n") and "Traceback" not in said
    stopped_at = yaml.safe_load((here / "parts/policy.yaml").read_text())["steps"]
    assert 2 * 128 <= stopped_at < 640

    refused = command(*arguments)
    assert refused.code == 2 and "go on with it by --resume" in refused.err
    other = command(*arguments, "--resume", "--set", "ppo.clip=0.1")
    assert other.code == 3 and "algorithm was config.clip = 0.2 when this training began" in other.err
    resumed = command(*arguments, "--resume")
    assert resumed.code == 0, resumed.err
    assert files(here / "parts") == files(here / "whole")
    kept = [line for line in metrics.read_text().splitlines()]
    assert [json.loads(line)["updates"] for line in kept] == list(range(1, 6))


def test_what_is_asked_for_wrongly(command: Command, here: Path) -> None:
    for given, said in [
        (["topdrrl"], "there is no agent 'topdrrl' (did you mean 'topdrl'?"),
        (["topdrl", "--set", "ppo.clipp=1"], "ppo has no parameter 'clipp' (did you mean 'clip'?"),
        (["topdrl", "--set", "ppo.clip=2"], "ppo.clip: must be less than 1, not 2"),
        (["topdrl", "--set", "reinforce.gamma=1"], "topdrl has no part 'reinforce'"),
        (["topdrl", "--set", "topdrl.queue=maybe"], "topdrl.queue: "),
        (["topdrl", "--workload", "none.csv"], "workload 'none.csv': no such file"),
        (["topdrl", "--device", "quantum"], "--device quantum: "),
        (["topdrl", "--set", "practice.gpus=nearer"], "practice.gpus: must be one of nearest, "),
    ]:
        done = command("train", *given, "-o", "x", "--steps", "10")
        assert done.code == 2 and said in done.err, (given, done.err)
        assert not (here / "x").exists()
    (here / "full").mkdir()
    (here / "full" / "notes.txt").write_text("mine")
    done = command("train", "topdrl", "-o", "full", "--force", "--steps", "10")
    assert done.code == 2 and "--force does not replace it" in done.err and (here / "full" / "notes.txt").exists()
    done = command("eval", "full")
    assert done.code == 3 and "no policy.yaml in it" in done.err


def test_all_settings_are_shown_without_a_place_to_keep_the_checkpoint(command: Command, here: Path) -> None:
    given = ("--set", "ppo.clip=0.1", "--cluster", "4x8")
    done = command("train", "topdrl", "--dry-run", *given)
    shown = yaml.safe_load(done.out)
    assert shown["ppo"]["clip"] == 0.1 and shown["practice"]["cluster"] == "4x8" and shown["topdrl"]["queue"] is True
    assert command("train", "topdrl", "--dry-run", *given, "-o", "x", "--steps", "1").out == done.out
    assert not list(here.iterdir())
    for needs_place in (["--steps", "1"], ["--dry-run", "--resume"]):
        done = command("train", "topdrl", *needs_place)
        assert done.code == 2 and "-o is missing: give the output directory of the checkpoint" in done.err


@pytest.mark.parametrize("agent", ["topdrl", "scorer", "metarl"])
def test_a_dry_run_refuses_the_jobs_that_a_training_would(command: Command, here: Path, agent: str) -> None:
    (here / "notes.txt").write_text("no log")
    (here / "short.csv").write_text("submit_s,gpus,duration_s\n0,1,60\n1,1,60\n2,1,60\n")
    for given, code, said in [
        ("--workload=nope.csv", 2, "workload 'nope.csv': no such file, nor one of topdrl, "),
        ("--workload=notes.txt", 3, "notes.txt:1: not a job log"),
        ("--workload=short.csv", 2, "short.csv: no window of "),
        ("--cluster=nope", 2, "no cluster is called 'nope'"),
    ]:
        done = command("train", agent, "--dry-run", given)
        assert (done.code, done.out) == (code, "") and said in done.err, (given, done)


def practice(command: Command, *arguments: str) -> dict[str, Any]:
    done = command("train", *arguments, "--dry-run")
    assert done.code == 0, done.err
    return yaml.safe_load(done.out)["practice"]


def test_jobs_of_a_log_arrive_as_logged(command: Command, here: Path) -> None:
    made = command("trace", "generate", "--like", "philly", "--jobs", "60", "--cluster", "2x4", "-o", "log.csv")
    assert made.code == 0, made.err
    for agent in ("topdrl", "deeprm", "proximity-drl", "marl", "scorer", "metarl"):
        shown = practice(command, agent, *LOG)
        assert (shown["load"], shown.get("horizon_s")) == ("logged", None), agent
    assert practice(command, "topdrl")["horizon_s"] == 43_200.0, "its own jobs are all there from the start"
    for given, load, horizon_s in [
        (("practice.load=none",), None, 43_200.0),
        (("practice.load=1.5",), 1.5, 43_200.0),
        (("practice.horizon_s=2h",), "logged", 7200.0),
    ]:
        shown = practice(command, "topdrl", *LOG, *(arg for one in given for arg in ("--set", one)))
        assert (shown["load"], shown["horizon_s"]) == (load, horizon_s)

    small = ("--set", "practice.jobs=12", "--set", "practice.episodes=2", *SMALL[-6:])
    done = command("train", "topdrl", "--cluster", "2x4", "--workload", "log.csv", *small, "--steps", "128", "-o", "x")
    assert done.code == 0 and "log.csv, 12 jobs as logged, on 2x4, until all are done" in done.err, done.err
    assert yaml.safe_load((here / "x/policy.yaml").read_text())["environment"]["reward"] == "jobs"
    done = command("eval", "x", "--seeds", "0", "--workload", "log.csv", "--set", "practice.load=2")
    assert done.code == 0 and "12 jobs at load 2.0" in done.out, done.err


def test_a_checkpoint_is_evaluated_on_another_log_as_logged(command: Command, here: Path) -> None:
    done = command("train", "topdrl", *SMALL, "--steps", "128", "-o", "x")
    assert done.code == 0, done.err
    made = command("trace", "generate", "--like", "philly", "--jobs", "120", "--cluster", "2x4", "-o", "log.csv")
    assert made.code == 0, made.err
    done = command("eval", "x", "--seeds", "0", "--workload", "log.csv")
    assert done.code == 0 and "log.csv, 30 jobs as logged, on 2x4, until all are done" in done.out, done.err
    assert "30 jobs all there from the start" in command("eval", "x", "--seeds", "0").out


def test_without_pytorch_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    import importlib.util

    find = importlib.util.find_spec
    hidden = lambda name, *more: None if name == "torch" else find(name, *more)  # noqa: E731
    monkeypatch.setattr("pointsman.cli.learning.find_spec", hidden)
    monkeypatch.setattr("pointsman.learn.policies.learned.find_spec", hidden)
    assert run(["train", "topdrl", "-o", "x", "--steps", "1"]) == 2
    assert "learning needs torch: pip install 'pointsman[learn]'" in capsys.readouterr().err
    assert run(["eval", str(SHIPPED / "topdrl")]) == 2
    assert "learning needs torch: pip install 'pointsman[learn]'" in capsys.readouterr().err
    assert run(["simulate", "jobs.csv", "--cluster", "2x4", "--policy", "topdrl:x", "--dry-run"]) == 2
    assert "policy 'topdrl' needs torch: pip install 'pointsman[learn]'" in capsys.readouterr().err
