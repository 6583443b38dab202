import json
from pathlib import Path

import polars as pl
import pytest

import pointsman.suite.measure
from pointsman.cli.run import run
from pointsman.errors import RunError
from pointsman.suite import definition
from pointsman.suite.definition import Cell, Suite, digest, digests, frozen_digests, suite_v1
from pointsman.suite.measure import entries, measure, table


def test_suite_v1_is_three_workloads_at_three_loads_with_five_seeds() -> None:
    suite = suite_v1()
    assert [cell.name for cell in suite.cells()][:4] == [
        "philly at 0.7",
        "philly at 0.85",
        "philly at 0.95",
        "itp at 0.7",
    ]
    names = [f"{cell.name}, seed {seed}" for cell in suite.cells() for seed in suite.spec.seeds]
    assert list(frozen_digests()) == names
    assert len(set(frozen_digests().values())) == 45


@pytest.mark.parametrize("at", [0, 4, 8])
def test_this_machine_generates_the_frozen_workloads(at: int) -> None:
    cell = list(suite_v1().cells())[at]
    workload = cell.frozen(seed=at // 4)
    assert workload.jobs.height == cell.workload.jobs


@pytest.mark.slow
def test_this_machine_generates_all_of_them() -> None:
    assert dict(digests(suite_v1())) == frozen_digests()


def test_a_digest_sees_the_last_bit_of_the_last_job() -> None:
    jobs = next(suite_v1().cells()).generate(0).jobs.head(50)
    last = pl.int_range(pl.len()) == 49
    moved = jobs.with_columns(submit_s=pl.when(last).then(pl.col("submit_s") * (1 + 2**-52)).otherwise("submit_s"))
    assert digest(jobs) != digest(moved)
    assert digest(jobs) == digest(jobs.clone())


def test_other_jobs_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(definition, "frozen_digests", dict)
    with pytest.raises(RunError, match=r"the jobs generated for philly at 0\.7, seed 1 differ from the published ones"):
        next(suite_v1().cells()).frozen(1)


def test_policies_that_need_durations_run_with_errors_too() -> None:
    assert entries(["fifo", "srtf"], ["lognormal:1"]) == [("fifo", None), ("srtf", None), ("srtf", "lognormal:1")]


def smaller(*loads: float) -> Suite:
    """With cells of 300 jobs and two seeds."""
    suite = suite_v1()
    workload = suite.spec.workloads[0].model_copy(update={"jobs": 300})
    spec = suite.spec.model_copy(update={"workloads": (workload,), "loads": loads, "seeds": (0, 1)})
    return suite.model_copy(update={"spec": spec})


@pytest.fixture(scope="module")
def frozen() -> dict[str, str]:
    """Digests of these cells, whose jobs take a second to draw."""
    return dict(digests(smaller(0.5, 0.7, 0.9)))


@pytest.fixture
def small(frozen: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Cell:
    """One cell takes the place of the suite."""
    suite = smaller(0.9)
    monkeypatch.setattr(definition, "suite_v1", lambda: suite)
    monkeypatch.setattr(definition, "frozen_digests", lambda: frozen)
    return next(suite.cells())


@pytest.mark.slow
def test_the_first_quarter_of_the_span_is_not_counted(small: Cell) -> None:
    rows = list(table(small, measure(small, ["fifo", "las"])))
    counted = []
    for seed in (0, 1):
        submit_s = small.generate(seed).jobs["submit_s"]
        counted.append(int((submit_s - submit_s[0] >= small.window(small.generate(0))[0]).sum()))
    assert [(row["policy"], row["seeds"], row["jobs_counted"]) for row in rows] == [
        ("fifo", 2, sum(counted)),
        ("las", 2, sum(counted)),
    ]
    span = small.generate(0).jobs["submit_s"].max()
    assert small.window(small.generate(0)) == (span / 4, float("inf"))


def test_the_command_keeps_the_table(
    small: Cell, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "suite"
    assert run(["suite", "run", "--policy", "fifo", "--policy", "srtf", "-o", str(out), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    knowledge = [row["knowledge"] for row in rows]
    assert knowledge == ["none", "oracle", "estimate lognormal:0.5", "estimate lognormal:1"]
    assert json.loads((out / "suite.json").read_text()) == rows
    assert pl.read_csv(out / "suite.csv").height == 4
    assert run(["suite", "run", "-o", str(out)]) == 2
    assert run(["suite", "run", "--policy", "fiffo"]) == 2


def test_a_part_of_the_suite_has_the_frozen_jobs(
    small: Cell, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    del small
    out = tmp_path / "part"
    given = ["--policy", "fifo", "--policy", "las", "--only", "workload=philly", "--only", "seed=1"]
    assert run(["suite", "run", *given, "-o", str(out), "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["load"], row["seeds"]) for row in rows] == [(0.9, 1), (0.9, 1)]
    assert json.loads((out / "manifest.json").read_text())["only"] == ["workload=philly", "seed=1"]


def test_the_parts_of_the_suite() -> None:
    part = suite_v1().part(["workload=itp,philly", "load=0.85", "seed=0", "seed=3"])
    assert [cell.name for cell in part.cells()] == ["philly at 0.85", "itp at 0.85"]
    assert part.spec.seeds == (0, 3)
    assert suite_v1().part([]) == suite_v1()


@pytest.mark.parametrize(
    ("only", "sentence"),
    [
        ("cell=1", "write workload=VALUE or load=VALUE or seed=VALUE"),
        ("load", "write workload=VALUE"),
        ("load=0.8", "the suite has 0.7, 0.85, 0.95"),
        ("workload=phily", "the suite has philly, itp, helios"),
    ],
)
def test_parts_that_the_suite_lacks(only: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suite", "run", "--only", only]) == 2
    assert sentence in capsys.readouterr().err


def test_a_dry_run_says_what_would_be_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["suite", "run", "--only", "load=0.7", "--policy", "srtf", "--dry-run", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["workload"] for row in rows] == ["philly", "itp", "helios"]
    assert [row["runs"] for row in rows] == [15, 15, 15], "five seeds, without and with two errors"
    assert {row["counted"] for row in rows} == {"submitted after 25% of the span"}
    assert rows[0]["sha256"].split() == [frozen_digests()[f"philly at 0.7, seed {seed}"] for seed in range(5)]


def test_the_heads_are_those_of_compare(small: Cell, capsys: pytest.CaptureFixture[str]) -> None:
    from pointsman.report.tables.tables import comparison_table

    columns = comparison_table(measure(small, ["fifo"])).columns
    assert run(["suite", "run", "--policy", "fifo", "--policy", "las"]) == 0
    head, *_ = capsys.readouterr().out.splitlines()
    assert [name for name in columns if name in head] == list(columns)
    assert head.startswith("workload  load  policy  durations  profiles  progress  mean JCT  to baseline")


def test_a_suite_goes_on_with_the_cells_and_runs_that_it_has(
    small: Cell, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of three cells the first is finished, and of the second two of four runs."""
    del small
    part = smaller(0.5, 0.7, 0.9)
    monkeypatch.setattr(definition, "suite_v1", lambda: part)
    made: list[str] = []

    def counted(workload, cell: Cell, policy: str, estimate: str | None, seed: int):
        made.append(cell.name)
        if len(made) == 7 and not (tmp_path / "again").exists():
            raise KeyboardInterrupt
        return measured(workload, cell, policy, estimate, seed)

    measured = pointsman.suite.measure._run
    monkeypatch.setattr("pointsman.suite.measure._run", counted)
    given = ["suite", "run", "--policy", "fifo", "--policy", "las", "--format", "json"]
    assert run([*given, "-o", str(tmp_path / "out")]) == 130
    assert "finished runs are kept in" in capsys.readouterr().err
    (tmp_path / "again").touch()
    made.clear()
    assert run([*given, "-o", str(tmp_path / "out")]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert made == ["philly at 0.7"] * 2 + ["philly at 0.9"] * 4
    assert run(given) == 0
    whole = json.loads(capsys.readouterr().out)
    timed = ("engine_s", "decisions_per_s")
    assert [{k: v for k, v in row.items() if k not in timed} for row in rows] == [
        {k: v for k, v in row.items() if k not in timed} for row in whole
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "out"]
