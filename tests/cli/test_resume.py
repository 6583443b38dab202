"""A command that was killed goes on with the runs that it had not finished."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from .conftest import FREE, Command, Once

COUNTED = '''
import time
from pathlib import Path


class Counted:
    """First come, first served, which leaves a mark for each run, and sleeps as long as there is a file ``slow``."""

    name = "counted"
    needs = "none"

    def __init__(self, number: int = 0):
        self.number, self.begun = number, False

    def decide(self, view):
        if not self.begun:
            self.begun = True
            with open("begun", "a") as marks:
                print(self.number, file=marks, flush=True)
            while self.number == 2 and Path("slow").exists():
                time.sleep(0.01)
        for job in view.pending:
            if not view.start(job):
                break
'''
EXPERIMENT = """\
apiVersion: pointsman/v1
kind: Experiment
metadata: {{name: counted}}
spec:
  trace: {jobs}
  cluster: 2x4
  policies:
  - {{name: "policy.py:Counted", params: {{number: 1}}}}
  - {{name: "policy.py:Counted", params: {{number: 2}}}}
  - {{name: "policy.py:Counted", params: {{number: 3}}}}
"""


@pytest.fixture
def counted(here: Path, jobs: str) -> list[str]:
    """A command of three runs, the second of which lasts as long as there is a file ``slow``."""
    Path("policy.py").write_text(COUNTED)
    Path("e.yaml").write_text(EXPERIMENT.format(jobs=jobs))
    return ["compare", "-c", "e.yaml", "-o", "out"]


def begun() -> list[str]:
    """The numbers of the runs that were begun, and forget them."""
    path = Path("begun")
    marks = path.read_text().split() if path.exists() else []
    path.unlink(missing_ok=True)
    return sorted(marks)


def ended_by(signum: int, args: list[str], finished: int) -> tuple[int, str]:
    """The exit code and stderr of a command that gets a signal in its second run, when so many runs are finished."""
    Path("slow").touch()
    child = subprocess.Popen(
        [sys.executable, "-m", "pointsman", *args], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    kept = Path(".out.runs")
    while len([path for path in kept.glob("*") if not path.name.startswith(".")]) < finished or not (
        Path("begun").exists() and "2" in Path("begun").read_text()
    ):
        assert child.poll() is None, child.communicate()
        time.sleep(0.01)
    os.killpg(child.pid, signum)
    said = child.communicate(timeout=60)[1]
    Path("slow").unlink()
    return child.returncode, said


@pytest.fixture
def killed(counted: list[str], once: Once) -> list[str]:
    """The command, which was killed in its second run."""

    def fill() -> None:
        assert ended_by(signal.SIGKILL, counted, 1)[0] == -signal.SIGKILL

    once("killed", fill)
    return counted


@pytest.mark.parametrize(("workers", "finished"), [((), 1), (("--workers", "2"), 2)])
def test_what_was_finished_before_a_kill_is_not_run_again(
    workers: tuple[str, ...], finished: int, command: Command, counted: list[str]
) -> None:
    code, _ = ended_by(signal.SIGKILL, [*counted, *workers], finished)
    assert code == -signal.SIGKILL
    assert not Path("out").exists()
    begun()
    done = command(*counted, "--format", "json")
    assert done.code == 0, done.err
    assert f"{finished} of 3 runs are finished and kept; they are not run again" in done.err
    assert begun() == (["2", "3"] if finished == 1 else ["2"])
    assert [row["policy"] for row in json.loads(done.out)["rows"]] == [f"counted (number={n})" for n in (1, 2, 3)]
    assert not Path(".out.runs").exists()


def test_an_interrupt_says_how_to_go_on(command: Command, counted: list[str]) -> None:
    code, said = ended_by(signal.SIGINT, counted, 1)
    assert code == 130
    assert said.endswith(
        "finished runs are kept in .out.runs; the same command goes on with the others\npointsman: interrupted\n"
    )
    begun()
    assert command(*counted).code == 0
    assert begun() == ["2", "3"]


def test_what_comes_of_it_is_what_would_have(command: Command, killed: list[str]) -> None:
    assert command(*killed).code == 0
    assert command(*killed[:-1], "whole").code == 0
    parts, whole = (
        {path.relative_to(place): path.read_bytes() for path in sorted(place.rglob("*.parquet"))}
        for place in (Path("out"), Path("whole"))
    )
    assert len(whole) == 3 * 3
    assert parts == whole
    for name in ("manifest.json", "runs/counted-number-1_s0/manifest.json"):
        of = [json.loads(Path(place, name).read_text()) for place in ("out", "whole")]
        assert of[0].keys() == of[1].keys()


def touch(path: str, old: str, new: str) -> None:
    text = Path(path).read_text()
    assert old in text
    Path(path).write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "changed",
    [
        lambda: touch("policy.py", "First come, first served", "In order"),
        lambda: touch("jobs.csv", "j0,prod,0,6,100", "j0,prod,0,6,101"),
        lambda: touch("e.yaml", "cluster: 2x4", "cluster: 2x4\n  overheads: none"),
        lambda: touch("e.yaml", "cluster: 2x4", "cluster: 2x5"),
        lambda: touch("e.yaml", "cluster: 2x4", "cluster: 2x4\n  seeds: [1]"),
        lambda: Path("helper.py").write_text("# a module beside the policy, which it may import"),
    ],
    ids=["policy", "log", "overheads", "cluster", "seed", "module"],
)
def test_a_run_of_other_inputs_is_run_again(changed, command: Command, killed: list[str]) -> None:
    changed()
    begun()
    assert command(*killed).code == 0
    assert begun() == ["1", "2", "3"]


def test_another_version_of_the_code_runs_again(
    command: Command, killed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    begun()
    monkeypatch.setattr("pointsman.sweeps.digests.code_digest", lambda: "another")
    assert command(*killed).code == 0
    assert begun() == ["1", "2", "3"]


def test_a_damaged_run_is_run_again(command: Command, killed: list[str]) -> None:
    (table,) = Path(".out.runs").glob("*/jobs.parquet")
    table.write_bytes(table.read_bytes()[:-1])
    begun()
    assert command(*killed).code == 0
    assert begun() == ["1", "2", "3"]


def test_what_changes_no_run_does_not_matter(command: Command, killed: list[str]) -> None:
    """The window, the baseline, how it is printed."""
    begun()
    touch("e.yaml", "cluster: 2x4", "cluster: 2x4\n  window: '10:'")
    assert command(*killed, "--format", "csv", "--workers", "1").code == 0
    assert begun() == ["2", "3"]


def test_cells_go_on_too(command: Command, counted: list[str]) -> None:
    touch("e.yaml", "cluster: 2x4", "cluster: [2x4, 3x4]")
    ended_by(signal.SIGKILL, counted, 1)
    begun()
    done = command(*counted)
    assert (done.code, "1 of 6 runs are finished and kept" in done.err) == (0, True), done.err
    assert begun() == ["1", "2", "2", "3", "3"]


def test_capacity_goes_on_with_the_sizes_that_it_has(command: Command, counted: list[str]) -> None:
    given = ["capacity", "jobs.csv", "--cluster", "2x4", "--policy", "policy.py:Counted", "-o", "out"]
    given += ["--target", "pending_mean_s<=20"]
    whole = command(*given[:-3], "whole", *given[-2:], "--format", "csv")
    assert whole.code == 0, whole.err
    runs = len(begun())
    touch("policy.py", "self.number == 2", "Path('begun').read_text().count('0') == 3")
    Path("slow").touch()
    child = subprocess.Popen([sys.executable, "-m", "pointsman", *given, *FREE, "-q"], stdout=subprocess.DEVNULL)
    while len([*Path(".out.runs").glob("*.json")]) < 2 or Path("begun").read_text().count("0") < 3:
        assert child.poll() is None
        time.sleep(0.01)
    child.kill()
    child.wait()
    Path("slow").unlink()
    begun()
    done = command(*given, "--format", "csv")
    assert (done.code, done.out) == (0, whole.out), done.err
    assert len(begun()) == runs - 2
    assert not Path(".out.runs").exists()


SUITE = ("suite", "run", "--policy", "fifo", "--policy", "las", "--only", "workload=itp", "--only", "seed=0,1")
FIVE = [f for name in ("fifo", "srtf", "easy", "tiresias", "las") for f in ("--policy", name)]


@pytest.mark.slow
@pytest.mark.parametrize(
    "args",
    [
        ("compare", "log.csv", "--cluster", "8x8", *FIVE),
        ("compare", "log.csv", "--cluster", "8x8", "--cluster", "9x8", "--load", "0.7", "--load", "0.9", *FIVE),
        ("capacity", "log.csv", "--cluster", "8x8", *FIVE),
        (*SUITE, "--only", "load=0.7"),
    ],
    ids=["compare", "grid", "capacity", "suite"],
)
def test_killed_at_any_moment_it_comes_to_the_same(args: tuple[str, ...], here: Path) -> None:
    """Kept runs are never lost, and the output is there when it is whole and not before."""
    rows = [f"{37 * i},{1 + i % 7},{600 + 97 * i % 7200}" for i in range(20_000)]
    Path("log.csv").write_text("\n".join(["submit_s,gpus,duration_s", *rows]))
    command = [sys.executable, "-m", "pointsman", *args, "-q", "-o"]
    began = time.monotonic()
    subprocess.run([*command, "whole"], check=True, stdout=subprocess.DEVNULL)
    lasts_s = time.monotonic() - began
    kept = 0
    for k in range(12):
        child = subprocess.Popen([*command, "out"], stdout=subprocess.DEVNULL)
        try:
            child.wait(timeout=lasts_s * (0.3 + 0.7 * (k * 0.618 % 1)))
        except subprocess.TimeoutExpired:
            child.kill()
        child.wait()
        if Path("out").exists():  # it may have been killed while it printed
            break
        now = len([path for path in Path(".out.runs").glob("*") if not path.name.startswith(".")])
        assert now >= kept or args[0] == "suite"
        kept = now
    else:
        subprocess.run([*command, "out"], check=True, stdout=subprocess.DEVNULL)
    assert [path.name for path in here.iterdir() if path.name.endswith(".partial")] == []
    assert contents(Path("out")) == contents(Path("whole"))


def contents(directory: Path) -> dict[str, object]:
    """Data files, without what a clock says."""
    found: dict[str, object] = {}
    for path in sorted(directory.rglob("*")):
        name = path.relative_to(directory).as_posix()
        if path.suffix == ".parquet":
            found[name] = path.read_bytes()
        elif path.suffix == ".csv":
            frame = pl.read_csv(path, infer_schema_length=None)
            timed = [column for column in frame.columns if column.startswith(("engine_s", "decisions_per_s"))]
            found[name] = frame.drop(timed).to_dicts()
    return found
