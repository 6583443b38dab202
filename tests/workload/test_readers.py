"""Each foreign format, read from a small file written by hand."""

import json
from pathlib import Path

import polars as pl
import pytest

from pointsman.errors import InputError, UsageError
from pointsman.workload import read_workload
from pointsman.workload.columns import SCHEMA
from pointsman.workload.readers.formats import formats

HERE = Path(__file__).parent / "fixtures"
FORMATS = {
    "native.csv": "csv",
    "gathered.csv": "gathered",
    "philly.json": "philly-json",
    "philly.csv": "philly-csv",
    "itp.csv": "itp",
    "helios.csv": "helios",
    "acme_kalos.csv": "acme",
    "acme_seren.csv": "acme",
    "openb.csv": "openb",
    "openb_short.csv": "openb",
    "spot.csv": "alibaba-spot",
    "pai_task.csv": "alibaba-pai",
    "pollux.csv": "pollux",
    "tiresias.csv": "tiresias",
    "kubernetes.json": "kubernetes",
    "batsim.json": "batsim",
    "sacct.txt": "sacct",
    "sacct_runs.txt": "sacct",
    "slurmdbd.txt": "sacct",
    "sacct.json": "sacct",
    "slurmrestd.json": "sacct",
    "log.swf": "swf",
    "gavel6.trace": "gavel",
    "gavel7.trace": "gavel",
    "gavel9.trace": "gavel",
    "gavel10.trace": "gavel",
    "gavel12.trace": "gavel",
}

NOON = "2024-01-01T12:00:00"


def rows(name, *columns, **options):
    return read_workload(HERE / name, **options).jobs.select(columns).rows()


def quality(name):
    return read_workload(HERE / name).quality


def test_every_format_has_a_fixture():
    assert set(FORMATS.values()) | {"parquet", "arrow"} == set(formats())
    assert set(FORMATS) == {path.name for path in HERE.iterdir()}


@pytest.mark.parametrize(("name", "format"), FORMATS.items())
def test_detected_by_content_and_whole(tmp_path, name, format):
    nameless = tmp_path / "log"
    nameless.write_bytes((HERE / name).read_bytes())
    workload = read_workload(nameless)
    assert workload.provenance.format == format
    assert workload.jobs.schema == pl.Schema(SCHEMA)
    assert workload.jobs["submit_s"].is_sorted()
    assert workload.quality.kept == workload.jobs.height
    assert workload.quality.rows_read == workload.quality.kept + sum(
        (workload.quality.dropped | workload.quality.merged).values()
    )
    assert read_workload(nameless, format=format).jobs.equals(workload.jobs)


def test_gathered():
    assert rows("gathered.csv", "job_id", "user", "queue", "gpus", "status", "fraction", "gpu_type") == [
        ("g1", "ann", "blue", 4, "COMPLETED", None, "T4"),
        ("g2", None, "blue", 1, "FAILED", 0.5, None),
    ]
    never = "never started (status Pending)"
    assert quality("gathered.csv").dropped == {"asks for no GPU": 1, never: 1, "GPU count cannot be read": 1}


def test_philly_json_sums_attempts_at_their_gpu_hours():
    assert rows("philly.json", "job_id", "queue", "submit_s", "gpus", "duration_s", "status") == [
        ("application_4", "v2", 0.0, 1, 10.0, "FAILED"),
        ("application_1", "v1", 60.0, 3, 70.0, "COMPLETED"),  # 3 GPUs × 60 s, 1 GPU × 30 s
    ]
    report = quality("philly.json")
    assert report.dropped == {"asks for no GPU": 1, "never ran": 1, "no submit time": 1}
    assert report.clamped == {
        "attempts without a start, or an end after it, left out of the run time": 1,
        "attempts on different numbers of GPUs: run time as if on those of the longest, at the same GPU-hours": 1,
    }
    assert any("2017-10-01 09:59:00, time zone: the log names none" in note for note in report.notes)


