"""Timelines say what the tables of the run say, by the rules of the Trace Event format."""

import gzip
import json
from collections import defaultdict
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pointsman
from pointsman.errors import RunError, UsageError
from pointsman.report.result import Result
from pointsman.report.timeline.file import write_timeline
from pointsman.report.timeline.tracks import lanes
from pointsman.workload import generate
from tests.free import simulate

Entry = dict[str, Any]
DOWN = [(9000, 1, "DOWN"), (20000, 1, "UP"), (15000, 2, "DRAIN"), (16000, 2, "UP")]
OVERHEADS = {"start_s": 10, "stop_s": 5, "restore_s": 20}
FIELDS = {
    "M": {"name", "ph", "pid", "args"},
    "X": {"name", "cat", "ph", "pid", "tid", "ts", "dur", "args"},
    "C": {"name", "ph", "pid", "ts", "args"},
    **{ph: {"name", "cat", "ph", "id", "pid", "tid", "ts", "bp"} for ph in "stf"},
}


def entries(result: Result, tmp_path: Path) -> list[Entry]:
    write_timeline(tmp_path / "run.json", result, force=True)
    return json.loads((tmp_path / "run.json").read_text())["traceEvents"]


def of_kind(told: list[Entry], ph: str) -> list[Entry]:
    return [entry for entry in told if entry["ph"] == ph]


def names(told: list[Entry], kind: str, key: str) -> dict[int, str]:
    return {entry[key]: entry["args"]["name"] for entry in of_kind(told, "M") if entry["name"] == kind}


def simulated(policy: str) -> Result:
    jobs = generate("philly", jobs=150, cluster_gpus=32, load=1.2, seed=1)
    return simulate(jobs, "4x8", policy, overheads=OVERHEADS, node_events=DOWN)


@pytest.fixture(scope="module", params=["tiresias", "gandiva", "sjf-bsbf"])
def run(request: pytest.FixtureRequest) -> Result:
    """Runs with preempted jobs, one with jobs that share GPUs; a node fails and another is drained."""
    return simulated(request.param)


@pytest.fixture
def told(run: Result, tmp_path: Path) -> list[Entry]:
    return entries(run, tmp_path)


def test_every_entry_has_the_fields_of_its_kind(told: list[Entry]) -> None:
    for entry in told:
        wanted = FIELDS[entry["ph"]] | ({"tid"} if entry["name"].startswith("thread_") else set())
        assert entry.keys() == wanted, entry
        numbers = [entry[name] for name in ("pid", "tid", "ts", "dur", "id") if name in entry]
        assert all(type(number) is int and number >= 0 for number in numbers), entry
        assert None not in entry.get("args", {}).values(), entry


def test_tracks_have_names_and_numbers_of_their_own(told: list[Entry], run: Result) -> None:
    processes, threads = names(told, "process_name", "pid"), names(told, "thread_name", "tid")
    assert [*processes.values()] == ["cluster", "jobs waiting", *run.info["node_names"]]
    process_of = {entry["tid"]: entry["pid"] for entry in of_kind(told, "M") if "tid" in entry}
    assert len(threads) == len(process_of) and not process_of.keys() & processes.keys()
    assert all(process_of[entry["tid"]] == entry["pid"] for entry in told if "tid" in entry)
    of_node = [threads[tid] for tid, pid in process_of.items() if processes[pid] == "n0003"]
    assert [name for name in of_node if "slot" not in name] == [f"GPU {gpu}" for gpu in range(8)]


def test_no_two_slices_of_a_track_overlap(told: list[Entry]) -> None:
    tracks = defaultdict(list)
    for slice_ in of_kind(told, "X"):
        tracks[slice_["tid"]].append((slice_["ts"], slice_["ts"] + slice_["dur"]))
    for spells in tracks.values():
        assert all(end <= begin for (_, end), (begin, _) in pairwise(sorted(spells)))


def seconds(slices: list[Entry], jobs: pl.DataFrame) -> list[float]:
    total_us = dict.fromkeys(jobs["job_id"], 0)
    for slice_ in slices:
        total_us[slice_["args"]["job_id"]] += slice_["dur"]
    return [us / 1e6 for us in total_us.values()]


