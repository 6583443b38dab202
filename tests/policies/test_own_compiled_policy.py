"""A user's compiled policy: one file with its configuration and its hooks, named as file.py:Class."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.errors import UsageError
from tests.free import simulate

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE = EXAMPLES / "my_compiled_policy.py"
POLICY = f"{EXAMPLE}:MyCompiledPolicy"
IN_PYTHON = f"{EXAMPLES / 'my_policy.py'}:MyPolicy"


def workload() -> pointsman.Workload:
    draw = np.random.default_rng(5)
    n = 300
    frame = {
        "submit_s": np.sort(draw.integers(0, 1500, n)).astype(float),
        "gpus": draw.choice([1, 2, 4, 8, 12], n),
        "duration_s": draw.integers(1, 100, n).astype(float),
    }
    return pointsman.Workload.of(pl.DataFrame(frame))


@pytest.mark.parametrize("patience_s", [0.0, 30.0, 1e6])
def test_it_decides_as_the_same_policy_in_python(patience_s: float) -> None:
    params = {"patience_s": patience_s}
    compiled = simulate(workload(), "3x8", POLICY, params=params, audit=True)
    python = simulate(workload(), "3x8", IN_PYTHON, params=params, audit=True)
    assert compiled.jobs.equals(python.jobs)
    assert (compiled.jobs["state"] == "COMPLETED").all()
    assert compiled.info["params"] == params


def test_its_parameters_are_checked() -> None:
    with pytest.raises(UsageError, match="did you mean 'patience_s'"):
        simulate(workload(), "3x8", POLICY, params={"patience": 3})
    with pytest.raises(UsageError, match="greater than or equal to 0"):
        simulate(workload(), "3x8", POLICY, params={"patience_s": -1})


def test_another_process_finds_it_compiled() -> None:
    """The hooks' code is kept on disk by what it is compiled from."""
    script = (
        "import subprocess, polars as pl, pointsman\n"
        "subprocess.Popen.__init__ = None  # by which it would be compiled\n"
        "jobs = pl.DataFrame({'submit_s': [0.0, 0.0], 'gpus': [4, 1], 'duration_s': [5.0, 5.0]})\n"
        f"result = pointsman.simulate(pointsman.Workload.of(jobs), '1x4', {POLICY!r}, overheads='none')\n"
        "print(result.jobs['start_s'].to_list())\n"
    )
    simulate(workload(), "3x8", POLICY)
    src = str(Path(pointsman.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": src}
    done = subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, timeout=300)
    assert done.stdout.splitlines() == ["[5.0, 0.0]"], done.stderr


def test_an_edited_file_is_compiled_anew(tmp_path: Path) -> None:
    mine = tmp_path / "widest_first.py"
    mine.write_text(EXAMPLE.read_text().replace("asked < S", "asked > S"))
    frame = pl.DataFrame({"submit_s": [0.0, 0.0], "gpus": [1, 4], "duration_s": [5.0, 5.0]})
    result = simulate(pointsman.Workload.of(frame), "1x4", f"{mine}:MyCompiledPolicy")
    assert result.jobs["start_s"].to_list() == [5.0, 0.0]