def test_philly_csv():
    assert rows("philly.csv", "job_id", "queue", "submit_s", "gpus", "duration_s") == [
        ("1", "v2", 0.0, 1, 7.5),
        ("0", "v1", 10.0, 2, 50.0),
    ]
    assert quality("philly.csv").dropped == {"negative run time": 1, "submit time cannot be read": 1}


def test_itp_keeps_its_own_clock():
    assert rows("itp.csv", "job_id", "submit_s", "gpus", "duration_s") == [
        ("a-1", 100.0, 16, 700.0),
        ("a-2", 160.0, 1, 9000.0),
    ]
    assert quality("itp.csv").dropped == {"job id seen before": 1, "wrong number of cells": 1}


def test_itp_of_the_artifact_has_models_and_batches(tmp_path):
    log = tmp_path / "cluster.csv"
    log.write_text(
        "job_id,submission_time,num_iteration,model_name,deadline,batch_size,num_gpu,duration\n"
        "a-1,16566,40285,bert,21347,64,4,3890\n"
    )
    read = read_workload(log)
    assert read.provenance.format == "itp"
    assert read.jobs.select("model", "batch_size", "gpus", "duration_s").rows() == [("bert", 64, 4, 3890.0)]
    assert "columns not read: num_iteration, deadline" in read.quality.notes
    assert any("drew at random" in note for note in read.quality.notes)
    assert not any("drew" in note for note in quality("itp.csv").notes)


STARTS = [
    ("helios.csv", [(60.0, 160.0), (30.0, 31.0)]),
    ("acme_kalos.csv", [(10.0, 60.0)]),
    ("openb.csv", [(30.0, 130.0), (10.0, 60.0)]),
    ("philly.json", [(60.0, 70.0), (120.0, 3690.0)]),
    ("sacct.txt", [(10.0, 3610.0), (120.0, None), (300.0, 360.0), (3600.0, 3630.0)]),
    ("log.swf", [(5.0, 105.0), (None, None)]),
    ("itp.csv", [(None, None)] * 2),
]


@pytest.mark.parametrize(("name", "times"), STARTS)
def test_starts_and_ends_are_those_of_the_log(name, times):
    assert rows(name, "start_s", "end_s") == times


NOT_READ = [
    (
        "acme_kalos.csv",
        "node_num, cpu_num, mem_per_pod_GB, shared_mem_per_pod, type, fail_time, stop_time, queue, gpu_time",
    ),
    ("helios.csv", "cpu_num, node_num, queue"),
    ("log.swf", "group, executable"),
    ("openb.csv", "cpu_milli, memory_mib"),
    ("pai_task.csv", "plan_cpu, plan_mem"),
    ("philly.csv", "gpu_time"),
    ("pollux.csv", None),
    ("sacct.txt", None),
    ("spot.csv", "cpu_request"),
    ("tiresias.csv", "iterations, interval"),
]


@pytest.mark.parametrize(("name", "columns"), NOT_READ)
def test_columns_that_are_not_read_are_named(name, columns):
    told = [note for note in quality(name).notes if note.startswith("columns not read")]
    assert told == ([f"columns not read: {columns}"] if columns else [])


def test_keys_and_fields_that_are_not_read_are_named_too(tmp_path):
    text = (HERE / "philly.json").read_text().replace('"status": "Pass",', '"status": "Pass", "retries": 3,', 1)
    (tmp_path / "log").write_text(text)
    assert "columns not read: retries" in read_workload(tmp_path / "log").quality.notes
    (tmp_path / "log").write_text(
        (HERE / "sacct.txt").read_text().replace("ReqTRES\n", "ReqTRES|Reason\n").replace("=1\n", "=1|x\n")
    )
    assert "columns not read: Reason" in read_workload(tmp_path / "log").quality.notes


def test_a_start_before_the_submission_is_none(tmp_path):
    (tmp_path / "log").write_text((HERE / "helios.csv").read_text().replace("18:42:01", "18:40:01"))
    read = read_workload(tmp_path / "log")
    assert read.jobs["start_s"].to_list() == [None, 30.0]
    assert read.quality.clamped == {"start before submission left out": 1}


