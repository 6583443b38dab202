"""Whatever becomes of figures, tables are printed, files are written, and the exit code is that of the result."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pointsman.report.figures import catalogue, files
from pointsman.report.figures.catalogue import KINDS

from .conftest import Command, Once

CASES = Path(__file__).parents[2].parent / "shared/field/cases"
CLUSTER = ("--cluster", "2x4")
FIFO = (*CLUSTER, "--policy", "fifo")
LOADS = ("--load", "0.5", "--load", "1")
BOTH = (*FIFO, "--policy", "srtf")
Paint = Callable[..., str]


@pytest.fixture(autouse=True)
def drawing(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)


@pytest.fixture
def paint(monkeypatch: pytest.MonkeyPatch) -> Callable[[Paint], None]:
    """Paints every figure of every verb so."""

    def by(paint: Paint) -> None:
        for module in (catalogue, files):
            monkeypatch.setattr(module, "KINDS", (replace(KINDS[0], paint=paint),))
        for name in (
            "report.grids.figures._paint_lines",
            "report.grids.figures._paint_cdfs",
            "report.figures.price._paint",
            "capacity.picture._paint",
        ):
            monkeypatch.setattr(f"pointsman.{name}", paint)

    return by


def fails(*_: Any) -> str:
    raise IndexError("index 0 is out of bounds")


def says_so(*_: Any) -> str:
    print("DRAWING")
    return "Nothing."


VERBS = {
    "simulate": (("simulate", "jobs.csv", *FIFO, "-o", "out"), ["1-jct-cdf"], "job completion time, mean"),
    "compare": (("compare", "jobs.csv", *BOTH, "-o", "out"), ["1-jct-cdf", "9-price"], "srtf"),
    "a grid": (
        ("compare", "jobs.csv", *BOTH, *LOADS, "-o", "out"),
        ["1a-mean-jct", "1b-mean-pending", "2-jct-cdf"],
        "srtf",
    ),
    "report": (("report", "kept", "-o", "out"), ["1-jct-cdf", "9-price"], "srtf"),
    "report of a grid": (
        ("report", "grid", "-o", "out"),
        ["1a-mean-jct", "1b-mean-pending", "2-jct-cdf"],
        "srtf",
    ),
    "files for papers": (("report", "kept", "--figures", "out"), ["1-jct-cdf"], "srtf"),
    "capacity": (("capacity", "jobs.csv", *BOTH, "-o", "out"), ["capacity"], "Target"),
}


@pytest.fixture
def kept(command: Command, jobs: str, once: Once, monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison and a grid to report on."""

    def fill() -> None:
        with monkeypatch.context() as without:
            without.setattr("pointsman.cli.screen.can_draw", lambda: False)
            assert command("compare", jobs, *BOTH, "-o", "kept").code == 0
            assert command("compare", jobs, *BOTH, *LOADS, "-o", "grid").code == 0

    once("kept", fill)


@pytest.mark.parametrize("verb", VERBS)
def test_a_figure_that_fails_is_a_sentence_and_a_note(
    verb: str, command: Command, kept: None, paint: Callable[[Paint], None]
) -> None:
    args, names, table = VERBS[verb]
    paint(fails)
    done = command(*args)
    assert (done.code, table in done.out) == (0, True), done.err
    for name in names:
        note = f"figure {name} is missing (IndexError: index 0 is out of bounds); tables and data are complete"
        assert done.err.count(note) == 1
        (text,) = Path("out").rglob(f"{name}.txt")
        assert "could not be drawn (IndexError: index 0 is out of bounds)" in text.read_text()
    assert list(Path("out").rglob("*.svg")) == []
    if verb in ("files for papers", "capacity"):
        return
    page = Path("out/report.html").read_text()
    assert page.count("This figure could not be drawn") == len(names)
    assert "could not be drawn" not in command("report", "out" if verb == "compare" else "kept").err


@pytest.mark.parametrize("verb", VERBS)
def test_results_are_printed_before_anything_is_drawn(
    verb: str, command: Command, kept: None, paint: Callable[[Paint], None]
) -> None:
    args, names, table = VERBS[verb]
    paint(says_so)
    done = command(*args)
    assert (done.code, done.out.count("DRAWING")) == (0, len(names)), done.err
    assert table in done.out.partition("DRAWING")[0]
    assert table not in done.out.rpartition("DRAWING")[2]


def test_the_exit_code_is_that_of_the_result(command: Command, jobs: str, paint: Callable[[Paint], None]) -> None:
    paint(fails)
    done = command("compare", jobs, *BOTH, "--fail-if", "jct_mean_s>0", "-o", "out")
    assert (done.code, Path("out/report.html").exists()) == (4, True), done.err
    assert "figure 1-jct-cdf is missing" not in command("-q", "compare", jobs, *BOTH, "-o", "quiet").err
    assert "in fails\n" in command("--debug", "compare", jobs, *BOTH, "-o", "shown").err
    assert "Traceback" not in done.err and "(--debug shows where)" in done.err


