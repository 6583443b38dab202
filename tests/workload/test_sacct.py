"""Slurm's accounting as sites export it: each kind of fault in a small log of our own."""

from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError
from pointsman.workload import Workload, read_workload, write_workload
from pointsman.workload.readers.slurm_cells import is_step

HERE = Path(__file__).parent / "fixtures"
HEADER = "JobIDRaw|JobName|User|Partition|State|Submit|Start|End|ElapsedRaw|AllocTRES"
Log = Callable[[str | bytes], Path]


@pytest.fixture
def log(tmp_path: Path) -> Log:
    def write(text: str | bytes) -> Path:
        (tmp_path / "log").write_bytes(text if isinstance(text, bytes) else text.encode())
        return tmp_path / "log"

    return write


def row(number: object, name: str = "fit", *, gpus: object = 2, day: int = 3, state: str = "COMPLETED") -> str:
    """A job of an hour in May."""
    at = f"2026-05-{day:02}T"
    tres = f"cpu=4,gres/gpu={gpus},node=1"
    return f"{number}|{name}|lea|gpu|{state}|{at}06:00:00|{at}06:01:00|{at}07:01:00|3600|{tres}"


def table(*rows: str, header: str = HEADER) -> str:
    return "\n".join([header, *rows]) + "\n"


def ids(read: Workload) -> list[str]:
    return read.jobs["job_id"].to_list()


def gpu_h(read: Workload) -> float:
    return float((read.jobs["gpus"] * read.jobs["duration_s"]).sum() / 3600)


def told(read: Workload, begin: str) -> list[str]:
    return [note for note in read.quality.notes if note.startswith(begin)]


# Rows


@pytest.mark.parametrize("name", ['"', 'say "hi', '"fit"', '"fit"x', "it's", "a,b;c\td", 'x"y"'])
def test_what_looks_like_a_quote_belongs_to_the_name(log: Log, name: str) -> None:
    read = read_workload(log(table(row(11, name), row(12), row(13, name))))
    assert (ids(read), gpu_h(read), read.quality.rows_read) == (["11", "12", "13"], 6.0, 3)


@pytest.mark.parametrize("name", ["grid|lr=1", "||", "a\nb", "\n", "a\n\nb", "x|\ny|z", "802|a\nb", 'a"|"\n"'])
def test_a_name_may_have_bars_and_line_breaks(log: Log, name: str) -> None:
    read = read_workload(log(table(row(11), row(12, name, gpus=8), row(13))))
    assert (ids(read), gpu_h(read), read.quality.rows_read) == (["11", "12", "13"], 12.0, 3)
    assert told(read, "rows put together that text of users' own had torn: 1, the first in line 3")


def test_what_follows_the_last_column_is_part_of_its_text(log: Log) -> None:
    rows = [f"{row(11)}|srun sh -c 'echo a |\necho b'", f"{row(12)}|sbatch x", f"{row(13)}|a && \\\n\n  b"]
    read = read_workload(log(table(*rows, header=f"{HEADER}|SubmitLine")))
    assert (ids(read), read.quality.rows_read, read.quality.dropped) == (["11", "12", "13"], 3, {})


def test_between_two_texts_the_form_of_the_cells_decides(log: Log) -> None:
    header = "Comment|JobIDRaw|JobName|User|State|Submit|Start|ElapsedRaw|AllocTRES"
    times = "2026-05-03T06:00:00|2026-05-03T06:01:00|3600|gres/gpu=4"
    rows = [f"x|11|fit|lea|COMPLETED|{times}", f"a|b|12|c|d|lea|FAILED|{times}", f"|13||kim|COMPLETED|{times}"]
    read = read_workload(log(table(*rows, header=header)))
    assert read.jobs.select("job_id", "user").rows() == [("11", "lea"), ("12", "lea"), ("13", "kim")]


def test_a_row_that_can_be_read_in_two_ways_is_lost_and_counted(log: Log) -> None:
    header = "JobIDRaw|JobName|User|Comment|State|Submit|Start|ElapsedRaw|AllocTRES"
    times = "2026-05-03T06:00:00|2026-05-03T06:01:00|3600|gres/gpu=4"
    rows = [f"11|fit|lea|x|COMPLETED|{times}", f"12|a|lea|kim|y|COMPLETED|{times}", f"13|fit|kim|x|COMPLETED|{times}"]
    read = read_workload(log(table(*rows, header=header)))
    assert (ids(read), read.quality.dropped) == (["11", "13"], {"wrong number of cells": 1})
    assert "dropped 1: wrong number of cells (line 3)" in read.quality.render()
    rows[1] = f"12|a|b|kim|y|COMPLETED|{times}"  # there is no user b
    assert read_workload(log(table(*rows, header=header))).jobs["user"].to_list() == ["lea", "kim", "kim"]