def test_helios_names_the_zone_it_assumes():
    assert rows("helios.csv", "job_id", "queue", "submit_s", "gpus", "duration_s", "status") == [
        ("1", "vcA", 0.0, 8, 100.0, "COMPLETED"),
        ("3", "vcB", 30.0, 1, 1.0, "NODE_FAIL"),
    ]
    report = quality("helios.csv")
    assert report.dropped == {"asks for no GPU": 1, "never started": 1}
    assert any("assumed Asia/Shanghai" in note for note in report.notes)


def test_acme_runs_from_start_to_end_not_through_the_queue():
    assert rows("acme_kalos.csv", "job_id", "gpus", "duration_s") == [("k1", 8, 50.0)]
    (what,) = quality("acme_kalos.csv").clamped
    assert "end − start" in what


def test_acme_offsets_count():
    assert rows("acme_seren.csv", "job_id", "submit_s", "status") == [
        ("s1", 0.0, "COMPLETED"),
        ("s2", 3600.0, "TIMEOUT"),
    ]


def test_openb_with_times():
    assert rows("openb.csv", "job_id", "queue", "gpu_type", "gpus", "fraction", "submit_s", "duration_s") == [
        ("pod-0", "LS", None, 1, 0.5, 0.0, 100.0),
        ("pod-1", "Burstable", "V100M16|V100M32", 8, None, 10.0, 50.0),
    ]
    assert quality("openb.csv").dropped == {"asks for no GPU": 1, "never scheduled": 1}


def test_openb_without_times_says_what_stands_in():
    assert rows("openb_short.csv", "submit_s", "gpus", "fraction", "duration_s") == [
        (0.0, 2, None, 3600.0),
        (1.0, 1, 0.25, 3600.0),
    ]
    assert any("the list has no times" in note for note in quality("openb_short.csv").notes)
    assert rows("openb_short.csv", "submit_s", "duration_s", gap_s=5.0, duration_s=60.0)[1] == (5.0, 60.0)


def test_spot():
    assert rows("spot.csv", "job_id", "queue", "gpu_type", "gpus", "priority", "fraction") == [
        ("7", "13", "A10", 4, 1, None),
        ("8", "57", "A100-SXM4-80GB", 16, 0, None),
        ("9", "57", "A10", 1, 0, 0.5),
    ]


def test_pai_gathers_the_tasks_of_a_job():
    assert rows("pai_task.csv", "job_id", "gpus", "fraction", "gpu_type", "submit_s", "duration_s", "status") == [
        ("j2", 1, 0.25, "T4", 50.0, 30.0, "FAILED"),
        ("j1", 2, None, "V100", 100.0, 300.0, "COMPLETED"),
        ("j4", 8, None, None, 200.0, 60.0, "COMPLETED"),
    ]


def test_pollux_derives_run_times_from_its_measurements():
    found = rows("pollux.csv", "job_id", "model", "batch_size", "gpus", "duration_s")
    assert [row[:4] for row in found] == [("cifar10-0", "cifar10", 512, 4), ("ncf-1", "ncf", 32768, 1)]
    # one GPU does not synchronise: 1548 iterations of alpha_c + beta_c * 32768
    assert found[1][4] == pytest.approx(1548 * (0.006921 + 8.397e-07 * 32768), rel=1e-3)
    compute, sync = 0.01019 + 0.00078 * 128, 0.04417 + 0.001519 * 2
    assert found[0][4] == pytest.approx(10615 * (compute**2.843 + sync**2.843) ** (1 / 2.843), rel=1e-3)


def test_tiresias():
    assert rows("tiresias.csv", "job_id", "model", "gpus", "duration_s") == [
        ("0", "vgg19", 1, 164.0),
        ("1", "resnet50", 16, 147.0),
    ]


