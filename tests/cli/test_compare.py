import csv
import io
import json
import re
from pathlib import Path

import pytest
import yaml

from pointsman.cli.experiment import parse_seeds
from pointsman.errors import UsageError
from pointsman.report.figures.catalogue import KINDS

from .conftest import Command

TWO = ("--cluster", "2x4", "--policy", "fifo", "--policy", "srtf")


def test_policies_stand_side_by_side_against_the_first(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *TWO, "--format", "json")
    assert done.code == 0, done.err
    compared = json.loads(done.out)
    assert compared["baseline"] == "fifo"
    fifo, srtf = compared["rows"]
    assert srtf["values"]["jct_mean_s"] < fifo["values"]["jct_mean_s"]
    change = srtf["differences"]["jct_mean_s"]
    assert change["value"] == pytest.approx(srtf["values"]["jct_mean_s"] - fifo["values"]["jct_mean_s"])


def test_the_baseline_can_be_chosen(command: Command, jobs: str) -> None:
    assert (
        json.loads(command("compare", jobs, *TWO, "--baseline", "srtf", "--format", "json").out)["baseline"] == "srtf"
    )
    done = command("compare", jobs, *TWO, "--baseline", "las")
    assert (done.code, "the baseline 'las' is not among the policies compared (fifo, srtf)" in done.err) == (2, True)


