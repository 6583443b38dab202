"""``compare --price``: what the gain is where a preempted job loses its work since its last checkpoint.

One GPU. Job a (100 s) is submitted at 0, job b (10 s) at 50. `fifo` runs a, then b: JCTs 100 and 60, mean 80.
`srtf` preempts a, which has 50 s left, for b, and a goes on at 60:

    every    a loses    a ends    JCTs       mean    to fifo
    0         0          110      110, 10    60      -25 %
    40 s     10          120      120, 10    65      -18.75 %
    60 s     50          160      160, 10    85      + 6.25 %

so that on a straight line from 40 to 60 s it breaks even at 55 s.
"""

import csv
import json
import re
from pathlib import Path

import pytest

from pointsman.report import read_repeated

from .conftest import Command

FREE = ("--overheads", "none", "--cluster", "1x1", "--policy", "fifo", "--policy", "srtf")


@pytest.fixture
def two(tmp_path: Path) -> str:
    path = tmp_path / "two.csv"
    path.write_text("job_id,submit_s,gpus,duration_s\na,0,1,100\nb,50,1,10\n", encoding="utf-8")
    return str(path)


def points(path: Path) -> dict[tuple[str, float], dict[str, str]]:
    with path.open(encoding="utf-8") as lines:
        return {(row["policy"], float(row["checkpoint_every_s"])): row for row in csv.DictReader(lines)}


def test_means_are_those_worked_by_hand(command: Command, two: str) -> None:
    done = command("compare", two, *FREE, "--price", "40,0,1m", "--format", "json")
    assert done.code == 0, done.err
    found = {(p["policy"], p["checkpoint_every_s"]): p for p in json.loads(done.out)["price"]}
    means = {at: point["jct_mean_s"] for at, point in found.items()}
    assert means == {
        ("fifo", 0.0): 80, ("srtf", 0.0): 60, ("fifo", 40.0): 80, ("srtf", 40.0): 65, ("fifo", 60.0): 80,
        ("srtf", 60.0): 85,
    }  # fmt: skip
    assert found["srtf", 60.0]["jct_mean_s_change"] == pytest.approx(0.0625)
    assert found["srtf", 60.0]["lost_gpu_hours"] == pytest.approx(50 / 3600)


def test_the_break_even_is_between_two_intervals(command: Command, two: str) -> None:
    said = " ".join(command("compare", two, *FREE, "--price", "40,60").out.split())
    assert "srtf is ahead of fifo up to about 55 s between checkpoints." in said
    said = " ".join(command("compare", two, *FREE, "--price", "10,40").out.split())
    assert "srtf is ahead of fifo at every interval between checkpoints, up to 40 s." in said
    said = " ".join(command("compare", two, *FREE, "--baseline", "srtf", "--price", "40").out.split())
    assert "fifo is not ahead of srtf at any interval between checkpoints, up to 40 s." in said


def test_one_that_preempts_less_may_be_ahead_at_long_intervals_only(command: Command, two: str) -> None:
    """Of `fifo` to `srtf`: +33 % at 0 s, +23 % at 40 s, -6 % at 60 s, and at 50 s, where a loses nothing, +33 %."""
    said = " ".join(command("compare", two, *FREE, "--baseline", "srtf", "--price", "0,60").out.split())
    assert "fifo is ahead of srtf only from about 51 s between checkpoints on." in said
    said = " ".join(command("compare", two, *FREE, "--baseline", "srtf", "--price", "45,49,50").out.split())
    assert "at any interval" in said
    said = " ".join(command("compare", two, *FREE, "--baseline", "srtf", "--price", "20,25,45,60").out.split())
    assert "only from about 57 s between checkpoints on." in said


def test_a_lead_at_each_of_whose_intervals_chance_suffices_is_said_to_be_so(command: Command, tmp_path: Path) -> None:
    """Twenty jobs for an interval: at 60 s only `a` gains under `fifo`, and some resamples lack it."""
    rows = ["a,0,1,100", "b,50,1,10", *(f"c{k},{1000 * (k + 1)},1,10" for k in range(20))]
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(["job_id,submit_s,gpus,duration_s", *rows]), encoding="utf-8")
    said = " ".join(command("compare", str(path), *FREE, "--baseline", "srtf", "--price", "0,60").out.split())
    assert "checkpoints on; this may be chance." in said