def test_sacct(tmp_path):
    columns = (
        "job_id",
        "account",
        "queue",
        "partition",
        "gpus",
        "gpu_type",
        "time_limit_s",
        "submit_s",
        "duration_s",
        "status",
    )
    assert rows("sacct.txt", *columns) == [
        ("100", "ml", "gpu", "gpu", 8, "a100", 7200.0, 0.0, 3600.0, "COMPLETED"),
        ("102", "bio", "gpu", "gpu", 1, None, 3600.0, 120.0, 500.0, "RUNNING"),
        ("105", "bio", "gpu", "gpu", 1, None, None, 240.0, 60.0, "FAILED"),
        ("101", "bio", "gpu", "gpu", 3, "h100+a100", None, 1800.0, 30.0, "CANCELLED"),
    ]
    log = (HERE / "sacct.txt").read_text()
    (tmp_path / "bare.txt").write_text(log.replace("|Partition|", "|Nothing|"))
    assert rows(tmp_path / "bare.txt", "queue", "partition")[0] == ("ml", None), "the account, for want of a partition"
    report = quality("sacct.txt")
    array = "never started (a pending job array is one row)"
    assert report.dropped == {"a job step, not a job": 1, "asks for no GPU": 1, array: 1}
    uneven = "shape of nodes with different numbers of GPUs left out"
    assert (sum(report.clamped.values()), report.clamped[uneven]) == (3, 1)


def test_sacct_without_raw_seconds(tmp_path):
    log = tmp_path / "log"
    log.write_text(
        "JobID|State|Submit|Start|End|Elapsed|Timelimit|AllocTRES|\n"
        "7_1|COMPLETED|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-06T10:00:01|1-02:00:01|2-00:00:00|gres/gpu:a100=4|\n"
        "7_2|TIMEOUT|2026-01-05T08:00:00|2026-01-05T08:00:00|2026-01-05T08:30:00|30:00|00:30:00|gres/gpu=2|\n"
    )
    jobs = read_workload(log).jobs
    assert jobs.select("job_id", "gpus", "duration_s", "time_limit_s", "gpu_type").rows() == [
        ("7_1", 4, 93601.0, 172800.0, "a100"),
        ("7_2", 2, 1800.0, 1800.0, None),
    ]


def test_philly_attempts_that_end_before_they_start(tmp_path):
    """One is left out of the run time; where there are no others, the job is."""
    times = [[("01:00:00", "02:00:00"), ("03:00:00", "02:10:00")], [("03:00:00", "02:10:00")]]
    jobs = [
        {
            "jobid": str(j), "user": "u", "vc": "v", "status": "Pass", "submitted_time": "2017-10-01 00:00:00",
            "attempts": [
                {"start_time": f"2017-10-01 {a}", "end_time": f"2017-10-01 {b}", "detail": [{"ip": "m", "gpus": ["0"]}]}
                for a, b in spans
            ],
        }
        for j, spans in enumerate(times)
    ]  # fmt: skip
    (tmp_path / "log.json").write_text(json.dumps(jobs))
    report = quality(tmp_path / "log.json")
    assert rows(tmp_path / "log.json", "job_id", "duration_s") == [("0", 3600.0)]
    assert (sum(report.clamped.values()), sum(report.dropped.values())) == (1, 1)


@pytest.mark.parametrize("offset", ["+00:١٢", "-99:99", "+15:00", "+08:60"])
def test_an_offset_that_no_zone_has_is_no_time(tmp_path, offset):
    log = tmp_path / "log"
    log.write_text(
        "JobID|Submit|Start|ElapsedRaw|AllocTRES\n"
        "1|2024-01-01T00:00:00+08:00|2024-01-01T01:00:00+08:00|60|gres/gpu=4\n"
        f"2|2024-01-01T00:00:00{offset}|2024-01-01T01:00:00+08:00|60|gres/gpu=4\n"
    )
    assert rows(log, "job_id") == [("1",)]