def test_all_are_the_built_in_policies(command: Command, jobs: str) -> None:
    given = yaml.safe_load(command("compare", jobs, "--cluster", "2x4", "--policy", "all", "--dry-run").out)
    names = [policy["name"] for policy in given["spec"]["policies"]]
    first = ["fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "conservative", "multifactor", "kueue"]
    assert names[:8] == first
    dally = [f"dally{part}" for part in ("", "-manual", "-nowait", "-consolidated", "-nopreempt", "-whole-nodes")]
    gandiva, sharing = ["gandiva", "gandiva-packing"], ["sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs"]
    placers = ["lb", "tetris-place", "lif", "packed", "packed-lif", "packed-patience", "scorer", "random-place"]
    assert names[8:] == [
        "srtf",
        "las",
        "tiresias",
        "tiresias-skew",
        *gandiva,
        *dally,
        "gittins",
        *sharing,
        "pick-place",
        "pick-place-sjf",
        *placers,
    ]


def test_seeds_are_paired_and_processes_change_nothing(command: Command, jobs: str) -> None:
    given = (*TWO, "--seeds", "0-2", "--estimate", "lognormal:1", "--format", "json")
    alone, together = (command("compare", jobs, *given, "--workers", n) for n in ("1", "2"))
    assert alone.code == together.code == 0, together.err
    tables = [json.loads(done.out) for done in (alone, together)]
    for table in tables:
        for row in table["rows"]:
            assert row["seeds"] == [0, 1, 2]
            for figures in (row["values"], row["differences"]):
                del figures["engine_s"], figures["decisions_per_s"]
    assert tables[0] == tables[1]


def test_csv_has_a_row_for_each_policy(command: Command, jobs: str) -> None:
    rows = list(csv.DictReader(io.StringIO(command("compare", jobs, *TWO, "--format", "csv").out)))
    assert [row["policy"] for row in rows] == ["fifo", "srtf"]


def test_a_threshold_that_comes_true_is_exit_code_4_and_the_results_are_there(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *TWO, "--fail-if", "jct_mean_s<-1%", "-o", "out")
    assert done.code == 4
    assert "jct_mean_s<-1% came true" in done.err
    assert Path("out/comparison.json").exists()
    assert command("compare", jobs, *TWO, "--fail-if", "jct_mean_s>+5%").code == 0


def test_a_condition_that_cannot_be_read_is_refused_before_the_run(command: Command) -> None:
    done = command("compare", "not-even-looked-at.csv", *TWO, "--fail-if", "jct_mean>5")
    assert (done.code, "does not name a metric of comparisons" in done.err) == (2, True)


def test_the_first_difference_is_shown_with_both_decisions(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *TWO, "--first-divergence")
    assert done.code == 0, done.err
    parting = done.out[done.out.index("fifo and srtf: they part") :].splitlines()
    assert parting[1].startswith("  fifo: ")
    assert parting[2].startswith("  srtf: ")
    assert "j0 is RUNNING, it holds 6 GPUs on" in parting[1]
    assert "its next decision is START j1" in parting[1]
    assert "PREEMPT j0" in parting[2]
    assert "at 10.000 s (Evicted: it makes room for a job that goes first)" in parting[2]


def test_a_job_that_only_one_policy_starts_is_pending_for_a_reason(command: Command, jobs: str) -> None:
    """The baseline decides nothing at that instant, so it is asked what it thinks of the job."""
    two = ("--cluster", "2x4", "--policy", "fifo", "--policy", "fifo-backfill")
    done = command("compare", jobs, *two, "--baseline", "fifo-backfill", "--first-divergence")
    assert done.code == 0, done.err
    parting = done.out[done.out.index("fifo-backfill and fifo: they part 20 s") :].splitlines()
    assert parting[1].startswith("  fifo-backfill: START j2 (2 GPUs on ")
    assert "fifo: j2 is PENDING (Priority), it would fit, but job j1 is ahead of it" in parting[2]
    done = command("compare", jobs, *two, "--first-divergence", "--format", "json")
    assert json.loads(done.out)["baseline"] == "fifo", "data alone on stdout"
    assert "they part" in done.err


def test_one_policy_twice_differs_by_its_parameters(command: Command, jobs: str) -> None:
    Path("e.yaml").write_text(
        yaml.safe_dump(
            {
                "apiVersion": "pointsman/v1",
                "kind": "Experiment",
                "metadata": {"name": "margins"},
                "spec": {
                    "trace": jobs,
                    "cluster": "2x4",
                    "policies": ["srtf", {"name": "srtf", "params": {"margin_s": 1000}}],
                },
            }
        )
    )
    done = command("compare", "-c", "e.yaml", "--format", "json")
    assert done.code == 0, done.err
    labels = [row["policy"] for row in json.loads(done.out)["rows"]]
    assert labels == ["srtf (margin_s=0.0)", "srtf (margin_s=1000.0)"]


def test_simulate_makes_one_run_only(command: Command, jobs: str) -> None:
    Path("e.yaml").write_text(command("compare", jobs, *TWO, "--dry-run").out)
    done = command("simulate", "-c", "e.yaml")
    assert (done.code, "use 'pointsman compare'" in done.err) == (2, True)


def test_runs_can_be_reported_on_later(command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command("compare", jobs, *TWO, "-o", "both").code == 0
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "las", "-o", "third").code == 0
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    monkeypatch.setattr("pointsman.report.figures.catalogue.KINDS", KINDS[:1])
    done = command("report", "both", "third", "-o", "three", "--format", "json")
    assert done.code == 0, done.err
    assert [row["policy"] for row in json.loads(done.out)["rows"]] == ["fifo", "srtf", "las"]
    assert "report: three/report.html" in done.err
    assert "<html" in Path("three/report.html").read_text()


@pytest.mark.parametrize(
    ("args", "code", "sentence"),
    [
        (["nowhere"], 3, "no run found"),
        (["both", "--window", "x"], 2, "--window: 'x' is no window"),
        (["both", "both"], 2, "occurs twice"),
        (["both", "--baseline", "las"], 2, "baseline 'las' is not among"),
    ],
)
def test_mistakes_in_reports(args: list[str], code: int, sentence: str, command: Command, jobs: str) -> None:
    assert command("compare", jobs, *TWO, "-o", "both", "-q").code == 0
    done = command("report", *args)
    assert (done.code, sentence in done.err, done.out) == (code, True, "")


@pytest.mark.parametrize(("text", "seeds"), [("3", [3]), ("0-2", [0, 1, 2]), ("5,1-2", [5, 1, 2])])
def test_seeds(text: str, seeds: list[int]) -> None:
    assert parse_seeds(text) == seeds


def test_too_many_seeds_are_counted_before_they_are_made() -> None:
    with pytest.raises(UsageError, match="names 4,000,000,001 seeds; give at most 10,000"):
        parse_seeds("0-4000000000")


@pytest.mark.parametrize("text", ["", "a", "1-", "5-2", "-1", "1;2", "1-b", "9" * 5000])
def test_no_seeds(text: str) -> None:
    with pytest.raises(UsageError, match="no list of seeds"):
        parse_seeds(text)


def test_a_change_needs_something_to_compare_with(command: Command, jobs: str) -> None:
    done = command("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--fail-if", "jct_mean_s>+5%")
    assert (done.code, "needs a second policy" in done.err) == (2, True)


def test_seeds_on_which_nothing_depends_are_not_taken_for_repeats(command: Command) -> None:
    """On a fixed log every seed gives the same run: an interval over seeds would have no width."""
    lines = [f"{10 * i},{1 + i % 8},{100 + 17 * i % 60}" for i in range(40)]
    Path("forty.csv").write_text("\n".join(["submit_s,gpus,duration_s", *lines]))
    done = command("compare", "forty.csv", *TWO, "--seeds", "0-2")
    assert (done.code, "Intervals: block bootstrap over the jobs, because nothing depends on the seed" in done.out) == (
        0,
        True,
    )
    rows = json.loads(command("compare", "forty.csv", *TWO, "--seeds", "0-2", "--format", "json").out)["rows"]
    assert [row["jobs_counted"] for row in rows] == [40, 40]
    low, high = rows[1]["differences"]["jct_mean_s"]["interval"]
    assert low < high


def test_runs_of_different_logs_are_not_put_side_by_side(command: Command, jobs: str) -> None:
    Path("other.csv").write_text("submit_s,gpus,duration_s\n0,1,10\n5,2,20\n")
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "-o", "a").code == 0
    assert command("simulate", "other.csv", "--cluster", "2x4", "--policy", "srtf", "-o", "b").code == 0
    done = command("report", "a", "b")
    assert (done.code, "srtf and fifo did not run the same jobs" in done.err) == (2, True)


