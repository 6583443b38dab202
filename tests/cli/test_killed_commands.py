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

from pointsman.cli.run import run
from pointsman.errors import InputError
from pointsman.report import read_runs

from .command import pointsman

pytestmark = pytest.mark.slow
MOMENTS = 50
"""For each of the four commands."""
PLAIN = {key: value for key, value in os.environ.items() if key not in ("FORCE_COLOR", "NO_COLOR")}


class Killer:
    """Runs commands, and kills them at some moment: half of them at any time, half where they write, at the end."""

    def __init__(self, cwd: Path) -> None:
        self.cwd, self.draw = cwd, random.Random(7)
        self.whole_s = 0.0
        """How long a whole run takes: as long as the last one did."""
        self.kills = 0

    def whole(self, *args: str) -> None:
        began_s = time.monotonic()
        done = pointsman(*args, "-q", cwd=self.cwd)
        assert done.returncode == 0, done.stderr
        self.whole_s = time.monotonic() - began_s

    def killed(self, *args: str) -> bool:
        """Whether the command was killed; else it had ended, with success."""
        after_s = self.whole_s * self.draw.uniform(self.draw.choice((0.0, 0.6)), 1.05)
        given = [sys.executable, "-m", "pointsman", *args, "-q"]
        began_s = time.monotonic()
        child = subprocess.Popen(
            given, cwd=self.cwd, env=PLAIN, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        try:
            _, said = child.communicate(timeout=after_s)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            self.kills += 1
            return True
        assert child.returncode == 0, said.decode()
        self.whole_s = time.monotonic() - began_s
        return False


def is_verified(out: Path) -> None:
    assert run(["verify", str(out)]) == 0


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
    killer = Killer(tmp_path)
    for _ in range(2):  # the first may compile
        killer.whole(*given)
    is_whole(tmp_path / "out")
    while killer.kills < MOMENTS:
        if killer.kills % 2:  # half of the runs replace what is there
            shutil.rmtree(tmp_path / "out", ignore_errors=True)
        there = (tmp_path / "out").exists()
        killer.killed(*given)
        aside = [path for path in tmp_path.iterdir() if path.name.endswith(".old")]
        if (tmp_path / "out").exists():
            is_whole(tmp_path / "out")
        elif there:
            assert aside, "what was to be replaced is lost"
            is_whole(aside[0])
    killer.whole(*given)
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

    killer = Killer(tmp_path)
    for _ in range(2):
        killer.whole(*TRAIN, "-o", "first", "--force")
    wanted = (tmp_path / "first/policy.safetensors").read_bytes()
    mine, resumed = tmp_path / "mine", 0
    while killer.kills < MOMENTS:
        begun = (mine / CARD).exists()
        resumed += begun
        if killer.killed(*TRAIN, "-o", "mine", *(("--resume",) if begun else ())):
            if (mine / CARD).exists():
                load_policy(mine)
            continue
        assert (mine / "policy.safetensors").read_bytes() == wanted, "as if nothing had been"
        shutil.rmtree(mine)
    assert resumed > 5
    more = ("--resume",) if (tmp_path / "mine" / CARD).exists() else ()
    killer.whole(*TRAIN, "-o", "mine", *more)
    assert (tmp_path / "mine/policy.safetensors").read_bytes() == wanted
    assert [name for name in os.listdir(tmp_path / "mine") if name.endswith(".partial")] == []


def test_the_checks_can_fail(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with pytest.raises(InputError):
        is_comparison(tmp_path / "out")
    with pytest.raises(AssertionError):
        is_verified(tmp_path / "out")