def test_slices_add_up_to_the_times_in_the_table_of_jobs(told: list[Entry], run: Result) -> None:
    slices = of_kind(told, "X")
    held, waits = ([s for s in slices if s["cat"] == cat] for cat in ("job", "wait"))
    assert seconds(held, run.jobs) == pytest.approx(run.jobs["held_gpu_s"].to_list())
    assert seconds(waits, run.jobs) == pytest.approx(run.jobs["pending_s"].to_list())
    preempted = {(s["name"], s["args"]["attempt"]) for s in held if s["args"]["end"] == "PREEMPTED"}
    assert len(preempted) == run.jobs["preemptions"].sum()


def at_samples(told: list[Entry], name: str, what: str, samples: pl.DataFrame) -> list[int]:
    counted = [entry for entry in of_kind(told, "C") if entry["name"] == name]
    times = np.array([entry["ts"] for entry in counted])
    assert (np.diff(times) > 0).all()
    values = np.array([0, *(entry["args"][what] for entry in counted)])
    return values[np.searchsorted(times, 1000 * samples["time_ms"].to_numpy(), "right")].tolist()


def test_counters_are_those_of_the_samples(told: list[Entry], run: Result) -> None:
    """Samples count as used what no job holds: GPUs of a node that is down, or kept for a job until others stop."""
    samples = run.series.filter(pl.col("time_ms") > 0)  # the first is of before the first job
    assert at_samples(told, "jobs", "waiting", samples) == samples["pending"].to_list()
    in_use = at_samples(told, "GPUs", "in use", samples)
    assert all(ours <= used for ours, used in zip(in_use, samples["used_gpus"], strict=True))


def test_gpus_in_use_are_those_of_the_samples_where_nodes_are_up_and_stopping_is_free(tmp_path: Path) -> None:
    for policy in ("srtf", "sjf-bsbf"):
        result = simulate(generate("philly", jobs=150, cluster_gpus=32, load=1.2, seed=1), "4x8", policy)
        samples = result.series.filter(pl.col("time_ms") > 0)
        in_use = at_samples(entries(result, tmp_path), "GPUs", "in use", samples)
        assert in_use == samples["used_gpus"].to_list() and max(in_use) == 32


def test_arrows_lead_from_a_job_to_itself(told: list[Entry], run: Result) -> None:
    """By the rule of the viewers: an arrow touches the slice of its track around its time."""
    slices, arrows = defaultdict(list), defaultdict(list)
    for slice_ in of_kind(told, "X"):
        slices[slice_["tid"]].append(slice_)
    for point in (entry for entry in told if entry["ph"] in "stf"):
        around = [s for s in slices[point["tid"]] if s["ts"] < point["ts"] < s["ts"] + s["dur"]]
        assert len(around) == 1, point
        arrows[point["id"]].append((point["ph"], point["ts"], around[0]))
    for points in arrows.values():
        phases, times, touched = zip(*points, strict=True)
        assert phases in (("s", "f"), ("s", "t", "f")) and sorted(times) == [*times]
        assert len({slice_["name"] for slice_ in touched}) == 1
        assert [slice_["cat"] for slice_ in touched] in (["wait", "job"], ["job", "wait", "job"], ["job", "job"])
    lost = [slice_ for points in arrows.values() for ph, _, slice_ in points if slice_["cat"] == "job" and ph == "s"]
    preemptions = sum(slice_["args"]["end"] == "PREEMPTED" for slice_ in lost)
    assert preemptions == run.jobs["preemptions"].sum() < len(lost), "and a node failed"


def test_the_same_run_gives_the_same_bytes_and_gzip_holds_them(run: Result, tmp_path: Path) -> None:
    written = {name: tmp_path / name for name in ("a.json", "b.json", "a.json.gz", "b.json.gz")}
    for path in written.values():
        write_timeline(path, run)
    assert written["a.json"].read_bytes() == written["b.json"].read_bytes()
    assert written["a.json.gz"].read_bytes() == written["b.json.gz"].read_bytes()
    assert gzip.decompress(written["a.json.gz"].read_bytes()) == written["a.json"].read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(written), "nothing else is left"


def shown(told: list[Entry], *args: str) -> list[tuple[Any, ...]]:
    """Slices as (track, name, from s, to s, and these of their args)."""
    threads = names(told, "thread_name", "tid")
    return [
        (threads[s["tid"]], s["name"], s["ts"] / 1e6, (s["ts"] + s["dur"]) / 1e6, *(s["args"].get(a) for a in args))
        for s in of_kind(told, "X")
    ]