def test_a_row_cut_short_is_lost_and_counted(log: Log) -> None:
    read = read_workload(log(table(row(11), row(12), row(13)[:50])))
    assert (ids(read), read.quality.rows_read) == (["11", "12"], 3)
    assert read.quality.places["wrong number of cells"].lines == (4,)


def test_rows_that_follow_each_other_with_a_cell_too_few_are_rows_of_their_own(log: Log) -> None:
    short = [row(n).rpartition("|")[0] for n in range(100, 1000)]
    read = read_workload(log(table(row(11), *short, row(12))))
    assert (ids(read), read.quality.dropped) == (["11", "12"], {"wrong number of cells": 900})


def test_a_bar_where_no_text_of_users_is_costs_its_row(log: Log) -> None:
    read = read_workload(
        log(table(row(11), row(12).replace("|lea|", "|l|ea|"), header=HEADER.replace("JobName", "Group")))
    )
    assert (ids(read), read.quality.rows_read, read.quality.dropped) == (["11"], 2, {"wrong number of cells": 1})
    read = read_workload(log(table(row(11), row(""))))
    assert (ids(read), read.quality.rows_read, read.quality.dropped) == (["11"], 2, {"wrong number of cells": 1})


def test_the_rest_of_an_array_is_not_its_element_with_the_same_number(log: Log) -> None:
    header = HEADER.replace("JobIDRaw|", "JobID|JobIDRaw|")
    waits = row("5_[3-9%2]|5", state="PENDING").replace(
        "2026-05-03T06:01:00|2026-05-03T07:01:00|3600", "Unknown|Unknown|0"
    )
    read = read_workload(log(table(row("5_1|6"), row("5_2|5"), waits, header=header)))
    assert (ids(read), sum(read.quality.dropped.values()), read.quality.merged) == (["6", "5"], 1, {})


@pytest.mark.parametrize("byte", [b"\xe9", b"\xff\xfe", b"\x80", b"\0", b"\0\0\0"])
def test_a_byte_that_is_no_utf8_costs_its_cell(log: Log, byte: bytes) -> None:
    text = table(row(11), row(12, "trXin"), row(13)).encode().replace(b"X", byte)
    read = read_workload(log(text))
    assert ids(read) == ["11", "12", "13"]
    assert told(read, f"bytes that are not UTF-8 text, replaced in their cells: {len(byte)}, the first in line 3")


# Headers


@pytest.mark.parametrize("delimiter", ["|", "\t", ";", "|#", "^", ";;", "~~~", " | ", "|  ", "¦"])
@pytest.mark.parametrize("trailing", [False, True])
def test_any_delimiter(log: Log, delimiter: str, trailing: bool) -> None:
    lines = table(row(11), row(12, "a b"), row("12.batch")).splitlines()
    text = "\n".join(line.replace("|", delimiter) + delimiter * trailing for line in lines)
    read = read_workload(log(text))
    assert (read.provenance.format, ids(read), read.quality.rows_read) == ("sacct", ["11", "12"], 3)


@pytest.mark.parametrize("change", [str.lower, str.upper])
def test_names_of_fields_in_any_case(log: Log, change: Callable[[str], str]) -> None:
    assert gpu_h(read_workload(log(table(row(11), header=change(HEADER))))) == 2.0


def test_lines_that_hold_no_row_and_headers_again_are_told(log: Log) -> None:
    text = f"Welcome to elm\nsacct: warning: x\n{table(row(11), row(12))}\n{table(row(13))}sacct: error: y\n\n# end\n\n"
    read = read_workload(log(text))
    assert (ids(read), read.quality.rows_read, read.quality.dropped) == (["11", "12", "13"], 3, {})
    assert told(read, "header lines repeated in the file: 1")
    assert told(read, "lines that hold no row: 4, the first in line 1")


def test_tables_of_other_columns_may_follow(log: Log) -> None:
    at = "2026-05-04T00:00:00"
    other = f"User|JobID|State|Submit|Start|Elapsed|ReqTRES\nkim|21|FAILED|{at}|{at}|00:30:00|gres/gpu=8\n"
    read = read_workload(log(table(row(11)) + other + table(row(12, day=5))))
    assert read.jobs.select("job_id", "gpus").rows() == [("11", 2), ("21", 8), ("12", 2)]


