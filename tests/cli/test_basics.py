import json
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from pointsman import __version__
from pointsman.cli import screen
from pointsman.cli.run import globals_first, run
from pointsman.errors import BackendError, InputError, RunError, ThresholdError, UsageError

from .command import pointsman
from .conftest import Command

HEAVY = (
    "numba",
    "polars",
    "torch",
    "matplotlib",
    "scipy",
    "yaml",
    "jinja2",
    "joblib",
    "numpy",
    "gymnasium",
    "pettingzoo",
)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from pointsman.cli.run import run; run(['--help']); print(*sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "simulate" in done.stdout
    assert set(done.stderr.split()).isdisjoint(HEAVY)


def test_importing_the_package_imports_nothing_heavy() -> None:
    code = "import pointsman, sys; print(*sys.modules, sep='\\n')"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(modules).isdisjoint(HEAVY)


def _cpu_s(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def test_help_costs_little_more_than_the_libraries_it_is_drawn_with() -> None:
    """A ratio, for a machine may be slow; on one that is not, help takes a quarter of a second."""
    help_ = [sys.executable, "-m", "pointsman", "--help"]
    libraries = [sys.executable, "-c", "import typer.rich_utils"]
    subprocess.run(help_, check=True, capture_output=True)  # compiles .pyc files, once
    assert min(_cpu_s(help_) for _ in range(3)) <= 2 * min(_cpu_s(libraries) for _ in range(3))


NOT_BY_A_SIMULATION = (
    "pointsman.report.rundir",
    "pointsman.report.pages",
    "pointsman.report.figures",
    "pointsman.report.grids",
    "pointsman.report.manifest",
    "pointsman.policies.dally",
    "pointsman.policies.parts",
    "pointsman.speed.profiles.profiles",
    "pointsman.workload.readers.sacct",
    "pointsman.workload.writers",
    "pointsman.engine.run.logged",
    "matplotlib",
    "jinja2",
    "yaml",
)
"""What a simulation that writes nothing needs none of."""


def test_python_without_docstrings_is_refused(tmp_path: Path) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("submit_s,gpus,duration_s\n0,1,60\n")
    words = ["simulate", str(log), "--cluster", "2x4", "--policy", "fifo", "-o", str(tmp_path / "run")]
    done = subprocess.run([sys.executable, "-OO", "-m", "pointsman", *words], capture_output=True, text=True)
    assert done.returncode == 2 and "python -OO removes docstrings" in done.stderr, done.stderr


def test_a_simulation_imports_only_what_it_uses(tmp_path: Path) -> None:
    log = tmp_path / "log.csv"
    log.write_text("submit_s,gpus,duration_s\n0,1,3600\n60,8,7200\n")
    code = "import sys; from pointsman.cli.run import run; run(sys.argv[1:]); print(*sys.modules, file=sys.stderr)"
    words = ["simulate", str(log), "--cluster", "2x4", "--policy", "fifo"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, check=True)
    assert "makespan" in done.stdout
    assert set(done.stderr.split()).isdisjoint(NOT_BY_A_SIMULATION)


def test_a_command_looks_for_no_rubbish_as_it_leaves() -> None:
    said = "atexit.register(lambda: print(gc.get_freeze_count()))"
    code = f"import atexit, gc; {said}; from pointsman.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code, "version"], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) > 10_000


COMMANDS = [
    [],
    *(
        [name]
        for name in [
            "simulate",
            "sim",
            "compare",
            "suite",
            "report",
            "explain",
            "trace",
            "cluster",
            "policy",
            "warmup",
            "doctor",
            "version",
        ]
    ),
    ["suite", "run"],
    ["policy", "new"],
    ["traces", "info"],
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_has_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*command, "--help"]) == 0
    printed = capsys.readouterr()
    assert f"Usage: pointsman {' '.join(command)}".strip() in " ".join(printed.out.split())
    assert printed.err == ""


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_the_help_of_explain_names_both_uses(flag: str) -> None:
    done = pointsman("explain", flag)
    assert done.returncode == 0
    assert all(said in " ".join(done.stdout.split()) for said in ("--run", "--at", "a live cluster is asked"))


def test_explain_without_a_run_asks_a_live_cluster(tmp_path: Path) -> None:
    nowhere = {"POINTSMAN_SOCKET": str(tmp_path / "none.sock")}
    for words, code, said in [
        (["explain", "5"], 5, "no daemon answers at"),
        (["-q", "explain", "5"], 5, "no daemon answers at"),
        (["explain", "5", "--at", "+3h"], 2, "--at requires --run DIR: of a live cluster, only the present"),
    ]:
        done = pointsman(*words, env=nowhere)
        assert (done.returncode, done.stdout) == (code, "") and said in done.stderr, words


def test_the_help_of_report_names_every_format(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--help"]) == 0
    printed = capsys.readouterr().out
    assert all(re.search(rf"\b{one.value}\b", printed) for one in screen.Format)


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["simulat"], 2, "no such command 'simulat'. Did you mean 'simulate'"),
        (["simulate", "--clster", "4x8"], 2, "no such option: --clster"),
        (["cluster", "show", "philyl"], 2, "did you mean 'philly'"),
        (["policy", "show", "fifoo"], 2, "did you mean 'fifo'"),
        (["trace", "info", "nowhere.csv"], 3, "nowhere.csv: no such file"),
    ],
)
def test_mistakes_are_one_sentence_on_stderr(args: list[str], code: int, sentence: str, command: Command) -> None:
    done = command(*args)
    assert done.code == code
    assert done.out == ""
    assert done.err.startswith("pointsman: ")
    assert sentence in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (RunError("the run failed"), 1, "the run failed"),
        (UsageError("say it differently"), 2, "say it differently"),
        (InputError("no", path="a.csv", line=7, fix="yes"), 3, "a.csv:7: no (yes)"),
        (ThresholdError("worse"), 4, "worse"),
        (BackendError("away"), 5, "away"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device", "out/jobs.parquet"), 1, "out/jobs.parquet: No space left on device"),
        (MemoryError(), 1, "out of memory"),
        (ZeroDivisionError("division by zero"), 1, "a bug in Pointsman: ZeroDivisionError: division by zero (--debug"),
    ],
)
def test_every_way_to_fail_has_its_exit_code(
    error: BaseException, code: int, sentence: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(name: str) -> None:
        raise error

    monkeypatch.setattr("pointsman.policies.registry.get_policy", fails)
    assert run(["policy", "show", "fifo"]) == code
    printed = capsys.readouterr()
    assert sentence in printed.err
    assert (printed.out, printed.err.count("\n")) == ("", 1)


def test_debug_shows_where_an_error_comes_from() -> None:
    done = pointsman("policy", "show", "fifoo", "--debug")
    assert "Traceback" in done.stderr
    assert "UsageError" in done.stderr


def test_common_flags_may_stand_anywhere() -> None:
    assert globals_first(["sim", "x", "-q", "--debug", "--", "-v"]) == ["-q", "--debug", "sim", "x", "--", "-v"]


def test_version(command: Command) -> None:
    assert command("version").out == command("--version").out == f"pointsman {__version__}\n"
    assert "numba" in command("version", "-v").out


def test_a_reader_that_leaves_is_told_nothing() -> None:
    command = [sys.executable, "-m", "pointsman", "cluster", "schema"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == ""
        assert process.wait() == 1


def test_no_colour_unless_a_terminal_or_asked_for() -> None:
    assert "\x1b" not in pointsman("policy", "list").stdout
    assert "\x1b" in pointsman("policy", "list", env={"CLICOLOR_FORCE": "1"}).stdout
    assert "\x1b[3" not in pointsman("policy", "list", "--no-color", env={"CLICOLOR_FORCE": "1"}).stdout


def test_policies_in_three_formats(command: Command) -> None:
    table, data, text = (command("policy", "list", "--format", f).out for f in ("table", "json", "csv"))
    names = [row["policy"] for row in json.loads(data)]
    assert names[:4] == ["fifo", "sjf", "fifo-backfill", "sjf-backfill"]
    assert [line.split(",")[0] for line in text.splitlines()] == ["policy", *names]
    rows, _, notes = table.partition("\n\n")
    assert [line.split()[0] for line in rows.splitlines()] == [
        "policy",
        *names,
        "rounds(POLICY,EVERY)",
        "multifactor:slurm.conf",
        "file.py:Class",
    ]
    assert "oracle: the policy uses true durations; --estimate limit or lognormal:SIGMA overrides" in notes


def test_policy_show_says_what_it_is_told_and_when_it_decides(command: Command) -> None:
    shown = command("policy", "show", "rounds(srtf, 5m)").out
    assert "It uses true durations; --estimate" in shown
    assert "only at multiples of 300 s since the first submit" in shown
    assert "the log's time limits" in command("policy", "show", "easy").out
    assert "the policy that decides periodically" in command("policy", "show", "rounds").out
    rows = json.loads(command("policy", "show", "rounds", "--format", "json").out)
    assert [row["parameter"] for row in rows] == ["POLICY", "EVERY"]


def test_policy_show_describes_every_parameter(command: Command) -> None:
    shown = command("policy", "show", "tiresias").out
    for word in ("thresholds_gpu_s", "GPU-s", "3250", "NSDI 2019", "durations: none"):
        assert word in shown


@pytest.mark.parametrize("group", [[], ["trace"]])
def test_without_a_command_the_help_is_shown(group: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(group) == 2
    printed = capsys.readouterr()
    assert "Usage: pointsman" in printed.out
    assert printed.err == f"pointsman: name a command (see '{' '.join(['pointsman', *group])} --help')\n"


def test_policy_show_lists_the_words_that_a_parameter_takes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["policy", "show", "lwf", "--format", "json"]) == 0
    (choice,) = [row for row in json.loads(capsys.readouterr().out) if row["parameter"] == "choice"]
    assert choice["meaning"].endswith("[lwf, first-fit, random, list]")