@pytest.mark.parametrize("case", ["crash_min.csv", "by hand"])
def test_one_job_without_a_start(case: str, command: Command) -> None:
    log = CASES / case
    if case == "by hand":
        log = Path("log.csv")
        log.write_text("submit_s,gpus,duration_s,start_s,end_s\n3,2,70,,\n4,4,60,9,69\n8,1,30,69,\n")
    elif not log.exists():
        pytest.skip(f"no {log}: the case of the field was not tried")
    done = command("compare", str(log), "--cluster", "1x8", "--policy", "fifo", "-o", "out")
    assert (done.code, "missing" in done.err) == (0, False), done.err
    assert done.out.splitlines()[3].startswith("as-logged")
    logged, fifo = json.loads(Path("out/comparison.json").read_text())["rows"]
    assert (logged["policy"], logged["jobs_counted"], fifo["jobs_counted"]) == ("as-logged", 2, 3)
    page = Path("out/report.html").read_text()
    assert page.count("<svg") == len(list(Path("out/plots").glob("*.svg"))) == 7
    assert "How many GPUs were in use is unknown of as-logged." in page


ODD = {
    "ends without starts": "0,1,100,,100\n5,8,100,,205\n6,2,50,7,57\n7,1,2,7,9\n",
    "no duration": "0,1,0,0,0\n5,8,0,5,5\n",
    "one job that never started": "0,1,100,,\n",
    "all at one instant": "5,1,100,5,105\n5,8,100,105,205\n5,2,100,,\n",
    "half of the starts": "".join(f"{k},1,100,{k if k % 2 else ''},\n" for k in range(8)),
}


@pytest.mark.parametrize("odd", ODD)
def test_odd_logs_have_a_table_and_a_page_with_every_figure(odd: str, command: Command) -> None:
    Path("log.csv").write_text("submit_s,gpus,duration_s,start_s,end_s\n" + ODD[odd])
    done = command("compare", "log.csv", "--cluster", "1x8", "--policy", "fifo", "-o", "out")
    assert (done.code, "missing" in done.err, Path("out/report.html").exists()) == (0, False, True), done.err
    assert list(Path("out/plots").glob("*.txt")) == []


def test_names_of_people_are_text_in_figures(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not mathematics, not markup, not hidden; characters that no SVG may hold are replaced."""
    monkeypatch.setattr(catalogue, "KINDS", [kind for kind in KINDS if kind.name == "5b-tenants"])
    names = ["_svc", "$x_{", "others", "\u4e2d\u6587", "a<b>&", "u" * 300, "bell\x07"]
    rows = [f'{k},2,100,"{name}",{k},{k + 100}' for k, name in enumerate(names)]
    Path("log.csv").write_text("submit_s,gpus,duration_s,user,start_s,end_s\n" + "\n".join(rows))
    done = command("compare", "log.csv", "--cluster", "2x8", "--policy", "fifo", "-o", "out")
    assert (done.code, "arning" in done.err, "missing" in done.err) == (0, False, False), done.err
    svg = Path("out/plots/5b-tenants.svg").read_text()
    for shown in ("_svc", "$x_{", "a&lt;b&gt;&amp;", "bell\N{REPLACEMENT CHARACTER}"):
        assert shown in svg


def test_a_baseline_that_the_log_cannot_be_is_replaced_after_the_runs(
    command: Command, paint: Callable[[Paint], None]
) -> None:
    """Whether gangs are reduced is known when the runs are over, which must not be lost."""
    paint(says_so)
    Path("log.csv").write_text("submit_s,gpus,duration_s,start_s,end_s\n0,9,100,0,100\n5,1,100,5,105\n")
    given = ("compare", "log.csv", *BOTH, "--oversized", "clamp", "--baseline", "as-logged")
    done = command(*given, "-o", "out")
    assert (done.code, "the baseline is the first policy instead" in done.err) == (0, True), done.err
    assert Path("out/report.html").exists() and "Baseline: fifo." in done.out
    checked = command(*given, "--fail-if", "jct_mean_s>+5%", "-o", "checked")
    assert (checked.code, "--fail-if was not checked" in checked.err) == (2, True)
    assert Path("checked/report.html").exists() and "Baseline: fifo." in checked.out


def test_a_baseline_that_the_log_is_known_not_to_be_is_refused_before(command: Command) -> None:
    Path("log.csv").write_text("submit_s,gpus,duration_s,start_s,end_s\n0,1,9,0,9\n5,1,9,,\n6,1,9,,\n")
    done = command("compare", "log.csv", *BOTH, "--baseline", "as-logged")
    said = "--baseline as-logged: the log says of 1 of 3 jobs only when they started"
    assert (done.code, said in done.err, done.out) == (2, True, "")
    assert "replay" not in done.err
