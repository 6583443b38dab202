"""In a container that runs as a random user, without a home directory, everything works as elsewhere."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator
from pathlib import Path

import numba
import pytest

import pointsman

STRANGER = 54321
SOURCES = Path(pointsman.__file__).parent.parent
Stranger = Callable[..., subprocess.CompletedProcess[str]]
JOBS = "submit_s,gpus,duration_s\n0,1,10\n0,2,5\n"


@pytest.fixture(scope="module")
def open_folder() -> Generator[Path]:
    """Where the stranger may write, with a temporary folder in it; pytest's own folders are open to one user only."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        for path in (folder, folder / "tmp"):
            path.chmod(0o1777)
        (folder / "jobs.csv").write_text(JOBS)
        yield folder


def as_stranger(python: str, folder: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """``python ARGUMENTS`` as a user that is in no list of users, with hardly anything in the environment."""
    paths = os.pathsep.join(map(str, (SOURCES, Path(numba.__file__).parent.parent)))
    plain = {"PATH": os.defpath, "TMPDIR": str(folder / "tmp"), "PYTHONPATH": paths, "COLUMNS": "250"}
    return subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=plain | {"NUMBA_DISABLE_JIT": "1"} | environment,
        user=STRANGER,
        group=STRANGER,
        extra_groups=[],
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.fixture(scope="module")
def python(open_folder: Path) -> str:
    """A Python of this version that the stranger can run; skips where there is none."""
    if os.geteuid() != 0:
        pytest.skip("only root can become another user")
    for python in (sys.executable, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        try:
            found = as_stranger(python, open_folder, "-c", "import os, numba, pointsman; print(os.getuid())")
        except OSError:
            continue
        if found.stdout == f"{STRANGER}\n":
            return python
    pytest.skip(f"another user can run neither {sys.executable} nor what it imports")


@pytest.fixture
def stranger(python: str, open_folder: Path) -> Stranger:
    """Runs the command as the stranger."""
    return lambda *arguments, **environment: as_stranger(
        python, open_folder, "-m", "pointsman", *arguments, **environment
    )


@pytest.mark.parametrize("arguments", [["--help"], ["simulate", "--help"], ["version"], ["policy", "list"]])
def test_what_needs_no_folder(stranger: Stranger, arguments: list[str]) -> None:
    done = stranger(*arguments)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_a_run_and_its_report(stranger: Stranger, open_folder: Path) -> None:
    done = stranger("-q", "simulate", "jobs.csv", "--cluster", "1x2", "--policy", "fifo", "-o", "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert (open_folder / "out" / "report.html").exists()
    done = stranger("-q", "compare", "jobs.csv", "--cluster", "1x2", "--policy", "fifo", "--policy", "easy")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
def test_doctor_says_which_folder_is_used_and_why(stranger: Stranger, open_folder: Path) -> None:
    def look(code: int = 0, **environment: str) -> tuple[str, str]:
        done = stranger("doctor", "--format", "json", **environment)
        assert done.returncode == code, done.stderr
        (row,) = (row for row in json.loads(done.stdout) if row["check"] == "compiled code")
        return row["state"], row["found"]

    temporary = open_folder / "tmp" / f"pointsman-{STRANGER}"
    state, found = look()
    assert state == "ok" and found.startswith(f"{temporary}/compiled ")
    assert "(in the temporary folder, because there is no home directory; " in found
    state, found = look(HOME="/")
    assert state == "ok" and "because /.cache/pointsman cannot be made (Permission denied)" in found
    state, found = look(POINTSMAN_HOME=str(open_folder / "named"))
    assert state == "ok" and "(named by POINTSMAN_HOME; " in found
    state, found = look(1, POINTSMAN_HOME="/var/lib/mine")
    assert (state, found.partition(";")[0]) == (
        "broken",
        "UsageError: POINTSMAN_HOME: /var/lib/mine cannot be made (Permission denied)",
    )
    temporary.chmod(0o777)
    state, found = look()
    assert state == "missing" and f"other users may write to {temporary}" in found
    assert found.startswith(f"every command compiles anew: {open_folder}/tmp/pointsman-")
    done = stranger("warmup", NUMBA_DISABLE_JIT="0")
    assert done.returncode == 1 and "compiled code would be removed when the command ends, because " in done.stderr
    assert list((open_folder / "tmp").glob("pointsman-*")) == [temporary]


def test_processes_share_a_private_folder_and_leave_none(stranger: Stranger, open_folder: Path) -> None:
    temporary = open_folder / "tmp" / f"pointsman-{STRANGER}"
    temporary.mkdir(exist_ok=True)
    temporary.chmod(0o777)
    both = ["--policy", "fifo", "--policy", "easy"]
    done = stranger("-q", "compare", "jobs.csv", "--cluster", "1x2", *both, "--workers", "2")
    assert (done.returncode, done.stderr) == (0, "")
    assert list((open_folder / "tmp").glob("pointsman-*")) == [temporary]


def test_a_folder_named_in_vain_is_a_usage_error(stranger: Stranger) -> None:
    done = stranger(
        "simulate", "jobs.csv", "--cluster", "1x2", "--policy", "fifo", POINTSMAN_HOME="/var/lib/mine",
        NUMBA_DISABLE_JIT="0",
    )  # fmt: skip
    assert done.returncode == 2
    assert "pointsman: POINTSMAN_HOME: /var/lib/mine cannot be made (Permission denied); " in done.stderr


@pytest.mark.slow
def test_learning(stranger: Stranger, open_folder: Path) -> None:
    for package in ("torch", "gymnasium", "safetensors", "tensorboard"):
        pytest.importorskip(package, reason=f"{package} is not installed (make learn)")
    small = ["--set", "practice.jobs=5", "--set", "practice.episodes=1", "--set", "reinforce.rollouts=2"]
    few = ["--set", "reinforce.sequences=1", "--set", "practice.horizon_s=10m", "--steps", "1"]
    done = stranger("-q", "train", "deeprm", "--cluster", "1x2", *small, *few, "-o", "trained")
    assert (done.returncode, done.stderr) == (0, "")
    assert (open_folder / "trained" / "policy.safetensors").exists()