@pytest.mark.parametrize(
    ("limit", "seconds"),
    [
        ("90", 5400),
        ("30:10", 1810),
        ("1:00:00", 3600),
        ("1-02", 93600),
        ("1-02:03", 93780),
        ("1-02:03:04", 93784),
        ("1-02:03:04.5", 93784),
    ],
)
def test_slurm_spans(tmp_path, limit, seconds):
    log = tmp_path / "log"
    log.write_text(f"JobID|Submit|Start|ElapsedRaw|AllocTRES|Timelimit\n1|{NOON}|{NOON}|60|gres/gpu=4|{limit}\n")
    assert rows(log, "time_limit_s") == [(seconds,)]


@pytest.mark.parametrize("eligible", ["", "Eligible|"])
def test_sacct_where_nobody_says_when_jobs_were_eligible(tmp_path, eligible):
    """They wait from their submission, not from their start."""
    log, unknown = tmp_path / "log", "Unknown|" if eligible else ""
    log.write_text(
        f"JobID|Submit|{eligible}Start|ElapsedRaw|AllocTRES\n"
        f"1|2024-01-01T00:00:00|{unknown}2024-01-01T01:00:00|3600|gres/gpu=4\n"
        f"2|2024-01-01T00:10:00|{unknown}2024-01-01T05:00:00|600|gres/gpu=2\n"
    )
    assert rows(log, "submit_s", "duration_s") == [(0.0, 3600.0), (600.0, 600.0)]


def test_sacct_with_no_more_than_it_needs(tmp_path):
    """Whoever neither ran nor was given GPUs never started."""
    log = tmp_path / "log"
    log.write_text(
        "JobIDRaw|Submit|Elapsed|ReqTRES\n"
        "1|2024-01-01T00:00:00|01:00:00|gres/gpu=4\n"
        "2|2024-01-01T00:05:00|00:00:00|gres/gpu=4\n"
        "3|2024-01-01T00:10:00|00:10:00|gres/gpu=2\n"
    )
    assert rows(log, "job_id", "submit_s", "gpus", "duration_s") == [("1", 0.0, 4, 3600.0), ("3", 600.0, 2, 600.0)]
    assert quality(log).dropped == {"never started (a pending job array is one row)": 1}


def test_sacct_says_which_columns_to_export(tmp_path):
    log = tmp_path / "log"
    log.write_text("JobID|User|State|Submit\n7|ann|COMPLETED|2026-01-05T08:00:00\n")
    with pytest.raises(InputError, match=r"lacks GPUs in AllocTRES or ReqTRES \(export with `sacct -aXP"):
        read_workload(log)


def test_swf():
    columns = ("job_id", "user", "queue", "partition", "gpus", "time_limit_s", "submit_s", "duration_s", "status")
    assert rows("log.swf", *columns) == [
        ("1", "3", "1", "1", 4, 600.0, 0.0, 100.0, "COMPLETED"),
        ("2", "3", "2", None, 8, None, 10.0, 50.0, "FAILED"),
    ]
    part = "part of a job that has its own summary line"
    assert quality("log.swf").dropped == {"no run time": 1, part: 1, "wrong number of cells": 1}


def test_gavel_of_six_and_seven_columns_divides_by_one_gpus_speed():
    assert rows("gavel6.trace", "model", "batch_size", "gpus", "submit_s") == [("LM", 5, 1, 0.0), ("A3C", None, 4, 7.5)]
    assert rows("gavel9.trace", "model", "batch_size", "gpus") == [("A3C", None, 1), ("LM", 10, 2)]  # 5 on each GPU
    assert [run for (run,) in rows("gavel6.trace", "duration_s")] == pytest.approx([10_000, 1_000], rel=1e-4)
    assert quality("gavel6.trace").dropped == {"no throughput known for its job type and GPUs": 1}
    assert [run for (run,) in rows("gavel7.trace", "duration_s")] == pytest.approx([10_000, 100_000], rel=1e-4)


@pytest.mark.parametrize("name", ["gavel9.trace", "gavel10.trace"])
def test_gavel_of_nine_and_ten_columns_divides_by_the_gangs_speed(name):
    assert rows(name, "model", "gpus", "submit_s") == [("A3C", 1, 0.0), ("LM", 2, 30.0)]
    assert [run for (run,) in rows(name, "duration_s")] == pytest.approx([100, 1000], rel=1e-4)