def test_a_sorted_file_has_its_header_last(log: Log) -> None:
    assert ids(read_workload(log("\n".join([row(k) for k in range(100, 350)] + [HEADER])))) == [
        str(k) for k in range(100, 350)
    ]


def test_a_table_that_another_program_wrote_has_quotes(log: Log) -> None:
    header = "JobID,JobName,User,State,Submit,Start,Elapsed,AllocTRES"
    cells = '"a, ""b""",lea,COMPLETED,2026-05-03 06:00:00,2026-05-03 06:00:00,01:00:00,"cpu=4,gres/gpu=4"'
    read = read_workload(log(f"{header}\n11,{cells}\n{header}\n12,{cells}\n"))
    assert (ids(read), gpu_h(read), read.quality.rows_read) == (["11", "12"], 8.0, 2)
    quoted = table(row(11), row(12)).replace("|", '"|"').replace("\n", '"\n"')
    assert gpu_h(read_workload(log(f'"{quoted[:-1]}'))) == 4.0


def test_commas_within_and_between_cells_are_refused(log: Log) -> None:
    with pytest.raises(InputError, match=r"log:2: .*are there commas in the cells\? \(export with `sacct -aXP"):
        read_workload(log(table(row(11)).replace("|", ",")))


def test_without_a_header_the_command_is_told(log: Log) -> None:
    with pytest.raises(InputError, match=r"log:1: .*without their header line \(export with it: `sacct -aXPD .*-n\)"):
        read_workload(log(row(11) + "\n" + row(12) + "\n"))


def test_fixed_width_is_refused_with_the_command(log: Log) -> None:
    text = (
        "JobID        User      State   AllocTRES \n------- --------- ---------- -----------\n11 lea COMPLETED cpu=+\n"
    )
    with pytest.raises(InputError, match=r"columns of fixed width, which cuts .*export with `sacct -aXP"):
        read_workload(log(text))


# Jobs


RUNS = "JobIDRaw|Cluster|JobName|User|State|Submit|Start|End|ElapsedRaw|AllocTRES|Restarts"


def run(number: int, start_h: float, hours: float, *, state: str = "COMPLETED", **other: object) -> str:
    """A run that was submitted just before it started; hours count from 1 May."""
    about = {"cluster": "elm", "name": "fit", "user": "lea", "gpus": 4, "restarts": 0, "submit_h": start_h} | other
    at = [stamp(float(str(hour))) for hour in (about["submit_h"], start_h, start_h + hours)]
    lead, tail = [number, about["cluster"], about["name"], about["user"], state], [f"{hours * 3600:.0f}"]
    return "|".join(map(str, [*lead, *at, *tail, f"gres/gpu={about['gpus']}", about["restarts"]]))


def stamp(hour: float) -> str:
    days, rest = divmod(hour, 24)
    return f"2026-{5 + int(days) // 30:02}-{1 + int(days) % 30:02}T{int(rest):02}:{int(rest * 60) % 60:02}:00"


def jobs_of(path: Path) -> list[tuple[object, ...]]:
    read = read_workload(path)
    return read.jobs.select("job_id", "gpus", pl.col("duration_s") / 3600, "status").rows()


def test_runs_of_a_requeued_job_are_summed_and_wait_from_the_first_submission(log: Log) -> None:
    rows = [run(7, 1, 2, state="NODE_FAIL"), run(7, 5, 3, state="PREEMPTED", submit_h=3), run(7, 9, 4, submit_h=8)]
    path = log(table(run(6, 0, 1), *rows, header=RUNS))
    assert jobs_of(path) == [("6", 4, 1.0, "COMPLETED"), ("7", 4, 9.0, "COMPLETED")]
    times = read_workload(path).jobs.select(pl.col("submit_s", "start_s", "end_s") / 3600).row(1)
    assert times == (1.0, 1.0, 13.0)
    assert sum(read_workload(path).quality.merged.values()) == 2


def test_order_in_the_file_does_not_matter(log: Log) -> None:
    rows = [run(7, 9, 4, submit_h=8), run(7, 1, 2, state="NODE_FAIL"), run(7, 5, 3, state="PREEMPTED", submit_h=3)]
    assert jobs_of(log(table(*rows, header=RUNS))) == [("7", 4, 9.0, "COMPLETED")]


def test_other_gpus_after_a_requeue_keep_the_gpu_hours(log: Log) -> None:
    path = log(table(run(7, 1, 2, state="NODE_FAIL", gpus=8), run(7, 4, 2, gpus=4), header=RUNS))
    assert jobs_of(path) == [("7", 8, 3.0, "COMPLETED")]
    assert list(read_workload(path).quality.clamped.values()) == [1]


