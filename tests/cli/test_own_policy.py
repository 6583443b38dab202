"""A policy of one's own goes by its name, whoever speaks of it."""

import json
from pathlib import Path

import pytest

from .conftest import Command

OWN = """
class Largest:
    '''Largest gang first.'''

    name = "largest-first"
    needs = "none"

    def __init__(self, patience_s: float = 60.0, least: int = 1) -> None:
        self.least = least

    def decide(self, view) -> None:
        asked = view.jobs["asked"]
        for job in sorted(view.pending.tolist(), key=lambda job: -asked[job]):
            if asked[job] >= self.least:
                view.start(job)
"""
POLICY = "own.py:Largest"


@pytest.fixture
def own(here: Path) -> None:
    Path("own.py").write_text(OWN)


def test_tables_folders_and_errors_call_it_by_its_name(command: Command, jobs: str, own: None) -> None:
    given = ("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", POLICY, "--format", "json")
    done = command(*given, "-o", "both", "--baseline", POLICY)
    assert done.code == 0, done.err
    assert json.loads(done.out)["baseline"] == "largest-first"
    assert "Largest," not in done.err
    assert sorted(path.name for path in Path("both/runs").iterdir()) == ["fifo_s0", "largest-first_s0"]
    manifest = json.loads(Path("both/runs/largest-first_s0/manifest.json").read_text())
    assert manifest["info"]["policy"] == POLICY
    for name in ("largest-first", "Largest"):
        assert json.loads(command(*given, "--baseline", name).out)["baseline"] == "largest-first"
    assert "under largest-first: " in command("explain", "j1", "--run", "both/runs/largest-first_s0").out
    wrong = command(*given, "--baseline", "las")
    assert (wrong.code, "(fifo, largest-first)" in wrong.err) == (2, True)
    rounds = command("simulate", jobs, "--cluster", "2x4", "--policy", f"rounds({POLICY}, 60)")
    assert rounds.out.splitlines()[0] == "rounds(largest-first, 60) [none]"


def test_its_parameters_are_shown_and_kept(command: Command, jobs: str, own: None) -> None:
    shown = command("policy", "show", POLICY).out
    assert "patience_s     60.0  s" in shown and "--set largest-first.patience_s=VALUE" in shown
    wide = ("--cluster", "3x4", "--policy", POLICY, "--set", "largest-first.least=2", "-o", "run")
    assert command("simulate", jobs, *wide).code == 0
    assert json.loads(Path("run/manifest.json").read_text())["info"]["params"] == {"patience_s": 60.0, "least": 2}
    assert "PENDING" in command("explain", "j3", "--run", "run", "--at", "70").out, "it is replayed as it was run"


def test_who_is_never_started_is_told(command: Command, jobs: str, own: None) -> None:
    done = command("simulate", jobs, "--cluster", "2x4", "--policy", POLICY, "--set", "largest-first.least=2")
    assert done.code == 0
    assert "largest-first, seed 0: 2 jobs never ended, because the policy left them waiting" in done.err
    assert "never ended" not in command("simulate", jobs, "--cluster", "2x4", "--policy", POLICY).err


def test_half_a_rounds_is_told_the_form(command: Command, jobs: str) -> None:
    done = command("simulate", jobs, "--cluster", "2x4", "--policy", "rounds(fifo)")
    assert (done.code, "write rounds(POLICY, EVERY), like rounds(fifo, 60)" in done.err) == (2, True)


TELLTALE = 'open("imported", "w").close()\n' + OWN


@pytest.fixture
def telltale(own: None) -> None:
    """The same in a file that leaves a trace when it is imported."""
    Path("own.py").write_text(TELLTALE)


DRY = {
    "simulate": ["--cluster", "2x4", "--policy", POLICY, "--dry-run"],
    "compare": ["--cluster", "2x4", "--policy", "fifo", "--policy", f"rounds({POLICY}, 60)", "--dry-run"],
    "capacity": ["--cluster", "2x4", "--policy", POLICY, "--dry-run"],
    "config show": ["--cluster", "2x4", "--policy", POLICY],
}


@pytest.mark.parametrize("verb", DRY)
def test_a_dry_run_imports_nothing(verb: str, command: Command, jobs: str, telltale: None) -> None:
    done = command(*verb.split(), jobs, *DRY[verb], "--set", "largest-first.least=2")
    assert (done.code, done.err) == (0, "")
    assert "least: 2" in done.out and "own.py:Largest" in done.out
    assert not Path("imported").exists()


def test_nor_does_one_of_an_experiment_file_a_baseline_or_a_suite(command: Command, jobs: str, telltale: None) -> None:
    both = ("--cluster", "2x4", "--policy", "fifo", "--policy", POLICY, "--dry-run", "--baseline")
    dry = command("compare", jobs, *both, "largest-first")
    Path("week.yaml").write_text(dry.out)
    assert command("compare", "-c", "week.yaml", "--dry-run").out == dry.out
    assert command("compare", jobs, *both, "largest").code == 2
    assert command("suite", "run", "--only", "seed=0", "--policy", POLICY, "--dry-run").code == 0
    assert not Path("imported").exists()
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", POLICY).code == 0
    assert Path("imported").exists(), "a run does"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("class Other: pass", "has no class 'Largest' (it has Other)"),
        ("class Largest", "cannot be imported: SyntaxError"),
        ("\0", "cannot be imported: "),
        ("(" * 5000, "cannot be imported: "),
        ("class Largest: needs = 'everything'", "declares needs = 'everything'"),
    ],
)
def test_what_can_be_seen_without_importing_is_said(text: str, complaint: str, command: Command, jobs: str) -> None:
    Path("own.py").write_text(text)
    done = command("simulate", jobs, "--cluster", "2x4", "--policy", POLICY, "--dry-run")
    assert done.code == 2
    assert complaint in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("text", ["from other import Largest", "Largest = make()", "import other as Largest"])
def test_a_class_from_elsewhere_is_left_to_the_run(text: str, command: Command, jobs: str) -> None:
    Path("own.py").write_text(text)
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", POLICY, "--dry-run").code == 0


def test_a_dry_run_reads_no_observation_of_ones_own(command: Command, jobs: str) -> None:
    Path("seen.py").write_text(TELLTALE)
    given = ("--policy", "topdrl", "--set", "topdrl.observation=seen.py", "--cluster", "2x4", "--dry-run")
    assert command("simulate", jobs, *given).code == 0
    assert not Path("imported").exists()


def test_a_dry_run_of_a_training_reads_no_observation_of_ones_own(command: Command, here: Path) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    Path("seen.py").write_text(TELLTALE)
    practice = ("--set", "practice.observation=seen.py", "--set", "practice.reward=seen.py", "--dry-run")
    assert command("train", "topdrl", *practice, "-o", "trained").code == 0
    assert not Path("imported").exists()
