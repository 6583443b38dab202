"""``kill -9`` at 200 moments: what a command writes is there whole or not at all, and the next one clears up."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

from pointsman.errors import InputError
from pointsman.report import read_runs

from .command import pointsman

pytestmark = pytest.mark.slow
MOMENTS = 50
"""For each of the four commands."""
PLAIN = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}


def killed(*args: str, after_s: float, cwd: Path) -> bool:
    """Whether the command was killed after this time; else it had ended, with success."""
    given = [sys.executable, "-m", "pointsman", *args, "-q"]
    child = subprocess.Popen(
        given, cwd=cwd, env=PLAIN, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
    )
    try:
        _, said = child.communicate(timeout=after_s)
        assert child.returncode == 0, said.decode()
        return False
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        child.communicate()
        return True


def taken_s(*args: str, cwd: Path) -> float:
    """How long a whole run takes; the second, for the first may compile."""
    for _ in range(2):
        began_s = time.monotonic()
        done = pointsman(*args, "-q", cwd=cwd)
        assert done.returncode == 0, done.stderr
    return time.monotonic() - began_s


def moments(whole_s: float) -> list[float]:
    """Half of them at any time, half where it writes, towards the end."""
    draw = random.Random(7)
    anywhere = [draw.uniform(0.0, 1.1 * whole_s) for _ in range(MOMENTS // 2)]
    return anywhere + [draw.uniform(0.6 * whole_s, 1.05 * whole_s) for _ in range(MOMENTS - len(anywhere))]


def is_verified(out: Path) -> None:
    assert pointsman("verify", str(out)).returncode == 0


def is_comparison(out: Path) -> None:
    assert len(read_runs(out)) == 2
    json.loads((out / "comparison.json").read_text())
    is_verified(out)


def is_suite(out: Path) -> None:
    rows = json.loads((out / "suite.json").read_text())
    assert len((out / "suite.csv").read_text().splitlines()) == len(rows) + 1 > 1
    assert json.loads((out / "manifest.json").read_text())["kind"] == "suite"


REPLAY = ("jobs.csv", "--cluster", "2x4", "--policy", "fifo")
COMMANDS: dict[str, tuple[tuple[str, ...], Callable[[Path], None]]] = {
    "simulate": (("simulate", *REPLAY), is_verified),
    "compare": (("compare", *REPLAY, "--policy", "srtf"), is_comparison),
    "suite": (
        ("suite", "run", "--policy", "fifo", "--only", "workload=itp", "--only", "load=0.7", "--only", "seed=0"),
        is_suite,
    ),
}


@pytest.mark.parametrize("verb", COMMANDS)
def test_a_directory_is_there_whole_or_not_at_all(verb: str, tmp_path: Path) -> None:
    command, is_whole = COMMANDS[verb]
    given = [*command, "-o", "out", "--force"]
    generated = ("trace", "generate", "--like", "philly", "--jobs", "60", "--cluster", "2x4", "-o", "jobs.csv")
    assert pointsman(*generated, cwd=tmp_path).returncode == 0
    whole_s = taken_s(*given, cwd=tmp_path)
    is_whole(tmp_path / "out")
    kills = 0
    for k, after_s in enumerate(moments(whole_s)):
        if k % 2:  # half of the runs replace what is there
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
        there = (tmp_path / "out").exists()
        kills += killed(*given, after_s=after_s, cwd=tmp_path)
        aside = [path for path in tmp_path.iterdir() if path.name.endswith(".old")]
        if (tmp_path / "out").exists():
            is_whole(tmp_path / "out")
        elif there:
            assert aside, "what was to be replaced is lost"
            is_whole(aside[0])
    assert kills > MOMENTS // 2
    done = pointsman(*given, "-q", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    is_whole(tmp_path / "out")
    assert sorted(os.listdir(tmp_path)) == ["jobs.csv", "out"], "the left-overs of all of them are gone"


TRAIN = (
    *("train", "deeprm", "--cluster", "1x2", "--set", "practice.jobs=5", "--set", "practice.episodes=2"),
    *("--set", "practice.horizon_s=10m", "--set", "reinforce.rollouts=2", "--set", "reinforce.sequences=1"),
    *("--steps", "400"),
)


@pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed (make learn)")
def test_a_training_goes_on(tmp_path: Path) -> None:
    from pointsman.learn.checkpoint import CARD, load_policy

    whole_s = taken_s(*TRAIN, "-o", "first", "--force", cwd=tmp_path)
    wanted = (tmp_path / "first/policy.safetensors").read_bytes()
    kills = resumed = 0
    for after_s in moments(whole_s):
        mine = tmp_path / "mine"
        begun = (mine / CARD).exists()
        resumed += begun
        more = ("--resume",) if begun else ()
        if killed(*TRAIN, "-o", "mine", *more, after_s=after_s, cwd=tmp_path):
            kills += 1
            if (mine / CARD).exists():
                load_policy(mine)
            continue
        assert (mine / "policy.safetensors").read_bytes() == wanted, "as if nothing had been"
        shutil.rmtree(mine)
    assert kills > MOMENTS // 2 and resumed > 5
    more = ("--resume",) if (tmp_path / "mine" / CARD).exists() else ()
    assert pointsman(*TRAIN, "-o", "mine", *more, cwd=tmp_path).returncode == 0
    assert (tmp_path / "mine/policy.safetensors").read_bytes() == wanted
    assert [name for name in os.listdir(tmp_path / "mine") if name.endswith(".partial")] == []


def test_the_checks_can_fail(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError):
        is_comparison(tmp_path / "out")
    with pytest.raises(AssertionError):
        is_verified(tmp_path / "out")