def test_a_slice_before_and_a_whole_gpu_after_a_requeue_keep_the_gpu_hours(log: Log) -> None:
    sliced = run(7, 1, 1, state="NODE_FAIL", gpus=1).replace("gres/gpu=1", "gres/gpu=1,gres/gpu:a100_3g.20gb=1")
    read = read_workload(log(table(sliced, run(7, 4, 1, gpus=1), header=RUNS)))
    ((share, seconds),) = read.jobs.select("fraction", "duration_s").rows()
    assert (share, share * seconds / 3600) == pytest.approx((0.428, 1.428))
    assert list(read.quality.clamped.values()) == [1]


def test_overlapping_exports_count_a_run_once(log: Log) -> None:
    old = run(7, 1, 2, state="RUNNING").replace(stamp(3), "Unknown")
    path = log(table(run(6, 0, 1), old, run(6, 0, 1), run(7, 1, 5), header=RUNS))
    assert jobs_of(path) == [("6", 4, 1.0, "COMPLETED"), ("7", 4, 5.0, "COMPLETED")]


def test_a_job_that_was_renamed_between_exports_is_one(log: Log) -> None:
    old = run(7, 1, 2, state="RUNNING").replace(stamp(3), "Unknown").replace("|fit|", "|old|")
    assert jobs_of(log(table(old, run(7, 1, 5), header=RUNS))) == [("7", 4, 5.0, "COMPLETED")]


def test_a_job_that_waits_after_a_requeue_keeps_its_runs(log: Log) -> None:
    waits = run(7, 4, 0, state="PENDING", restarts=1).replace(
        f"{stamp(4)}|{stamp(4)}|{stamp(4)}", f"{stamp(4)}|Unknown|Unknown"
    )
    assert jobs_of(log(table(run(7, 1, 2, state="NODE_FAIL"), waits, header=RUNS))) == [("7", 4, 2.0, "PENDING")]


@pytest.mark.parametrize(
    ("later", "found"),
    [
        ({"user": "kim"}, ["7", "7#2"]),
        ({"name": "other"}, ["7", "7#2"]),
        ({}, ["7", "7#2"]),  # months after the first completed
        ({"state": "NODE_FAIL"}, ["7", "7#2"]),
    ],
)
def test_an_id_that_is_used_again_is_another_job(log: Log, later: dict[str, object], found: list[str]) -> None:
    first = run(7, 1, 2, state=str(later.get("state", "COMPLETED")))
    again = {name: value for name, value in later.items() if name != "state"}
    read = read_workload(log(table(first, run(7, 900, 3, **again), header=RUNS)))
    assert (ids(read), gpu_h(read)) == (found, 20.0)
    assert told(read, "jobs with an id that an earlier, other job had: 1")


def test_each_id_is_told_by_its_own_records(log: Log) -> None:
    """However late the records of others are."""
    rows = [run(6, 900, 1), run(6, 901.5, 1), run(7, 1, 2, state="TIMEOUT"), run(7, 899, 3)]
    assert ids(read_workload(log(table(*rows, header=RUNS)))) == ["7", "7#2", "6"]


def test_an_id_of_a_part_may_have_been_another_jobs(log: Log) -> None:
    header = HEADER.replace("JobIDRaw|", "JobID|")
    rows = [row(20), row("20+0", day=28), row("20+1", day=28), row(21, day=29, state="FAILED").replace("lea", "kim")]
    read = read_workload(log(table(*rows, header=header)))
    assert read.jobs.select("job_id", "gpus").rows() == [("20", 2), ("20#2", 4), ("21", 2)]


def test_ids_of_several_clusters_are_different_jobs(log: Log) -> None:
    path = log(table(run(7, 1, 2), run(7, 1.5, 3, cluster="oak"), run(8, 2, 1), header=RUNS))
    read = read_workload(path)
    assert ids(read) == ["elm/7", "oak/7", "elm/8"]
    assert told(read, "jobs of several clusters, whose ids begin with its name: elm (2 jobs), oak (1 job)")


def test_parts_of_a_heterogeneous_job_are_one_gang() -> None:
    read = read_workload(HERE / "sacct_runs.txt")
    gang = read.jobs.filter(pl.col("job_id") == "50")
    assert gang.select("gpus", "gpu_type", "duration_s", "nodes_requested", "gpus_per_node", "node_list").row(0) == (
        8, "h200+l40s", 3600.0, 2, 4, "w1,w9",
    )  # fmt: skip
    assert told(read, "heterogeneous jobs with several GPU types, each one gang: 1 (50)")


