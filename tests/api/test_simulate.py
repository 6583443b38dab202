"""`pointsman.simulate`: what it refuses and how it says so, and what each option does."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

import pointsman
from pointsman.engine.run.view import View
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import InputError, PointsmanError, UsageError
from pointsman.experiment import Assumptions
from tests.free import simulate

TYPED = """
apiVersion: pointsman/v1
kind: Cluster
metadata: {name: two-kinds}
spec:
  node_types:
    fast: {gpus: 4, gpu_type: a100, nic: {bandwidth: 200 Gb/s}}
    slow: {gpus: 4, gpu_type: t4, nic: {bandwidth: 25 Gb/s}}
  racks:
    - nodes:
        - {type: fast, count: 1, partitions: [train]}
        - {type: slow, count: 2, partitions: [debug]}
  queues:
    small: {gpu_limit: 2}
"""


@pytest.fixture
def two_kinds(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(TYPED)
    return str(path)


def table(**columns: list[Any]) -> pointsman.Workload:
    n = len(next(iter(columns.values())))
    plain: dict[str, list[Any]] = {"submit_s": [0.0] * n, "gpus": [1] * n, "duration_s": [10.0] * n}
    return pointsman.Workload.of(pl.DataFrame(plain | columns))


def random_table(n: int = 300) -> pointsman.Workload:
    draw = np.random.default_rng(2)
    return table(
        submit_s=np.sort(draw.uniform(0, 1000, n)).tolist(),
        gpus=draw.choice([1, 2, 4, 8], n).tolist(),
        duration_s=draw.uniform(1, 100, n).tolist(),
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"policy": "fifi"}, r"unknown policy 'fifi' \(did you mean 'fifo'"),
        ({"policy": "rounds(fifo, 0)"}, "at least 1 ms"),
        ({"policy": "rounds(rounds(fifo, 5), 5)"}, "rounds"),
        ({"policy": "nowhere.py:Mine"}, "nowhere.py: no such file"),
        ({"policy": "srtf", "params": {"margin": 1}}, "has no parameter 'margin' .*did you mean 'margin_s'"),
        ({"policy": "srtf", "params": {"margin_s": -1}}, "srtf.margin_s = -1: .*greater than or equal to 0"),
        ({"policy": "tiresias", "params": {"thresholds_gpu_s": [7, 3]}}, "thresholds must rise"),
        ({"policy": "fifo", "params": {"speed": 3}}, "it has no parameters"),
        ({"placement": "random"}, "placement: must be 'consolidated', .* or 'few-racks', not 'random'"),
        ({"oversized": "ignore"}, "oversized: must be 'refuse', 'drop' or 'clamp', not 'ignore'"),
        ({"policy": "sjf", "estimate": "guess"}, "unknown estimate 'guess'.*lognormal:SIGMA"),
        ({"policy": "sjf", "estimate": "lognormal:-1"}, "unknown estimate 'lognormal:-1'"),
        ({"policy": "sjf", "estimate": "none"}, "policy 'sjf' requires durations"),
        ({"overheads": "heavy"}, "unknown overheads 'heavy'"),
        ({"node_events": [(5.0, "nobody", "DOWN")]}, "no such node"),
        ({"node_events": [(5.0, "0", "BROKEN")]}, "UP, DRAIN, DOWN"),
        ({"node_events": [(1.0, "0")]}, r"node event \(1.0, '0'\): it must be \(time_s, node, state\)"),
        ({"node_events": [(-5.0, "0", "DOWN")]}, "the time must be seconds since the first submit, from 0"),
        ({"node_events": [(math.nan, "0", "DOWN")]}, "the time must be seconds"),
        ({"node_events": [(math.inf, "0", "DOWN")]}, "the time must be seconds"),
        ({"node_events": [(1e300, "0", "DOWN")]}, "the time must be seconds"),
        ({"node_events": [("5", "0", "DOWN")]}, "the time must be seconds"),
        ({"cancels": [(-5.0, 0)]}, "the time must be seconds"),
        ({"cancels": [(math.inf, 0)]}, "the time must be seconds"),
        ({"cancels": [(5.0, "0")]}, "no such row"),
        ({"cancels": [7]}, "cancel 7: it must be"),
        (
            {"cancels": [(0.0, 1)]},
            r"cancel \(0.0, 1\): job 1 is submitted at 0 s, and can only be cancelled after that",
        ),
        ({"policy": "rounds(fifo, 1e300)"}, "at most 100 days"),
        ({"policy": "srtf", "params": {"margin_s": 1e308}}, "srtf.margin_s = 1e.308: must be at most 1,000,000,000 s"),
        ({"policy": "pick-place", "params": {"random_seed": 2**53 + 2}}, "must be at most 9,007,199,254,740,992"),
        ({"policy": "tiresias", "params": {"thresholds_gpu_s": [5, 1e300]}}, "must be at most .* GPU-s"),
        (
            {"policy": "multifactor", "params": {"decay_half_life_s": 0.0004}},
            "must not be between 0 and 0.001 s: times are whole milliseconds",
        ),
        ({"policy": "multifactor", "params": {"max_age_s": 1e-300}}, "must not be between 0 and 0.001 s"),
        ({"policy": "multifactor", "params": {"shares": {"a": math.inf}}}, "shares = {'a': inf}: must be at most"),
        ({"policy": "multifactor", "params": {"partition_priority": {"a:2": None}}}, "partition_priority.a:2 = None"),
        (
            {"policy": "tiresias", "params": {"promote_knob": math.inf}},
            "promote_knob = inf: must be less than or equal",
        ),
        ({"seed": -1}, "seed: must be greater than or equal to 0, not -1"),
        ({"seed": 2**70}, "seed: must be less than 4294967296, not"),
        ({"seed": 1.5}, "seed: must be a whole number"),
        ({"assign_models": -1}, "assign_models: must be greater than or equal to 0, not -1"),
        ({"until_s": math.nan}, "until_s nan must be a number of seconds from 0"),
        ({"cluster": "nowhere"}, "nowhere"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(arguments: dict[str, Any], message: str) -> None:
    options = {"cluster": "2x4", "policy": "fifo"} | arguments
    with pytest.raises(PointsmanError, match=message) as caught:
        simulate(table(gpus=[1, 2]), **options)
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code in (2, 3)


@pytest.mark.parametrize(
    ("column", "factor"), [("submit_s", 1e16), ("submit_s", math.nan), ("duration_s", 1e16), ("duration_s", -1.0)]
)
def test_times_beyond_the_clock_are_refused(column: str, factor: float) -> None:
    jobs = table(submit_s=[0.0, 1.0])
    with pytest.raises(InputError, match="beyond the engine's clock"):
        simulate(replace(jobs, jobs=jobs.jobs.with_columns(pl.col(column) * factor)), "2x4", "fifo")


def test_a_result_states_every_option_of_its_run(tmp_path: Path) -> None:
    given: dict[str, Any] = {"estimate": "oracle", "oversized": "drop", "profiles": (), "congestion": {"rack": 4}}
    given |= {"seed": np.int64(3), "interference": 1.5, "enforce_limits": True, "overheads": Overheads(start_s=5.0)}
    result = simulate(table(gpus=[1, 2], time_limit_s=[5.0, 20.0]), "2x4", "fifo", **given)
    stated = {name: result.info[name] for name in ("seed", *Assumptions.model_fields)}
    assert stated | {"overheads": {"start_s": 5.0}, "placement": "consolidated", "rate_model": "rates"} == {
        **Assumptions().model_dump(),
        **given,
        **{"overheads": {"start_s": 5.0}, "placement": "consolidated", "rate_model": "rates"},
        **{"gpu_sharing": 1, "interference": "1.5", "log": None},
    }
    assert stated["overheads"]["start_s"] == 5.0
    written = pointsman.write_run(tmp_path / "run", result, figures=False)
    assert set(stated) <= set(yaml.safe_load((written / "config.resolved.yaml").read_text()))


def test_until_the_end_of_time_is_to_the_end() -> None:
    assert simulate(table(gpus=[1]), "2x4", "fifo", until_s=1e300).jobs["end_s"].to_list() == [10.0]


def test_params_of_a_policy_object_are_its_own() -> None:
    from pointsman.policies.classical.fifo import Fifo

    with pytest.raises(UsageError, match="a policy object has its own"):
        simulate(table(gpus=[1]), "2x4", Fifo(), params={"x": 1})


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("gpu_type", "v100", "asks for GPU type 'v100', which the cluster does not have"),
        ("partition", "batch", "asks for partition 'batch', which the cluster does not have"),
    ],
)
def test_jobs_that_ask_for_what_is_not_there(two_kinds: str, column: str, value: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        simulate(table(gpus=[1, 1], **{column: [None, value]}), two_kinds, "fifo")
    assert "'1' (row 2)" in str(caught.value)


def test_a_job_of_two_partitions_runs_on_nodes_of_either(two_kinds: str) -> None:
    jobs = table(gpus=[4] * 4, partition=["train", "train,debug", "debug", "nowhere, debug"])
    run = simulate(jobs, two_kinds, "fifo")
    assert run.jobs["wait_s"].to_list()[:3] == [0.0] * 3
    with pytest.raises(InputError, match="asks for partition 'batch,long', which the cluster does not have"):
        simulate(table(gpus=[1], partition=["batch,long"]), two_kinds, "fifo")


def test_a_type_in_another_partition_is_named_as_such(two_kinds: str) -> None:
    with pytest.raises(InputError, match=r"GPU type 't4', which partition 'train' does not have \(it has a100;"):
        simulate(table(gpus=[1], gpu_type=["t4"], partition=["train"]), two_kinds, "fifo")


def test_types_and_partitions_choose_the_nodes(two_kinds: str) -> None:
    jobs = table(
        gpus=[4, 4, 4, 8, 1],
        gpu_type=["T4", "a100|t4", None, "a100+t4", None],
        partition=[None, None, "debug", None, "train"],
    )
    result = simulate(jobs, two_kinds, "fifo")
    assert result.events is not None
    nodes = result.events.filter(pl.col("kind") == "START").group_by("row").agg(pl.col("node").sort()).sort("row")
    assert nodes["node"].to_list() == [[1], [0], [2], [0, 1], [0]]
    assert result.jobs["start_s"].to_list() == [0.0, 0.0, 0.0, 10.0, 20.0]


def test_gangs_too_wide_are_refused_dropped_or_clamped() -> None:
    jobs = table(gpus=[4, 9, 8])
    with pytest.raises(InputError, match=r"job '1' \(row 2\) asks for 9 GPUs and can never have more than 8"):
        simulate(jobs, "2x4", "fifo")
    dropped = simulate(jobs, "2x4", "fifo", oversized="drop")
    assert dropped.jobs["job_id"].to_list() == ["0", "2"]
    clamped = simulate(jobs, "2x4", "fifo", oversized="clamp")
    assert clamped.jobs["gpus"].to_list() == [4, 8, 8]
    quality = dropped.info["quality"]
    assert (quality["rows_read"], quality["kept"]) == (3, 2)
    assert quality["dropped"] == {"wider than the cluster or its queue": 1}
    assert clamped.info["quality"]["clamped"] == {"narrowed to the GPUs that they can have at once": 1}
    assert jobs.quality.dropped == {}
    with pytest.raises(InputError, match="no job of the workload fits"):
        simulate(table(gpus=[9]), "2x4", "fifo", oversized="drop")


def test_a_shape_that_never_fits_is_too_wide_though_its_number_is_not() -> None:
    """Six GPUs on nodes of 4 and 1 and 1: a whole node and two on one of the others."""
    with pytest.raises(InputError, match="asks for 6 GPUs and can never have more than 5"):
        simulate(table(gpus=[6]), "1x4+2x1", "fifo")
    spread = simulate(table(gpus=[6]), "1x4+2x1", "fifo", placement="spread")
    assert spread.jobs["nodes"].item() == 3


def test_a_job_wider_than_its_queue_is_refused(two_kinds: str) -> None:
    with pytest.raises(InputError, match="can never have more than 2"):
        simulate(table(gpus=[3], queue=["small"]), two_kinds, "fifo")


def test_a_queue_that_may_hold_nothing_cannot_be_clamped_to(tmp_path: Path) -> None:
    path = tmp_path / "closed.yaml"
    path.write_text(TYPED.replace("gpu_limit: 2", "gpu_limit: 0"))
    with pytest.raises(InputError, match="can never have more than 0"):
        simulate(table(gpus=[3], queue=["small"]), str(path), "fifo", oversized="clamp")


def test_a_job_that_cannot_run_is_found_in_its_file(tmp_path: Path, two_kinds: str) -> None:
    log = tmp_path / "jobs.csv"
    log.write_text("job_id,submit_s,gpus,duration_s,gpu_type,partition\nb,9,40,5,,\na,0,1,5,,\n")
    with pytest.raises(InputError, match=r"jobs.csv:2: job 'b' asks for 40 GPUs .*\(use a larger cluster, or --over"):
        simulate(log, "2x4", "fifo")
    log.write_text("submit_s,gpus,duration_s,gpu_type\n9,4,5,t5|x\n0,1,5,\n")
    with pytest.raises(
        InputError, match=r"csv:2: job '0' asks .*GPU type 't5.x'.*by 'pointsman cluster suggest LOG -o FILE', or leave"
    ):
        simulate(log, two_kinds, "fifo")
    log.write_text("submit_s,gpus,duration_s,gpu_type\n0,4,5,NVIDIA-B200\n1,1,5,nvidia_h100_80gb_hbm3\n2,1,5,T4\n")
    with pytest.raises(
        InputError, match=r"other jobs ask for h100, .*like --cluster 16x8/gpu=b200\+16x8/gpu=h100\+16x8"
    ):
        simulate(log, two_kinds, "fifo")
    log.write_text("submit_s,gpus,duration_s,partition\n9,4,5,\n0,1,5,batch\n")
    with pytest.raises(InputError, match=r"csv:3: job '1' asks .*its partitions are debug, train; add it .*, or leave"):
        simulate(log, two_kinds, "fifo")
    swf = tmp_path / "log.swf"
    swf.write_text(
        "; SWF\n 1 0 0 60 2 -1 -1 2 -1 -1 1 1 1 -1 1 -1 -1 -1\n 12 5 0 60 99 -1 -1 99 -1 -1 1 1 1 -1 1 -1 -1 -1\n"
    )
    with pytest.raises(InputError, match=r"log.swf:3: job '12' asks for 99 GPUs"):
        simulate(swf, "2x4", "fifo")


def test_queue_limits_of_the_cluster_file(two_kinds: str) -> None:
    jobs = table(gpus=[1, 2, 1, 1], queue=["small", "small", "other", None])
    result = simulate(jobs, two_kinds, "fifo", audit=True)
    assert result.jobs["start_s"].to_list() == [0.0, 10.0, 0.0, 0.0]


def test_estimates_from_limits() -> None:
    jobs = table(duration_s=[10.0, 20.0, 30.0], time_limit_s=[300.0, 200.0, 100.0], submit_s=[0.0, 1.0, 1.0])
    result = simulate(jobs, "1x1", "sjf", estimate="limit")
    assert result.jobs["start_s"].to_list() == [0.0, 40.0, 10.0]
    assert result.jobs["estimate_s"].to_list() == [300.0, 200.0, 100.0]
    with pytest.raises(InputError, match="1 of 2 jobs have no time_limit_s"):
        simulate(table(time_limit_s=[5.0, None]), "1x1", "sjf", estimate="limit")


def test_estimates_with_an_error_are_rounded_to_whole_milliseconds_at_least_one() -> None:
    """Of jobs of 1 ms: 1 up to an error of ln 1.5, which is 66 % of them at σ = 1; rounded up it would be half."""
    jobs = pointsman.Workload.of(
        pl.DataFrame({"submit_s": [0.0] * 2000, "gpus": [1] * 2000, "duration_s": [0.001] * 2000})
    )
    told = simulate(jobs, "40x64", "sjf", estimate="lognormal:1", log=False).jobs["estimate_s"].to_numpy()
    assert (1000 * told).min() == 1
    assert 0.61 < (told == 0.001).mean() < 0.71


def test_lognormal_estimates_follow_the_seed() -> None:
    jobs = random_table(5000)
    first, again, other = (
        simulate(jobs, "8x8", "sjf", estimate="lognormal:0.5", seed=seed, log=False) for seed in (1, 1, 2)
    )
    assert first.jobs.equals(again.jobs)
    assert not first.jobs["estimate_s"].equals(other.jobs["estimate_s"])
    error = np.log(first.jobs["estimate_s"].to_numpy() / first.jobs["duration_s"].to_numpy())
    assert abs(error.mean()) < 0.03
    assert abs(error.std() - 0.5) < 0.03
    assert first.info["knowledge"] == "estimate lognormal:0.5"


def test_who_needs_nothing_is_told_nothing() -> None:
    result = simulate(table(gpus=[1, 1]), "1x1", "fifo")
    assert result.jobs["estimate_s"].null_count() == 2
    assert result.info["knowledge"] == "none"


def test_priorities_go_first() -> None:
    jobs = table(submit_s=[0.0, 1.0, 2.0, 3.0], priority=[0, 0, 5, 5])
    assert simulate(jobs, "1x1", "fifo").jobs["start_s"].to_list() == [0.0, 30.0, 10.0, 20.0]
    evicting = simulate(jobs, "1x1", "srtf").jobs
    assert evicting["start_s"].to_list() == [0.0, 30.0, 2.0, 12.0]
    assert evicting["preemptions"].to_list() == [1, 0, 0, 0]


def test_nodes_that_fail_and_drain() -> None:
    jobs = table(gpus=[4, 4, 4], submit_s=[0.0, 0.0, 20.0], duration_s=[10.0, 30.0, 10.0])
    events = [(5.0, "0", "DOWN"), (12.0, "0", "UP"), (15.0, "1", "DRAIN")]
    result = simulate(jobs, "2x4", "fifo", node_events=events, audit=True)
    assert result.jobs["end_s"].to_list() == [17.0, 30.0, 30.0]  # without checkpoints nothing is lost: 5 s + 5 s
    costs = Overheads(checkpoint_every_s=3.0)
    lossy = simulate(jobs, "2x4", "fifo", node_events=events, overheads=costs, audit=True)
    assert lossy.jobs["lost_s"].to_list() == [2.0, 0.0, 0.0]
    assert lossy.jobs["end_s"].to_list() == [19.0, 30.0, 30.0]
    assert lossy.jobs["preemptions"].sum() == 0


def test_cancelled_jobs_leave() -> None:
    jobs = table(submit_s=[0.0, 0.0, 0.0], duration_s=[100.0, 10.0, 10.0])
    result = simulate(jobs, "1x1", "fifo", cancels=[(7.0, 0), (8.0, 2)], audit=True)
    assert result.jobs["state"].to_list() == ["CANCELLED", "COMPLETED", "CANCELLED"]
    assert result.jobs["start_s"].to_list() == [0.0, 7.0, None]
    assert result.jobs["run_s"].to_list() == [7.0, 10.0, 0.0]


def test_a_cancel_of_a_row_that_is_not_there_is_refused() -> None:
    with pytest.raises(UsageError, match="no such row"):
        simulate(table(gpus=[1]), "1x1", "fifo", cancels=[(1.0, 9)])


def test_a_run_that_is_cut_tells_what_it_knows() -> None:
    jobs = table(submit_s=[0.0, 0.0, 50.0], gpus=[4, 4, 1], duration_s=[30.0, 30.0, 5.0])
    result = simulate(jobs, "1x4", "fifo", until_s=40.0)
    assert result.jobs["state"].to_list()[:2] == ["COMPLETED", "RUNNING"]
    assert result.jobs["end_s"].to_list() == [30.0, None, None]
    assert result.jobs["start_s"].to_list() == [0.0, 30.0, None]
    assert result.jobs["run_s"].to_list()[0] == 30.0
    whole = simulate(jobs, "1x4", "fifo")
    assert simulate(jobs, "1x4", "fifo", until_s=1e6).jobs.equals(whole.jobs)


def test_failing_starts_are_tried_again_and_follow_the_seed() -> None:
    costs = Overheads(start_s=2.0, start_fail_rate=0.3)
    runs = [simulate(random_table(), "4x8", "fifo", overheads=costs, seed=seed) for seed in (1, 1, 2)]
    for result in runs:
        assert (result.jobs["state"] == "COMPLETED").all()
        assert result.events is not None
        kinds = result.events.unique("seq")["kind"]
        starts, failed = (kinds == "START").sum(), (kinds == "START_FAILED").sum()
        assert starts - failed == 300
        assert 0.2 < failed / starts < 0.4
    assert runs[0].jobs.equals(runs[1].jobs)
    assert not runs[0].jobs.equals(runs[2].jobs)


def test_starts_that_take_no_time_cannot_fail() -> None:
    with pytest.raises(ValueError, match="start_fail_rate needs a start_s above 0"):
        Overheads(start_fail_rate=0.3)


def test_starts_that_always_fail_are_refused() -> None:
    with pytest.raises(ValueError, match=r"start_fail_rate\n.*less than 1"):
        Overheads(start_s=2.0, start_fail_rate=1.0)


@pytest.mark.parametrize("duration_s", [-5.0, math.nan])
def test_a_frame_with_a_duration_that_is_none_is_refused(duration_s: float) -> None:
    """Readers and `Workload.of` refuse it; a frame put into a workload afterwards has not passed them."""
    workload = table(duration_s=[10.0, 10.0])
    broken = workload.with_jobs(workload.jobs.with_columns(duration_s=pl.Series([10.0, duration_s])), reason="none")
    with pytest.raises(InputError, match="or one is negative"):
        simulate(broken, "1x2", "fifo")


def test_gangs_spread_over_racks_run_longer() -> None:
    cluster = "4x4/rack=1,gpu=v100"
    jobs = table(gpus=[4, 8], model=["vgg16", "vgg16"], duration_s=[100.0, 100.0], submit_s=[0.0, 200.0])
    scattered = simulate(jobs, cluster, "fifo", placement="spread").jobs
    together = simulate(jobs, cluster, "fifo").jobs
    assert scattered["locality"].to_list() == ["pod", "pod"]
    assert together["locality"].to_list() == ["node", "pod"]
    assert together["run_s"][0] == 100.0 < scattered["run_s"][0]
    assert 0.0 < together["comm_s"][0] < scattered["comm_s"][0] < scattered["run_s"][0]


def test_an_empty_workload_is_refused() -> None:
    empty = table(gpus=[1])
    with pytest.raises(InputError, match="no jobs"):
        simulate(empty.with_jobs(empty.jobs.clear(), reason="all"), "1x1", "fifo")


def test_overheads_from_a_file(tmp_path: Path) -> None:
    costs = tmp_path / "costs.yaml"
    costs.write_text("start_s: 2\n")
    result = simulate(table(gpus=[1]), "1x1", "fifo", overheads=str(costs))
    assert result.jobs["jct_s"].item() == 12.0
    costs.write_text("start: 2\n")
    with pytest.raises(UsageError, match=r"costs.yaml:1: unknown key 'start' .*did you mean 'start_s'"):
        simulate(table(gpus=[1]), "1x1", "fifo", overheads=str(costs))


def test_limits_are_enforced_when_asked_for() -> None:
    """Limits of 100 s: the job of 300 s is killed there, which lets the one behind it start 200 s earlier."""
    jobs = pl.DataFrame(
        {"submit_s": [0.0, 0.0], "gpus": [1, 1], "duration_s": [300.0, 50.0], "time_limit_s": [100.0, 100.0]}
    )
    result = simulate(pointsman.Workload.of(jobs), "1x1", "fifo", enforce_limits=True)
    assert result.jobs["state"].to_list() == ["TIMEOUT", "COMPLETED"]
    assert result.jobs["end_s"].to_list() == [100.0, 150.0]
    assert result.info["quality"]["clamped"] == {"killed at their time limit": 1}
    assert pointsman.summarise(result)["jobs_counted"] == 2
    recorded = simulate(pointsman.Workload.of(jobs), "1x1", "fifo")
    assert recorded.jobs["end_s"].to_list() == [300.0, 350.0]


def test_limits_that_no_job_has_cannot_be_enforced() -> None:
    jobs = pl.DataFrame({"submit_s": [0.0], "gpus": [1], "duration_s": [1.0]})
    with pytest.raises(InputError, match="no job has a time_limit_s"):
        simulate(pointsman.Workload.of(jobs), "1x1", "fifo", enforce_limits=True)


@pytest.mark.parametrize(("named", "lost_s"), [("realistic", 0.0), ("periodic", 900.0), ("none", 0.0)])
def test_a_preempted_job_loses_what_it_has_not_written(named: str, lost_s: float) -> None:
    """A checkpoint is written after 30 minutes of work; a shorter job comes when 45 are done."""
    jobs = table(submit_s=[0.0, 2700.0 + (10.0 if named != "none" else 0.0)], gpus=[1, 1], duration_s=[7200.0, 60.0])
    result = simulate(jobs, "1x1", "srtf", overheads=named, audit=True)
    assert result.jobs["lost_s"].to_list() == [lost_s, 0.0]
    ran_s = result.jobs["run_s"].to_list()
    assert ran_s == [7200.0 + lost_s, 60.0]


def test_what_would_be_lost_is_seen_by_policies() -> None:
    """Of a job that began at 10 s, at 2,710 s and after a node failed, which cost it the same."""
    seen = []

    class Looks:
        name, needs = "looks", "none"

        def decide(self, view: View) -> None:
            for slot in view.heads():
                view.start(slot)
            seen.append((view.now_s, *view.since_checkpoint_s.tolist()))

    jobs = table(submit_s=[0.0, 2710.0], gpus=[1, 1], duration_s=[7200.0, 60.0])
    simulate(jobs, "1x1", Looks(), overheads="periodic", node_events=[(2711.0, "0", "DOWN"), (2712.0, "0", "UP")])
    assert (2710.0, 900.0, 0.0) in seen
    assert seen[0] == (0.0, 0.0) and (2711.0, 0.0, 0.0) in seen


def test_checkpoints_that_are_lost_are_written_at_some_time() -> None:
    with pytest.raises(UsageError, match="loses_since_checkpoint needs a checkpoint_every_s above 0"):
        simulate(table(gpus=[1]), "1x1", "fifo", overheads={"loses_since_checkpoint": True})
