"""The benchmarks that need no minutes: that they are found, and say what they skip."""

import gzip
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.blocks import fill
from benchmarks.runs import Case, Native, engine
from benchmarks.throughput import POLICIES
from benchmarks.translate import translate
from pointsman.errors import InputError
from pointsman.policies.registry import get_policy
from pointsman.speed import load_catalogue, load_interference

ROOT = Path(__file__).parents[2]
PAIRS = ROOT.parent / "shared" / "data" / "profiles" / "gavel_pairs.csv.gz"


@dataclass(frozen=True)
class Done:
    returncode: int
    stdout: str
    stderr: str


Benchmarks = Callable[..., Done]


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Benchmarks:
    """``python -m benchmarks`` in this process, which has imported everything."""

    def done(*arguments: str) -> Done:
        monkeypatch.chdir(ROOT)
        monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
        try:
            code = main()
        except SystemExit as stopped:
            code = int(stopped.code or 0)
        return Done(code, *capsys.readouterr())

    return done


def test_without_the_logs_the_generator_is_skipped_and_it_is_said(benchmarks: Benchmarks, tmp_path: Path) -> None:
    done = benchmarks("generator", "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, f"generator: skipped, for {tmp_path}/traces is not there\n")


def test_an_unknown_benchmark_is_refused(benchmarks: Benchmarks) -> None:
    done = benchmarks("generators")
    assert done.returncode == 2
    assert "there are generator, stopping, throughput, prototype, contended, latency, scaling" in done.stderr


def test_without_the_prototype_nothing_is_run_beside_it(benchmarks: Benchmarks, tmp_path: Path) -> None:
    done = benchmarks("prototype", "--data", str(tmp_path / "data"))
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"there is no {tmp_path}/prototype/d_sim.cpp: the prototype is left out\n"


def test_without_the_measurements_the_pairs_are_skipped_and_it_is_said(benchmarks: Benchmarks, tmp_path: Path) -> None:
    done = benchmarks("pairs", "--data", str(tmp_path))
    assert (done.returncode, done.stdout) == (0, f"pairs: skipped, for {tmp_path}/gavel_pairs.csv.gz is not there\n")


@pytest.mark.skipif(not PAIRS.is_file(), reason=f"no measurements: {PAIRS} is absent")
def test_the_slow_downs_shipped_are_those_of_the_measurements(benchmarks: Benchmarks, tmp_path: Path) -> None:
    done = benchmarks("pairs", "--oracle", str(tmp_path / "oracle.yaml"))
    assert (done.returncode, done.stderr) == (0, "")
    assert "| simulation | v100 | 660 | 42 |" in done.stdout
    other = load_interference(str(tmp_path / "oracle.yaml"), load_catalogue())
    assert other.slow_down("v100", "a3c", "resnet50") == 1.645


@pytest.mark.skipif(not PAIRS.is_file(), reason=f"no measurements: {PAIRS} is absent")
def test_slow_downs_that_are_not_those_of_the_measurements_break_the_benchmark(
    benchmarks: Benchmarks, tmp_path: Path
) -> None:
    lines = gzip.decompress(PAIRS.read_bytes()).decode().splitlines()
    kept = [line for line in lines if not line.startswith("gavel_simulation,k80,consolidated,A3C,0,1,A3C")]
    assert len(kept) == len(lines) - 1
    (tmp_path / PAIRS.name).write_bytes(gzip.compress("\n".join(kept).encode()))
    done = benchmarks("pairs", "--data", str(tmp_path))
    assert done.returncode == 4
    assert "gavel.yaml is not what" in done.stdout


def test_tables_are_filled_into_their_places_and_all_other_words_are_left(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("A\n<!-- table a -->\nold\n<!-- end -->\nB\n<!-- table b -->\n<!-- end -->\n")
    fill(page, {"a": "new\n"}, partly=True)
    assert page.read_text() == "A\n<!-- table a -->\n\nnew\n\n<!-- end -->\nB\n<!-- table b -->\n<!-- end -->\n"
    with pytest.raises(InputError, match="not both made and wanted: b"):
        fill(page, {"a": "new\n"})
    with pytest.raises(InputError, match="not both made and wanted: c"):
        fill(page, {"c": "new\n"}, partly=True)


@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.parametrize("policy", POLICIES)
def test_the_loop_of_each_policy_can_be_translated(policy: str, tmp_path: Path) -> None:
    (tmp_path / "loop.cpp").write_text(translate(get_policy(policy).factory.hooks))
    subprocess.run(["g++", "-std=c++20", "-fsyntax-only", tmp_path / "loop.cpp"], check=True)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("g++") is None, reason="no g++")
@pytest.mark.parametrize("policy", ["srtf", "easy", "fifo-backfill"])
def test_the_loop_translated_to_c_makes_the_same_schedule(policy: str) -> None:
    case = Case(jobs=400, nodes=2, load=1.05)
    ours, theirs = engine(case, policy), engine(case, policy, loop=Native().loop(policy))
    assert (ours.preemptions > 0) is (policy == "srtf")
    assert (theirs.schedule, theirs.preemptions) == (ours.schedule, ours.preemptions)