def test_a_log_with_everything_at_once() -> None:
    read = read_workload(HERE / "sacct_runs.txt")
    assert read.jobs.select("job_id", "gpus", "fraction", "duration_s", "qos", "node_list").rows() == [
        ("41", 8, None, 4500.0, "long", "w[1-2]"),
        ("43", 1, 0.285, 1800.0, "norm", "w4"),
        ("50", 8, None, 3600.0, "norm", "w1,w9"),
        ("60", 2, None, 60.0, "norm", "w1"),
    ]
    quality = read.quality
    assert (quality.rows_read, quality.kept, list(quality.merged.values())) == (9, 4, [1, 1])
    assert told(read, "left out, at most 1.0 GPU-h on slices or shares that are no share of one GPU: 6 shard (1 job)")
    assert told(read, "requeued jobs of which only the last run is in the log: 1; `sacct -D` exports all runs")


def test_records_as_slurmdbd_22_05_keeps_them() -> None:
    """Preemptions, requeues, a throttled array, a heterogeneous job, --begin, and limits of each kind."""
    read = read_workload(HERE / "slurmdbd.txt")
    columns = ("job_id", "submit_s", "start_s", "end_s", "duration_s", "gpus", "time_limit_s", "status")
    assert read.jobs.select(columns).rows() == [
        ("310", 0.0, 0.0, 66.0, 66.0, 1, 60.0, "TIMEOUT"),
        ("311", 0.0, 10.0, 1320.0, 1020.0, 16, None, "COMPLETED"),
        ("314", 60.0, 60.0, 180.0, 120.0, 2, 31_536_000.0, "COMPLETED"),
        ("320", 120.0, 150.0, 270.0, 120.0, 8, 300.0, "COMPLETED"),
        ("312", 180.0, 182.0, 182.0, 0.0, 2, 31_536_000.0, "FAILED"),
        ("322", 1800.0, 1809.0, 1869.0, 60.0, 3, 1800.0, "COMPLETED"),
        ("325", 1800.0, 1870.0, None, 90.0, 32, 3600.0, "RUNNING"),
    ]
    assert read.quality.merged == {
        "further runs of a requeued job; their run times are added up": 2,
        "further parts of a heterogeneous job; their GPUs are one gang": 1,
    }


def test_a_table_that_is_written_remembers_what_was_merged(tmp_path: Path) -> None:
    read = read_workload(HERE / "sacct_runs.txt")
    write_workload(read, tmp_path / "jobs.parquet")
    again = read_workload(tmp_path / "jobs.parquet").quality
    assert (again.merged, again.places) == (read.quality.merged, read.quality.places)


@pytest.mark.parametrize(
    ("tres", "nodes"),
    [
        ("billing=8,gres/gpu=0", "None assigned"),
        ("cpu=0,gres/gpu:a100=0,gres/gpu=0", "n1"),
        ("billing=8", "None assigned"),
    ],
)
def test_no_gpus_and_no_node_are_nothing_allocated(tres: str, nodes: str, log: Log) -> None:
    """Some sites account for GPUs of jobs that were never given any."""
    header = HEADER + "|ReqTRES|NodeList"
    waited = "12|x|lea|gpu|CANCELLED by 7|2026-05-03T06:00:00|2026-05-03T08:00:00|2026-05-03T08:00:00|0"
    read = read_workload(
        log(table(f"{row(11)}|gres/gpu=2|n1", f"{waited}|{tres}|cpu=4,gres/gpu=2|{nodes}", header=header))
    )
    assert ids(read) == ["11"]
    assert read.quality.dropped == {"never started: cancelled while it waited, without GPUs": 1}


def test_cancelled_while_it_waited_is_no_job_of_no_seconds(log: Log) -> None:
    waited = "12|x|lea|gpu,gpu-long|CANCELLED by 7|2026-05-03T06:00:00|2026-05-03T08:00:00|2026-05-03T08:00:00|0|"
    read = read_workload(log(table(row(11), waited, row(13))))
    never = {"never started: cancelled while it waited, without GPUs": 1}
    assert (ids(read), read.quality.dropped) == (["11", "13"], never)
    asked = [f"{line}|gres/gpu=2" for line in (row(11), waited, row(13))]
    read = read_workload(log(table(*asked, header=f"{HEADER}|ReqTRES")))
    assert read.quality.dropped == never


def test_a_failure_in_the_first_second_is_a_job(log: Log) -> None:
    failed = row(12, state="FAILED").replace("|3600|", "|0|").replace("07:01:00", "06:01:00")
    assert jobs_of(log(table(row(11), failed)))[1] == ("12", 2, 0.0, "FAILED")