def test_a_policy_of_a_file_goes_by_its_name(command: Command, jobs: str) -> None:
    assert command("policy", "new", "mine").code == 0
    own = str(Path("mine.py").resolve()) + ":Mine"
    done = command(
        "compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", own, "--baseline", "Mine", "-o", "out"
    )
    assert done.code == 0, done.err
    assert "Baseline: mine." in done.out
    assert str(Path.cwd()) not in done.out
    assert json.loads(Path("out/comparison.json").read_text())["baseline"] == "mine"


def test_the_window_that_is_counted_is_said_under_the_table(command: Command, jobs: str) -> None:
    assert "Counted" not in command("compare", jobs, *TWO).out
    done = command("compare", jobs, *TWO, "--window", "15s:40s")
    assert "Counted are the 3 of 6 jobs submitted between 15 s and 40 s after the first." in done.out


def test_a_report_of_runs_counts_what_they_count(command: Command, jobs: str) -> None:
    window = ("--window", "15s:40s")
    for policy in ("fifo", "srtf"):
        command("simulate", jobs, "--cluster", "2x4", "--policy", policy, *window, "-o", policy)
    command("simulate", jobs, "--cluster", "2x4", "--policy", "las", "-o", "las")
    said = "Counted are the 3 of 6 jobs submitted between 15 s and 40 s after the first."
    assert said in command("report", "fifo").out
    assert said in command("report", "fifo", "srtf").out
    assert said not in command("report", "fifo", "las").out, "which count other jobs"
    assert said not in command("report", "fifo", "--window", "0:").out


def test_no_word_is_doubled(command: Command, here: Path) -> None:
    made = command(
        "trace", "generate", "--like", "philly", "--jobs", "20", "--cluster", "2x4", "--load", "0.5", "-o", "j.csv"
    )
    assert made.err.splitlines()[0] == "generated like philly"
    assert command("trace", "info", "j.csv").out.splitlines()[0] == "j.csv (format csv)"


