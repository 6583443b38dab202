"""What really happened is a row of its own, wherever the log says it."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from pointsman.report.figures import catalogue
from pointsman.report.metrics.holdings import holdings
from pointsman.report.run_reading import read_run

from .conftest import Command, Once

CLUSTER = ("--cluster", "2x4")
BOTH = (*CLUSTER, "--policy", "fifo", "--policy", "easy")


def test_overtaking_that_the_policy_does_not_do_is_explained(command: Command, here: Path) -> None:
    """Half of the jobs are of a user who goes first: they start in the log before jobs submitted earlier."""
    rows = ["job_id,submit_s,gpus,duration_s,start_s,end_s"]
    for k in range(40):
        first = 20_000 + 1000 * k if k % 2 == 0 else 500 * k
        rows.append(f"j{k},{10 * k},8,400,{first},{first + 400}")
    (here / "log.csv").write_text("\n".join(rows))
    said = _explained(command, *CLUSTER, "--policy", "fifo", "--set", "overheads.start_s=0")
    assert "50.0 % of the jobs started in the log before one that was submitted earlier" in said, said
    assert "in the simulation 0.0 %" in said


@pytest.fixture
def logged(command: Command, jobs: str) -> str:
    """The jobs as `fifo-backfill` scheduled them, as a log."""
    done = command("simulate", jobs, *CLUSTER, "--policy", "fifo-backfill", "--schedule", "log.csv")
    assert (done.code, "schedule: log.csv" in done.err) == (0, True), done.err
    return "log.csv"


def _calibrated(command: Command, *args: str) -> dict:
    done = command("compare", *args, "--format", "json")
    assert done.code == 0, done.err
    return json.loads(done.out)


def _explained(command: Command, *args: str) -> str:
    return " ".join(_calibrated(command, "log.csv", *args)["calibration"]["explanations"])


COSTLY = ("--set", "overheads.start_s=7", "--set", "overheads.stop_s=3", "--set", "overheads.restore_s=2")


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("fifo-backfill", ()),
        ("easy", ("--set", "overheads.start_s=30")),
        ("srtf", COSTLY),
        ("tiresias", ("--assign-models", "0", "--seed", "3")),
        ("gandiva", ("--oversized", "drop")),
    ],
)
@pytest.mark.parametrize("ending", ["csv", pytest.param("parquet", marks=pytest.mark.slow)])
def test_a_run_that_is_read_back_as_a_log_is_reproduced_exactly(
    command: Command, once: Once, policy: str, options: tuple[str, ...], ending: str
) -> None:
    reproduced(command, once, policy, options, ending)


def test_so_is_one_in_parquet(command: Command, once: Once) -> None:
    reproduced(command, once, "srtf", COSTLY, "parquet")


def reproduced(command: Command, once: Once, policy: str, options: tuple[str, ...], ending: str) -> None:
    """The jobs are drawn once."""

    def generate() -> None:
        made = command(
            "trace", "generate", "--like", "philly", "--jobs", "150", "--cluster", "4x8", "--load", "1.3",
            "-o", "jobs.csv",
        )  # fmt: skip
        assert made.code == 0, made.err

    once("philly", generate)
    given = ("--cluster", "4x8", "--policy", policy, *options)
    given = given if "--oversized" in options else (*given, "--oversized", "clamp")
    assert command("simulate", "jobs.csv", *given, "--schedule", f"log.{ending}").code == 0
    compared = _calibrated(command, f"log.{ending}", *given)
    assert [row["policy"] for row in compared["rows"]] == ["as-logged", policy]
    (fit,) = compared["calibration"]["fits"]
    exact = {"later_p10_s": 0, "later_p50_s": 0, "later_p90_s": 0, "apart_mean_s": 0, "jct_apart_mean_s": 0}
    assert {name: fit[name] for name in exact} == exact
    assert (fit["wait"], fit["jct"], fit["reproduced_ratio"]) == (fit["wait_logged"], fit["jct_logged"], 1)
    assert fit["wait"]["p90"] > 0, "jobs wait, or there is nothing to reproduce"
    assert compared["calibration"]["explanations"] == []


def test_it_is_first_and_the_first_policy_is_the_baseline(command: Command, logged: str) -> None:
    compared = _calibrated(command, logged, *BOTH)
    assert compared["baseline"] == "fifo"
    assert [row["policy"] for row in compared["rows"]] == ["as-logged", "fifo", "easy"]
    assert compared["rows"][0]["knowledge"] == "recorded"
    chosen = _calibrated(command, logged, *BOTH, "--baseline", "easy")
    assert [row["policy"] for row in chosen["rows"]] == ["as-logged", "easy", "fifo"]
    against_it = _calibrated(command, logged, *BOTH, "--baseline", "as-logged")
    assert (against_it["baseline"], against_it["rows"][0]["policy"]) == ("as-logged", "as-logged")


def test_what_a_log_does_not_record_is_undefined(command: Command, logged: str) -> None:
    first, fifo, _ = _calibrated(command, logged, *BOTH)["rows"]
    untold = {name for name, value in first["values"].items() if value is None}
    assert untold >= {"preemptions", "lost_gpu_hours", "fragmentation_ratio", "comm_mean_s", "gpu_productive_ratio"}
    assert {"jct_mean_s", "wait_p90_s", "pending_p99_s", "makespan_s", "window_allocated_ratio"} & untold == set()
    assert fifo["values"]["preemptions"] == 0


def test_it_has_the_times_of_the_log(command: Command, here: Path) -> None:
    Path("log.csv").write_text(
        "submit_s,gpus,duration_s,start_s,end_s\n0,8,100,5,105\n10,4,50,205,255\n20,1,10,,\n30,1,10,40,90\n"
    )
    done = command("compare", "log.csv", *BOTH, "-o", "out", "--format", "json")
    assert done.code == 0, done.err
    jobs = pl.read_parquet("out/runs/as-logged_s0/jobs.parquet")
    assert jobs["wait_s"].to_list() == [5, 195, None, 10]
    assert jobs["jct_s"].to_list() == [105, 245, None, 60]
    assert jobs["pending_s"].to_list() == [5, 195, None, 50], "the last was interrupted for 40 s"
    assert jobs["state"].to_list() == ["COMPLETED", "COMPLETED", "UNKNOWN", "COMPLETED"]
    assert command("verify", "out").code == 0
    compared = json.loads(done.out)
    assert [fit["jobs"] for fit in compared["calibration"]["fits"]] == [3, 3]
    values = compared["rows"][0]["values"]
    assert values["wait_mean_s"] == 70
    assert values["window_allocated_ratio"] is None, "nobody knows what the third job held"


def test_the_differences_may_be_explained(command: Command, here: Path) -> None:
    rows = ["job_id,queue,priority,submit_s,gpus,duration_s,start_s,end_s"]
    rows += [f"j{i},q{i % 2},{i % 2},{10 * i},4,100,{10 * i},{10 * i + 100}" for i in range(10)]  # 40 GPUs at once
    rows += ["late,q0,0,1000,1,10,1600,1610", "broken,q0,0,1000,1,10,1000,1500"]
    Path("log.csv").write_text("\n".join(rows) + "\n")
    told = " ".join(
        _calibrated(command, "log.csv", *BOTH, "--set", "overheads.start_s=9")["calibration"]["explanations"]
    )
    assert "8 jobs (66.7 %) started in the log while this cluster has too few free GPUs: up to 40 were in use" in told
    assert "For 100.0 % of the time that jobs waited in the log, enough GPUs of this cluster were free (1 job)" in told
    assert "names 2 queues" in told
    assert "have priorities" in told
    assert "Overheads are added" in told
    assert "1 job did not run all the time" in told
    less = _explained(command, "--cluster", "20x8", *BOTH[2:])
    assert "At most 40 of the 160 GPUs were ever in use in the log" in less
    part = _explained(command, *BOTH, "--only", "queue=q0")
    assert "Only jobs with queue=q0 are replayed" in part


def test_slices_are_in_use_as_their_shares(command: Command, here: Path) -> None:
    """Fourteen sevenths and a job of two GPUs with a share, which does not count: four GPUs."""
    rows = ["job_id,submit_s,gpus,duration_s,start_s,end_s,fraction"]
    rows += [f"j{i},{i},1,1000,{i},{i + 1000},{1 / 7}" for i in range(14)]
    rows += ["wide,20,2,1000,20,1020,0.5"]
    Path("log.csv").write_text("\n".join(rows) + "\n")
    told = _explained(command, "--cluster", "1x2", "--policy", "fifo")
    assert "up to 4 were in use, and it has 2" in told
    assert "in use" not in _explained(command, "--cluster", "1x4", "--policy", "fifo")
    assert "At most 4 of the 8 GPUs were ever in use" in _explained(command, "--cluster", "1x8", "--policy", "fifo")
    done = command("compare", "log.csv", "--cluster", "1x4", "--policy", "fifo", "--gpu-sharing", "7", "-o", "out")
    assert done.code == 0, done.err
    assert command("verify", "out").code == 0


def test_the_table_is_printed_with_its_reasons(command: Command, logged: str) -> None:
    done = command("compare", logged, *CLUSTER, "--policy", "fifo")
    lines = done.out.splitlines()
    assert lines[0] == "Overheads: none"
    assert lines[3].startswith("as-logged  recorded")
    assert lines[4].startswith("fifo")
    assert "What may explain the differences:" in lines
    assert "add --policy easy" in done.err
    assert "add --policy" not in command("compare", logged, *BOTH).err


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (("--load", "0.9"), "the log's own starts and ends are left out: the submit times are no longer the log's"),
        (("--enforce-limits",), "no row as-logged: durations were cut at the time limits"),
        (
            ("--cluster", "1x4", "--oversized", "clamp"),
            "no row as-logged: GPUs of jobs were reduced to fit the cluster",
        ),
    ],
)
def test_a_notice_says_why_the_row_is_missing(
    command: Command, logged: str, options: tuple[str, ...], why: str
) -> None:
    text = Path(logged).read_text().splitlines()
    limited = [f"{line},{'time_limit_s' if i == 0 else 30}" for i, line in enumerate(text)]
    Path(logged).write_text("\n".join(limited) + "\n")
    cluster = () if "--cluster" in options else CLUSTER
    done = command("compare", logged, *cluster, *BOTH[2:], *options, "--format", "json")
    assert done.code == 0, done.err
    assert why in done.err
    assert "as-logged" not in done.out
    assert "calibration" not in json.loads(done.out)


def test_a_log_that_says_of_few_jobs_when_they_started_has_no_row(command: Command, here: Path) -> None:
    Path("log.csv").write_text("submit_s,gpus,duration_s,start_s\n0,8,100,5\n10,4,50,\n20,1,10,\n")
    done = command("compare", "log.csv", *BOTH)
    assert "no row as-logged: the log says of 1 of 3 jobs only when they started" in done.err
    assert "as-logged" not in done.out


def test_a_log_without_starts_has_no_row_and_no_notice(command: Command, jobs: str) -> None:
    done = command("compare", jobs, *BOTH)
    assert "logged" not in done.out + done.err
    done = command("compare", jobs, *BOTH, "--baseline", "as-logged")
    assert (done.code, "the log has no start times" in done.err) == (2, True)
    assert "replay" not in done.err, "refused before the runs"


def test_every_seed_has_it_and_a_threshold_is_not_for_it(command: Command, logged: str) -> None:
    given = (*BOTH, "--estimate", "lognormal:1", "--seeds", "0-2")
    first = _calibrated(command, logged, *given)["rows"][0]
    assert (first["policy"], first["seeds"]) == ("as-logged", [0, 1, 2])
    best = first["values"]["jct_mean_s"]
    fifo = _calibrated(command, logged, *CLUSTER, "--policy", "fifo")["rows"][1]["values"]["jct_mean_s"]
    assert fifo > best
    held = ("compare", logged, *CLUSTER, "--policy", "fifo", "--fail-if")
    assert command(*held, f"jct_mean_s<{(best + fifo) / 2}").code == 0, "a policy's figure is judged, not the log's"
    assert command(*held, f"jct_mean_s>{(best + fifo) / 2}").code == 4
    against = ("--baseline", "as-logged", "--fail-if", "jct_mean_s>+1%")
    assert command("compare", logged, *CLUSTER, "--policy", "fifo", *against).code == 4


def test_a_report_made_again_has_it(command: Command, logged: str) -> None:
    assert command("compare", logged, *BOTH, "-o", "out").code == 0
    again = command("report", "out", "--format", "json")
    assert (again.code, json.loads(again.out)) == (0, json.loads(Path("out/comparison.json").read_text()))


def test_simulate_says_what_happened(command: Command, logged: str) -> None:
    done = command("simulate", logged, *CLUSTER, "--policy", "fifo")
    assert "as logged: mean completion time" in done.err


def test_a_schedule_is_not_written_over(command: Command, jobs: str) -> None:
    Path("log.csv").write_text("mine")
    given = ("simulate", jobs, *CLUSTER, "--policy", "fifo", "--schedule")
    done = command(*given, "log.csv")
    assert (done.code, "log.csv: exists already" in done.err, Path("log.csv").read_text()) == (2, True, "mine")
    assert command(*given, "log.txt").code == 2
    assert command(*given, "no/log.csv").code == 2
    assert command(*given, "log.csv", "--force").code == 0


def test_the_page_has_the_section(command: Command, logged: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    shown = [kind for kind in catalogue.KINDS if kind.name in ("4-utilisation", "6-occupancy")]
    monkeypatch.setattr("pointsman.report.figures.catalogue.KINDS", shown)
    done = command("compare", logged, *CLUSTER, "--policy", "fifo", "--policy", "srtf", "-o", "out")
    assert done.code == 0, done.err
    page = Path("out/report.html").read_text()
    assert '<h2 id="calibration">Calibration</h2>' in page
    assert page.count("<h1>2 policies on log.csv</h1>") == 1
    assert "By the log&#39;s own starts and ends it was" in page
    assert "as-logged" not in Path("out/plots/6-occupancy.svg").read_text(), "a log does not say where jobs ran"
    assert "as-logged" in Path("out/plots/4-utilisation.svg").read_text()


def test_waiting_is_explained_by_the_partition_of_the_job(command: Command, here: Path) -> None:
    """Partition a is full while the second job waits; all of b is idle."""
    Path("log.csv").write_text(
        "partition,submit_s,gpus,duration_s,start_s,end_s\na,0,8,100,0,100\na,0,8,100,100,200\nb,0,1,10,0,10\n"
    )
    Path("cluster.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: two}, "
        "spec: {node_types: {big: {gpus: 8, gpu_type: v100}}, "
        "nodes: [{type: big, partitions: [a]}, {type: big, partitions: [b]}]}}"
    )
    on_both = command("compare", "log.csv", "--cluster", "cluster.yaml", "--policy", "easy", "--format", "json")
    assert "enough GPUs" not in " ".join(json.loads(on_both.out)["calibration"]["explanations"])
    without = command("compare", "log.csv", "--cluster", "2x8", "--policy", "easy", "--format", "json")
    told = " ".join(json.loads(without.out)["calibration"]["explanations"])
    assert "For 90.0 % of the time that jobs waited in the log, enough GPUs of this cluster were free" in told
    assert "The log names partitions, and the cluster none: jobs may use any node." in told


def test_what_is_many_times_as_long_is_not_told_in_percent(command: Command, here: Path) -> None:
    """In the log the second job waited for 1 s; on this cluster it waits for 999 s."""
    Path("log.csv").write_text("submit_s,gpus,duration_s,start_s,end_s\n0,8,1000,0,1000\n1,8,1000,2,1002\n")
    done = command("compare", "log.csv", "--cluster", "2x4", "--policy", "fifo", "--overheads", "none")
    assert done.code == 0, done.err
    assert "(999 times)" in done.out and "99,800" not in done.out


def test_tables_and_figures_of_places_show_where_the_log_says_that_jobs_ran(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the heat map the wide job holds two GPUs on each of its nodes; the last one's node is unknown."""
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    monkeypatch.setattr(catalogue, "KINDS", [kind for kind in catalogue.KINDS if kind.name == "6-occupancy"])
    Path("two.yaml").write_text(
        "{apiVersion: pointsman/v1, kind: Cluster, metadata: {name: two}, "
        "spec: {node_types: {big: {gpus: 4, gpu_type: v100}}, nodes: [{type: big, names: 'm[1-2]'}]}}"
    )
    Path("log.csv").write_text(
        "submit_s,gpus,duration_s,start_s,node_list\n"
        '0,4,100,0,"m[1-2]"\n1,4,50,100,m2\n2,1,10,100,m1\n3,1,10,110,old7\n400,1,10,400,m1\n'
    )
    done = command("compare", "log.csv", "--cluster", "two.yaml", "--policy", "fifo", "-o", "out")
    assert (done.code, "missing" in done.err) == (0, False), done.err
    page = Path("out/report.html").read_text()
    table = page.partition("<h3>Where jobs ran</h3>")[2].partition("</table>")[0]
    cells = [re.findall(r"<t[hd][^>]*>([^<]*)<", row) for row in table.split("<tr>")[1:]]
    assert cells[0] == ["jobs within", "as-logged", "fifo"]
    assert {row[0]: row[1] for row in cells[1:]} == {
        "one GPU": "2 (50.0\N{NO-BREAK SPACE}%)",
        "one node": "1 (25.0\N{NO-BREAK SPACE}%)",
        "nodes of a rack": "1 (25.0\N{NO-BREAK SPACE}%)",
    }
    assert "1 job ran on nodes that this cluster lacks, such as &#39;old7&#39;: locality unknown (as-logged)" in page
    assert "a job has the same number of GPUs on each of its nodes, without 1 job on unknown nodes." in page
    assert "as-logged" in Path("out/plots/6-occupancy.svg").read_text()
    held = holdings(read_run("out/runs/as-logged_s0"))
    assert held is not None
    assert held.select("row", "node", "gpus").rows() == [
        (0, 0, 2.0), (0, 1, 2.0), (1, 1, 4.0), (2, 0, 1.0), (3, None, 1.0), (4, 0, 1.0)
    ]  # fmt: skip


def test_places_that_the_log_says_of_few_jobs_are_shown_of_policies_only(
    command: Command, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: True)
    monkeypatch.setattr(catalogue, "KINDS", [kind for kind in catalogue.KINDS if kind.name == "6-occupancy"])
    Path("log.csv").write_text("submit_s,gpus,duration_s,start_s,node_list\n0,1,9,0,x\n1,1,9,1,n0\n2,1,9,2,\n")
    assert command("compare", "log.csv", *CLUSTER, "--policy", "fifo", "-o", "out").code == 0
    assert "as-logged" not in Path("out/plots/6-occupancy.svg").read_text()