def test_one_of_several_partitions_is_the_queue(log: Log) -> None:
    read = read_workload(log(table(row(11).replace("|gpu|", "|gpu,gpu-long|"))))
    assert read.jobs.select("partition", "queue").rows() == [("gpu,gpu-long", "gpu")]


@pytest.mark.parametrize("step", ["11.batch", "11.extern", "11.0", "11_3.interactive", "11+1.2", "11.4294967290"])
def test_steps_are_no_jobs(log: Log, step: str) -> None:
    read = read_workload(log(table(row(11), row(step), row(12))))
    assert (ids(read), read.quality.dropped) == (["11", "12"], {"a job step, not a job": 1})
    assert "dropped 1: a job step, not a job (line 3)" in read.quality.render()


def test_ids_of_steps() -> None:
    given = pl.DataFrame(
        {"id": ["801", "801_4", "801_[1-5%2]", "800+1", "801.batch", "801.0", "801_4.extern", "1+0.TBD", None, "a.b"]}
    )
    assert given.select(is_step(pl.col("id"))).to_series().to_list() == [False] * 4 + [True] * 4 + [False] * 2


# Cells


def test_epochs_and_site_dates(log: Log) -> None:
    header = "JobIDRaw|State|Submit|Start|End|AllocTRES"
    for times in (
        ["1777788000|1777788060|1777791660", "1777788100|1777791660|1777795260"],
        ["1777788000000|1777788060000|1777791660000", "1777788100000|1777791660000|1777795260000"],
        ["13/05/2026 06:00:00|13/05/2026 06:01:00|13/05/2026 07:01:00"] * 2,
        ["05/13/2026 06:00:00 AM|05/13/2026 06:01:00 AM|05/13/2026 07:01:00 AM"] * 2,
        ["03.05.2026 06:00|03.05.2026 06:01|03.05.2026 07:01"] * 2,
        ["May  3 06:00:00 2026|May  3 06:01:00 2026|May  3 07:01:00 2026"] * 2,
        ["2026/05/03 06:00|2026/05/03 06:01|2026/05/03 07:01"] * 2,
    ):
        rows = [f"{11 + k}|COMPLETED|{cells}|gres/gpu=2" for k, cells in enumerate(times)]
        assert gpu_h(read_workload(log(table(*rows, header=header)))) == 4.0, times


def test_where_nothing_tells_day_from_month_the_order_is_asked_for(log: Log) -> None:
    header = "JobIDRaw|State|Submit|Start|End|AllocTRES"
    rows = ["11|COMPLETED|03/05/2026 06:00:00|03/05/2026 23:00:00|04/05/2026 01:00:00|gres/gpu=2"]
    path = log(table(*rows, header=header))
    with pytest.raises(
        InputError, match=r"the day or the month comes first in '03/05/2026 06:00:00' \(say --date-order"
    ):
        read_workload(path)
    assert gpu_h(read_workload(path, date_order="dmy")) == 4.0
    assert gpu_h(read_workload(path, date_order="mdy")) == 2.0 * (31 * 24 - 22)


def test_what_cannot_be_read_is_not_absent(log: Log) -> None:
    header = "JobIDRaw|State|Submit|Start|End|ElapsedRaw|AllocTRES"
    good = "2026-05-03T06:00:00|2026-05-03T06:01:00|2026-05-03T07:01:00|3600|gres/gpu=2"
    rows = [
        f"11|COMPLETED|{good}",
        "12|COMPLETED|Ystday 08:00|Ystday 08:01|Ystday 09:01|3600|gres/gpu=2",
        f"13|COMPLETED|{good}".replace("2026-05-03T06:00:00", "Unknown"),
        f"14|COMPLETED|{good}".replace("|3600|", "|an hour|"),
        f"15|COMPLETED|{good}".replace("gres/gpu=2", "cpu=4,gre+"),
    ]
    quality = read_workload(log(table(*rows, header=header))).quality
    assert [line for line in quality.render().splitlines() if line.startswith("dropped")] == [
        "dropped 1: GPU count cannot be read (line 6; line 6 has 'cpu=4,gre+')",
        "dropped 1: no submit time (line 4)",
        "dropped 1: submit time cannot be read (line 3; line 3 has 'Ystday 08:00')",
    ]
    assert read_workload(log(table(*rows, header=header))).jobs["duration_s"].to_list() == [3600.0, 3600.0]