def test_a_later_lead_that_may_be_chance_is_said_to_be_so(command: Command, tmp_path: Path) -> None:
    """Of each pair, `srtf` preempts a after 190 s, of every fourth after 131 s, and saves 50 s less what a loses. With
    a checkpoint every 100 s it loses 90 s or 31 s, every 130 s 60 s or 1 s: then few pairs gain, and some resamples
    lack them.
    """
    rows = []
    for k in range(20):
        submit_s, run_s = 1000 * k, 190 if k % 4 else 131
        rows += [f"a{k},{submit_s},1,{run_s + 60}", f"b{k},{submit_s + run_s},1,10"]
    path = tmp_path / "jobs.csv"
    path.write_text("\n".join(["job_id,submit_s,gpus,duration_s", *rows]), encoding="utf-8")
    said = " ".join(command("compare", str(path), *FREE, "--price", "0,100,130").out.split())
    assert "between checkpoints, and again at 2.17 min, which may be chance." in said


def test_names_of_intervals_are_not_printed_over_each_other(
    command: Command, two: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    out = tmp_path / "out"
    command("compare", two, *FREE, "--price", "0,1m,30m,6h", "-o", str(out))
    drawn = (out / "plots" / "9-price.svg").read_text(encoding="utf-8")
    assert ("nothing lost" in drawn, "1 min" in drawn, "6 h" in drawn) == (True, False, True)


def test_what_every_preemption_loses_is_in_the_first_column(command: Command, two: str, tmp_path: Path) -> None:
    costs = tmp_path / "costs.yaml"
    costs.write_text("lost_s: 5\n", encoding="utf-8")
    said = " ".join(command("compare", two, *FREE[2:], "--overheads", str(costs), "--price", "40").out.split())
    assert "policy 5 s lost every 40 s" in said
    assert "half an interval on average, and 5 s besides." in said


def test_without_preemption_there_is_no_price(command: Command, two: str) -> None:
    found = json.loads(command("compare", two, "--cluster", "2x1", *FREE[4:], "--price", "1h", "--format", "json").out)
    assert "price" not in found
    assert "price" not in json.loads(command("compare", two, *FREE, "--price", "0", "--format", "json").out)


def test_the_page_and_the_directory_have_it_by_default(
    command: Command, two: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    out = tmp_path / "out"
    assert command("compare", two, *FREE, "-o", str(out)).code == 0
    rows = points(out / "price.csv")
    assert {interval for _, interval in rows} == {0.0, 3600.0, 14400.0}
    assert float(rows["srtf", 3600.0]["jct_mean_s"]) == 85  # no checkpoint within 50 s
    page = (out / "report.html").read_text(encoding="utf-8")
    assert '<h2 id="price">The price of preemption</h2>' in page
    assert (out / "plots" / "9-price.svg").is_file()
    assert sorted(p.name for p in (out / "price").iterdir()) == ["14400s", "3600s"]
    assert {s: len(found) for s, found in read_repeated(out).items()} == {3600.0: 1, 14400.0: 1}


def test_a_report_of_the_directory_has_it_too(command: Command, two: str, tmp_path: Path) -> None:
    out, again = tmp_path / "out", tmp_path / "again"
    command("compare", two, *FREE, "--price", "40,60", "-o", str(out))
    assert command("report", str(out), "-o", str(again)).code == 0
    assert (again / "price.csv").read_bytes() == (out / "price.csv").read_bytes()


def test_by_default_no_more_runs_are_added_than_there_are(command: Command, jobs: str, tmp_path: Path) -> None:
    """Four runs of a seed have room for two policies at two more intervals; `gandiva` has the highest mean of three."""
    names = ("fifo", "gandiva", "srtf", "rounds(srtf,10)")
    policies = [word for name in names for word in ("--policy", name)]
    out = tmp_path / "out"
    said = " ".join(command("compare", jobs, "--cluster", "2x4", *policies, "-o", str(out)).out.split())
    rows = points(out / "price.csv")
    assert {policy for policy, _ in rows} == {"fifo", "srtf", "rounds(srtf,10)"}, said
    assert len(list((out / "price").glob("*/*"))) == 4
    assert "Not simulated: gandiva; --price simulates every policy." in said
    command("compare", jobs, "--cluster", "2x4", *policies, "-o", str(out), "--force", "--price", "0,1h,4h")
    assert {policy for policy, _ in points(out / "price.csv")} == set(names)


def test_by_default_one_seed_is_enough(command: Command, two: str, tmp_path: Path) -> None:
    said = command("compare", two, *FREE, "--seeds", "0-1", "-o", str(tmp_path / "out")).out
    assert "Only one run of each policy was simulated, with seed 0; --price simulates all." in " ".join(said.split())
    assert {row["seeds"] for row in points(tmp_path / "out" / "price.csv").values()} == {"0"}
    command("compare", two, *FREE, "--seeds", "0-1", "-o", str(tmp_path / "all"), "--price", "1h")
    assert {row["seeds"] for row in points(tmp_path / "all" / "price.csv").values()} == {"0 1"}


def test_by_default_one_workload_is_enough(command: Command, here: Path) -> None:
    like = ("--like", "philly", "--jobs", "60", "--cluster", "2x4", "--load", "0.9", "--seed", "7")
    command("trace", "generate", *like, "-o", "drawn.parquet")
    done = command("compare", "drawn.parquet", "--cluster", "2x4", *FREE[4:], "--workload-seeds", "3-4", "-o", "out")
    said = " ".join(done.out.split())
    assert "Only one run of each policy was simulated, with workload seed 3 and seed 0; --price simulates all." in said


IN_PYTHON = """
class Shortest:
    name, needs = "shortest", "oracle"

    def decide(self, view):
        for job in view.pending:
            for other in view.running:
                if view.jobs["estimate"][job] < view.jobs["estimate"][other] / 2:
                    view.preempt(other)
            view.start(job)
"""


@pytest.mark.parametrize(("seeds", "intervals"), [("0", {0, 14400}), ("0-1", {0, 3600, 14400})])
def test_by_default_a_policy_in_python_is_simulated_as_often_as_before(
    command: Command, two: str, here: Path, seeds: str, intervals: set[int]
) -> None:
    Path("shortest.py").write_text(IN_PYTHON, encoding="utf-8")
    args = (*FREE[:6], "--policy", "shortest.py:Shortest", "--seeds", seeds)
    done = command("compare", two, *args, "-o", "out")
    assert done.code == 0, done.err
    assert {interval for _, interval in points(Path("out/price.csv"))} == intervals


def test_a_run_of_periodic_checkpoints_is_one_of_the_intervals(command: Command, two: str) -> None:
    args = ("compare", two, *FREE[2:], "--overheads", "periodic", "--price", "0,30m", "--format", "json")
    found = json.loads(command(*args).out)
    own = {row["policy"]: row["values"]["jct_mean_s"] for row in found["rows"]}
    priced = {p["policy"]: p["jct_mean_s"] for p in found["price"] if p["checkpoint_every_s"] == 1800}
    assert priced == own


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("1h,fast", "'fast' is no duration"),
        ("-1", "'-1' is no duration"),
        ("1h,,2h", "'' is no duration"),
        ("9e9", "an interval is at most 1e+09 s"),
    ],
)
def test_bad_intervals_are_refused(command: Command, two: str, given: str, said: str) -> None:
    done = command("compare", two, *FREE, f"--price={given}")
    assert (done.code, said in done.err) == (2, True), done.err