@pytest.fixture
def one_figure(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are written, with one figure."""
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    monkeypatch.setattr("pointsman.report.figures.catalogue.KINDS", KINDS[:1])


@pytest.mark.usefixtures("one_figure")
def test_the_page_says_how_to_ask_about_the_jobs_that_fare_worst(
    command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("compare", str(Path(jobs).absolute()), *TWO, "-o", "both").code == 0
    assert command("report", "both", "-o", "again").code == 0
    assert "pointsman explain" not in Path("again/report.html").read_text(), "the runs are not beside that page"
    monkeypatch.chdir("both")
    text = Path("report.html").read_text().replace("\xa0", " ")
    asked = re.findall(r"pointsman (explain \S+ --run runs/\w+ --at [+\w.]+)", text)
    assert len(asked) == 3, "the longest wait under both, and the job that srtf preempts most"
    for each in asked:
        done = command(*each.split())
        assert done.code == 0 and "PENDING" in done.out, f"{each}: {done.out}{done.err}"


def test_tables_for_documents(command: Command, jobs: str) -> None:
    markdown, latex = (command("compare", jobs, *TWO, "--format", name).out for name in ("markdown", "latex"))
    assert next(line for line in markdown.splitlines() if line.startswith("| ")).startswith("| policy | ")
    assert latex.count(r"\begin{tabular}") == latex.count(r"\bottomrule") == 1
    told = command("trace", "info", jobs, "--format", "latex")
    assert told.out.startswith(r"\begin{tabular}{lr}") and "rows read" in told.err


def test_figures_of_a_run_in_the_formats_that_are_named(
    command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.report.figures.files.KINDS", KINDS[:2])  # each takes a second
    assert command("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "srtf", "-o", "out").code == 0
    done = command("report", "out", "--figures", "figures", "--format", "pdf,png")
    assert done.code == 0, done.err
    assert {path.suffix for path in Path("figures").iterdir()} == {".pdf", ".png"}
    assert done.out.startswith("Overheads: none\n\npolicy"), "and the table"
    assert command("report", "out", "--format", "json").out.startswith("{")
    for args, said in (((), "with --figures of pdf, svg, png"), (("--figures", "more"), "figures are pdf, svg, png")):
        wrong = command("report", "out", *args, "--format", "gif")
        assert (wrong.code, said in wrong.err) == (2, True), wrong.err
    assert not Path("more").exists()
    inside = command("report", "out", "--figures", "out")
    assert (inside.code, "out: that is a results directory" in inside.err) == (2, True), inside.err


def test_a_timeline_of_one_run(command: Command, jobs: str) -> None:
    assert command("compare", jobs, *TWO, "-o", "out").code == 0
    several = command("report", "out", "--timeline", "run.json")
    assert (several.code, "name one in out, such as out/runs/fifo_s0" in several.err) == (2, True), several.err
    both = command("report", "out/runs/fifo_s0", "out/runs/srtf_s0", "--timeline", "run.json")
    assert (both.code, "give one of these 2, such as out/runs/fifo_s0" in both.err) == (2, True), both.err
    done = command("report", "out/runs/srtf_s0", "--timeline", "run.json")
    assert done.code == 0 and "timeline: run.json (open it with" in done.err and "srtf" in done.out, done.err
    assert any(entry["ph"] == "X" for entry in json.loads(Path("run.json").read_text())["traceEvents"])
    again = command("report", "out/runs/srtf_s0", "--timeline", "run.json")
    assert (again.code, "run.json: exists already" in again.err) == (2, True), again.err
    assert command("report", "out/runs/srtf_s0", "--timeline", "run.json", "--force").code == 0
    assert command("report", "out", "-o", "page").code == 0
    bare = command("report", "page", "--timeline", "run.json", "--force")
    assert (bare.code, "a comparison without its runs" in bare.err) == (2, True), bare.err


def test_a_run_without_events_has_no_timeline(command: Command, jobs: str) -> None:
    assert command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "--no-log", "-o", "out").code == 0
    done = command("report", "out", "--timeline", "run.json", "-o", "page")
    assert (done.code, "run again without --no-log" in done.err) == (2, True), done.err
    assert done.out == "" and not Path("run.json").exists() and not Path("page").exists()


@pytest.mark.usefixtures("one_figure")
def test_the_page_says_how_to_draw_the_timeline_of_a_run(
    command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for verb, options, place in (("compare", TWO, "both"), ("simulate", TWO[:4], "one")):
        assert command(verb, jobs, *options, "-o", place).code == 0
    for place in ("both", "one"):
        monkeypatch.chdir(place)
        asked = re.search(r"<code>pointsman (report \S+ --timeline \S+)</code>", Path("report.html").read_text())
        assert asked is not None
        assert command(*asked[1].split()).code == 0
        monkeypatch.chdir("..")
    assert command("report", "both", "-o", "again").code == 0
    assert "--timeline" not in Path("again/report.html").read_text(), "the runs are not beside that page"