def test_gpus_of_each_node(log: Log) -> None:
    header = "JobID|State|Submit|Start|End|Elapsed|NNodes|AllocGRES|AllocTRES"
    times = "2019-05-03T06:00:00|2019-05-03T06:00:00|2019-05-03T07:00:00|01:00:00"
    rows = [f"11|COMPLETED|{times}|3|gpu:2|billing=6,node=3", f"12|COMPLETED|{times}|1|gpu:p100:4(IDX:0-3)|node=1"]
    read = read_workload(log(table(*rows, header=header)))
    assert read.jobs.select("gpus", "gpu_type", "nodes_requested", "gpus_per_node").rows() == [
        (6, None, 3, 2), (4, "p100", 1, 4),
    ]  # fmt: skip


def test_where_no_list_names_gpus_the_other_field_is_named(log: Log) -> None:
    with pytest.raises(InputError, match=r"none of 2 rows names a GPU in AllocTRES or ReqTRES .*AllocGRES"):
        read_workload(log(table(row(11, gpus=0), row(12, gpus=0))))
    with pytest.raises(InputError, match=r"lacks GPUs .*AllocGRES"):
        read_workload(log("JobID|User|State|Submit|Start|Elapsed\n7|a|COMPLETED|2026-05-03T06:00:00|x|01:00:00\n"))


def test_slices_are_shares_and_what_is_none_is_named(log: Log) -> None:
    header = HEADER.replace("|AllocTRES", "|NNodes|AllocTRES")
    cells = ["gres/gpu:a100_1g.5gb=2", "gres/gpu=8,gres/gpu:1g.10gb=8", "gres/shard=4", "gres/gpu:a100=1"]
    rows = [row(11 + k).rsplit("|", 1)[0] + f"|1|{cell}" for k, cell in enumerate(cells)]
    read = read_workload(log(table(*rows, header=header)))
    assert read.jobs.select("job_id", "gpus", "fraction", "gpu_type").rows() == [
        ("11", 1, 0.284, "a100"), ("14", 1, None, "a100"),
    ]  # fmt: skip
    assert told(read, "left out, at most 5.1 GPU-h")


def test_a_gang_of_slices_is_no_share_of_one_gpu(log: Log) -> None:
    header = HEADER.replace("JobIDRaw|", "JobID|")
    slices = [row(f"20+{k}").replace("gres/gpu=2", "gres/gpu:a100_1g.5gb=1") for k in range(2)]
    read = read_workload(log(table(row(11), *slices, header=header)))
    assert ids(read) == ["11"]
    assert told(read, "left out, at most 0.3 GPU-h on slices or shares that are no share of one GPU: slices of a100")


# JSON


def test_json_has_the_same_jobs_as_the_text() -> None:
    read = read_workload(HERE / "sacct.json")
    assert read.jobs.select(
        "job_id", "gpus", "gpu_type", "fraction", "duration_s", "time_limit_s", "node_list"
    ).rows() == [
        ("41", 8, "l40s", None, 3600.0, 36000.0, "w[1-2]"),
        ("43", 1, "l40s", 0.285, 1800.0, 1800.0, "w4"),
    ]
    assert read.jobs.select("submit_s", "start_s", "end_s", "nodes_requested", "gpus_per_node").rows() == [
        (0.0, 600.0, 4200.0, 2, 4), (1200.0, 1205.0, 3005.0, 1, 1),
    ]  # fmt: skip
    assert read.quality.dropped == {"never started (a pending job array is one row)": 1}


@pytest.mark.parametrize(
    ("times", "zone"),
    [
        (["1777788000", "1777788100"], "UTC; times count from 1970"),
        (["1777788000000", "1777788100000"], "UTC; times count from 1970"),
        (["2026-05-03T06:00:00Z", "2026-05-03T08:00:00+02:00"], "UTC; times count from 1970"),
        (["2026-05-03T06:00:00", "2026-05-03T06:01:00"], "the site's local time"),
        (["2026-05-03T06:00:00", "1777788000"], "the site's local time"),
        (["2026-05-03 06:00", "2026/05/13 06:00"], "the site's local time"),
    ],
)
def test_the_zone_is_known_of_epochs_and_of_dates_that_name_it(times: list[str], zone: str, log: Log) -> None:
    rows = [f"{11 + k}|COMPLETED|{time}|60|gres/gpu=2" for k, time in enumerate(times)]
    read = read_workload(log(table(*rows, header="JobIDRaw|State|Submit|ElapsedRaw|AllocTRES")))
    assert read.jobs.height == 2
    assert f"time zone: {zone}" in " ".join(read.quality.notes)


def test_json_is_in_utc() -> None:
    assert "time zone: UTC" in " ".join(read_workload(HERE / "sacct.json").quality.notes)