def test_a_grid_has_no_price(command: Command, two: str) -> None:
    done = command("compare", two, *FREE, "--cluster", "2x1", "--price", "1h")
    assert (done.code, "--price takes one value of --cluster" in done.err) == (2, True), done.err


def test_finished_runs_are_not_made_again(command: Command, two: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    command("compare", two, *FREE, "--price", "40,60", "-o", str(out))
    before = (out / "price" / "40s" / "srtf_s0" / "jobs.parquet").read_bytes()
    command("compare", two, *FREE, "--price", "40,60", "-o", str(out), "--force", "--workers", "2")
    assert (out / "price" / "40s" / "srtf_s0" / "jobs.parquet").read_bytes() == before


def test_a_report_counts_the_jobs_that_the_comparison_does(command: Command, two: str, tmp_path: Path) -> None:
    out, again, whole = tmp_path / "out", tmp_path / "again", tmp_path / "whole"
    command("compare", two, *FREE, "--price", "40", "--window", "30s:", "-o", str(out))
    command("report", str(out), "-o", str(again))
    command("report", str(out), "-o", str(whole), "--window", "0:")
    for name in ("comparison.csv", "price.csv"):
        assert (again / name).read_bytes() == (out / name).read_bytes() != (whole / name).read_bytes()


def test_the_lead_names_who_is_lowest_where_preemption_loses_work(
    command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`srtf` has the lowest mean where nothing is lost, `sjf-backfill`, which does not preempt, elsewhere."""
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    policies = [word for name in ("fifo", "sjf-backfill", "srtf") for word in ("--policy", name)]
    command("compare", jobs, "--cluster", "2x4", *policies, "--price", "30,60", "-o", "out")
    (lead,) = re.findall(r'<p class="lead">(.*?)</p>', Path("out/report.html").read_text(encoding="utf-8"), re.DOTALL)
    assert "srtf is ahead of fifo at every interval between checkpoints, up to 1 min." in lead
    assert "with a checkpoint every 30 s and a checkpoint every 1 min is that of sjf-backfill." in lead