def test_shockwave_has_durations():
    assert rows("gavel12.trace", "job_id", "duration_s") == [("1", 100.0), ("0", 4000.0)]


def test_gavel_with_ones_own_throughputs(tmp_path):
    table = tmp_path / "throughputs.json"
    table.write_text("""{"v100": {"('LM (batch size 5)', 1)": {"null": 2.0}, "('A3C', 4)": {"null": 1.0}}}""")
    assert rows("gavel6.trace", "duration_s", throughputs=table) == [(1671229 / 2,), (8233.0,)]
    table.write_text("[]")
    with pytest.raises(InputError, match="not a Gavel throughput file"):
        read_workload(HERE / "gavel6.trace", throughputs=table)


def test_options_and_formats_are_checked():
    with pytest.raises(UsageError, match="itp reader takes no option 'throughputs'"):
        read_workload(HERE / "itp.csv", throughputs="x")
    with pytest.raises(UsageError, match=r"unknown trace format 'helois' .*did you mean 'helios'"):
        read_workload(HERE / "itp.csv", format="helois")
    with pytest.raises(InputError, match=r"no helios log: the column '.*' is missing"):
        read_workload(HERE / "itp.csv", format="helios")


def test_a_log_with_nothing_left_is_refused(tmp_path):
    log = tmp_path / "log"
    log.write_text("job_id,submission_time,duration,num_gpu\na,1,700,0\nb,2,-1,1\n")
    with pytest.raises(InputError, match=r"left of 2 rows: 1 asks for no GPU \(line 2\); 1 negative run time"):
        read_workload(log)
    log.write_text("job_id,submission_time,duration,num_gpu\n")
    with pytest.raises(InputError, match="there is no job in the file"):
        read_workload(log)


def test_blank_lines_and_commas_forced_into_a_headless_format(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("\n\n\n\n" + "," * 45)
    with pytest.raises(InputError):
        read_workload(path, format="alibaba-pai")


def test_optional_cells_of_a_foreign_log_keep_the_rules_too(tmp_path):
    log = tmp_path / "log"
    log.write_text((HERE / "gavel12.trace").read_text().replace("(batch size 5)", "(batch size 0)"))
    assert rows(log, "batch_size") == [(None,), (None,)]
    assert quality(log).clamped == {"batch size not from 1 to 2^53 - 1 left out": 1}
    log.write_text((HERE / "log.swf").read_text().replace(" 600 ", " 6000000000 "))
    assert rows(log, "time_limit_s") == [(1e9,), (None,)]
    assert quality(log).clamped == {"time limit over 31 years cut to that": 1}


def test_clocks_may_lie_before_1970_but_not_too_far_apart(tmp_path):
    log = tmp_path / "log"
    clocks = ("0001-01-01 00:00:00", "2017-10-09 07:00:00", "4000-12-31 00:00:00")
    log.write_text("timestamp,duration,num_gpus,gpu_time,cluster\n" + "".join(f"{at},5,1,5,v\n" for at in clocks))
    assert rows(log, "job_id") == [("0",), ("1",)]
    assert quality(log).dropped == {"submit time out of range": 1}


def test_a_start_that_cannot_be_read_is_left_out_and_counted(tmp_path):
    """It is not absent: the job did start, and is kept."""
    header = "job_id,user,vc,gpu_num,state,submit_time,start_time,end_time,duration\n"
    (tmp_path / "log").write_text(
        header
        + "1,u,v,8,COMPLETED,2020-06-01 08:00:00,Ystday,2020-06-01 09:00:00,60\n"
        + "2,u,v,8,CANCELLED,2020-06-01 08:00:00,None,None,0\n"
    )
    found = read_workload(tmp_path / "log")
    assert found.jobs.select("job_id", "start_s").rows() == [("1", None)]
    assert found.quality.clamped == {"unreadable start left out": 1}
    assert found.quality.dropped == {"never started": 1}