@pytest.mark.parametrize(
    ("first", "second", "note"),
    [
        (None, {"restarts": 1}, True),
        ({"state": "PREEMPTED"}, {"restarts": 1}, False),
        ({"state": "PREEMPTED"}, {"restarts": 1, "state": "PENDING", "waits": True}, False),
        ({"state": "NODE_FAIL"}, {"restarts": 1, "state": "CANCELLED by 5", "waits": True}, False),
        ({"state": "NODE_FAIL", "restarts": 2}, {"restarts": 3, "state": "PENDING", "waits": True}, True),
    ],
)
def test_runs_are_missing_if_the_first_in_the_log_is_a_restart(
    first: dict[str, object] | None, second: dict[str, object], note: bool, log: Log
) -> None:
    """A job that waits again, or was cancelled while it did, has all its runs in the log."""
    waits = second.pop("waits", False)
    last = run(7, 2, 0 if waits else 1, **second)  # ty: ignore
    last = last.replace(f"{stamp(2)}|{stamp(2)}|{stamp(2)}", f"{stamp(2)}|Unknown|Unknown") if waits else last
    rows = [run(7, 0, 1, **first)] if first else []  # ty: ignore
    read = read_workload(log("\n".join([RUNS, *rows, last]) + "\n"))
    assert gpu_h(read) == 4.0 * (len(rows) + (not waits))
    assert bool(told(read, "requeued jobs of which only the last run")) == note


def test_slurm_21_08_writes_when_jobs_became_eligible_as_their_start(log: Log) -> None:
    text = (HERE / "sacct.json").read_text().replace('"start": 1775023800', '"start": 1775023200')
    assert read_workload(log(text)).jobs["start_s"].to_list() == [600.0, 1205.0]


def test_slurmrestd_estimates_the_end_of_a_job_that_runs() -> None:
    read = read_workload(HERE / "slurmrestd.json")
    assert read.jobs.select("job_id", "gpus", "duration_s", "start_s", "end_s", "status").rows() == [
        ("71", 8, 3600.0, 600.0, 4200.0, "COMPLETED"),
        ("72", 2, 7200.0, 1210.0, None, "RUNNING"),  # until the list was made
    ]
    assert read.quality.rows_read == 3


def test_slurmrestd_writes_nothing_of_what_was_cancelled_while_it_waited(log: Log) -> None:
    text = (HERE / "slurmrestd.json").read_text().replace('"PENDING"', '"CANCELLED"')
    text = text.replace('"start_time": 1775200000, "end_time": 0', '"start_time": 1775024900, "end_time": 1775024900')
    read = read_workload(log(text))
    assert (ids(read), list(read.quality.dropped)) == (
        ["71", "72"],
        ["never started: cancelled while it waited, without GPUs"],
    )


def test_documents_that_were_joined(log: Log) -> None:
    one = (HERE / "sacct.json").read_bytes()
    two = one.replace(b'"job_id": 41,', b'"job_id": 141,')
    assert ids(read_workload(log(one + two))) == ["41", "141", "43"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"jobs": [{"job_id": 1, "association": {}}', "broken JSON"),
        ('{"jobs": {"job_id": 1, "association": {}}}', "holds no list of jobs"),
        ('{"jobs": [7, {"job_id": 1, "association": {}}]}', "an entry of `jobs` is no object: 7"),
        ('{"meta": {"Slurm": {}}, "jobs": []}', "there is no job in the file"),
    ],
)
def test_json_that_is_no_list_of_jobs(log: Log, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_workload(log(text))


@pytest.mark.parametrize("value", ["null", '""', "[]", "{}", '"x"', "-1", "1e400", "true", '{"set": false}', "[[]]"])
@pytest.mark.parametrize(
    "key", ["array", "het", "state", "time", "tres", "association", "job_id", "partition", "nodes"]
)
def test_json_of_any_form_is_read_or_refused(log: Log, key: str, value: str) -> None:
    text = f'{{"jobs": [{{"job_id": 5, "association": {{}}, "state": {{"current": "COMPLETED"}}, "{key}": {value}}}]}}'
    with pytest.raises(InputError):
        read_workload(log(text))


def test_a_part_of_a_heterogeneous_job_without_a_number_of_nodes_has_no_shape(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text(
        "JobID|JobIDRaw|User|State|Submit|Start|End|ElapsedRaw|ReqTRES\n"
        "50+1|51|lea|COMPLETED|2026-04-01T09:00:00|2026-04-01T09:01:00|2026-04-01T10:01:00|3600|cpu=8,gres/gpu=4\n"
    )
    jobs = read_workload(log).jobs
    assert jobs.select("gpus", "nodes_requested", "gpus_per_node").rows() == [(4, None, None)]