def test_a_preempted_job_by_hand(tmp_path: Path) -> None:
    """The long job gives way to the short one, and waits for it."""
    jobs = pl.DataFrame({"job_id": ['say "long"', "ü\\"], "submit_s": [0, 10], "gpus": [2, 2], "duration_s": [100, 20]})
    told = entries(simulate(pointsman.Workload.of(jobs), "1x2", "srtf"), tmp_path)
    long, short = jobs["job_id"]
    assert shown(told, "end", "attempt", "gpus", "after") == [
        *((f"GPU {gpu}", name, *rest) for gpu in (0, 1) for name, *rest in (
            (long, 0, 10, "PREEMPTED", 1, 2, None), (short, 10, 30, "COMPLETED", 1, 2, None),
            (long, 30, 120, "COMPLETED", 2, 2, None),
        )),
        ("lane 1", long, 10, 30, None, None, 2, "losing its GPUs"),
    ]  # fmt: skip
    assert [(c["ts"] / 1e6, c["args"]) for c in of_kind(told, "C")] == [
        (0, {"in use": 2}), (120, {"in use": 0}), (10, {"waiting": 1}), (30, {"waiting": 0}),
    ]  # fmt: skip


def test_nodes_that_fail_have_a_track_of_their_state(tmp_path: Path) -> None:
    told = entries(simulated("fifo"), tmp_path)
    states = [(*slice_[1:4],) for slice_ in shown(told) if slice_[0] == "state"]
    assert states == [("DOWN", 9000, 20000), ("DRAIN", 15000, 16000)]
    failed = {slice_["ts"] + slice_["dur"] for slice_ in of_kind(told, "X") if slice_["args"].get("end") == "NODE_FAIL"}
    assert failed == {9_000_000_000}


def test_jobs_that_share_a_gpu_have_tracks_of_their_own(tmp_path: Path) -> None:
    jobs = pl.DataFrame(
        {"submit_s": [0, 10], "gpus": [1, 1], "duration_s": [100, 60], "job_id": ["a", "b"], "model": ["resnet18"] * 2}
    )
    result = simulate(pointsman.Workload.of(jobs), "1x1/gpu=v100", "sjf-bsbf", interference="1.6")
    told = entries(result, tmp_path)
    assert shown(told) == [("GPU 0", "a", 0, 136), ("GPU 0, slot 2", "b", 10, 106)]
    assert [(c["ts"] / 1e6, c["args"]) for c in of_kind(told, "C")] == [(0, {"in use": 1}), (136, {"in use": 0})]


def test_a_run_that_was_cut_is_drawn_to_its_end(tmp_path: Path) -> None:
    jobs = pl.DataFrame({"submit_s": [0, 10], "gpus": [2, 2], "duration_s": [100, 20], "job_id": ["a", "b"]})
    result = simulate(pointsman.Workload.of(jobs), "1x2", "fifo", until_s=50)
    assert shown(entries(result, tmp_path), "end") == [
        ("GPU 0", "a", 0, 50, "RUNNING"), ("GPU 1", "a", 0, 50, "RUNNING"), ("lane 1", "b", 10, 50, None),
    ]  # fmt: skip


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 9)), max_size=60))
def test_lanes_are_the_fewest_without_overlap(spells: list[tuple[int, int, int]]) -> None:
    group, start, lasted = np.array(spells, np.int64).reshape(-1, 3).T
    lane = lanes(group, start, start + lasted)
    for of in np.unique(group):
        mine = (group == of) & (lasted > 0)
        busy = [((start[mine] <= t) & (t < (start + lasted)[mine])) for t in range(40)]
        assert all(len({*lane[mine][now]}) == now.sum() for now in busy)
        assert lane[mine].max(initial=-1) + 1 == max(now.sum() for now in busy)


def test_what_cannot_be_drawn_says_why(run: Result, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"kept no events.*run again without --no-log"):
        write_timeline(tmp_path / "a.json", replace(run, events=None))
    with pytest.raises(UsageError, match="names no GPUs"):
        write_timeline(tmp_path / "a.json", replace(run, info=run.info | {"logged": True}))
    with pytest.raises(UsageError, match=r"name it run.json.gz"):
        write_timeline(tmp_path / "run.perfetto", run)
    (tmp_path / "a.json").touch()
    with pytest.raises(UsageError, match="exists already"):
        write_timeline(tmp_path / "a.json", run)
    assert [path.name for path in tmp_path.iterdir()] == ["a.json"]


def test_a_full_disk_leaves_nothing(run: Result, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr("pointsman.report.timeline.file.check_output_file", lambda path, force: None)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        with pytest.raises(RunError, match="cannot be written: File too large"):
            write_timeline(tmp_path / "a.json", run)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert [*tmp_path.iterdir()] == []
