"""Every policy there is, with failures, cancellations, overheads and failing starts, under audit and the ledger; on
each rate model, contention and placement, and with each sharing of GPUs, that it works with.

One that is new to the registry must be given small parameters here (`SMALL`).
"""

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pointsman
from pointsman.engine.rate_models.factors.gpu_sharing import jobs_per_gpu
from pointsman.engine.rate_models.registry import base_model_of
from pointsman.engine.run.policy_terms import placement_of
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import RunError, UsageError
from pointsman.policies.registry import BUILT_IN, LEARNED, get_policy
from pointsman.report.result import Result
from tests.free import simulate

from .broad_ledger import BroadLedger
from .test_plan_log import costs, last_states

SLICES: dict[str, Any] = {"slice_s": 3, "round_s": 5}
SERVICE: dict[str, Any] = {"thresholds_gpu_s": [5.0, 20.0]}
DALLY: dict[str, Any] = {
    "node_timer_s": 4, "rack_timer_s": 8, "history_s": 60, "least_entries": 2, "first_level_gpu_s": 8, "quantum_s": 3,
    "round_s": 5,
}  # fmt: skip
SMALL: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf")},
    "conservative": {"depth": 3},
    "multifactor": {"calc_period_s": 3, "max_age_s": 10, "decay_half_life_s": 20},
    "kueue": {"reclaim_within_cohort": "Any", "within_cluster_queue": "LowerOrNewerEqualPriority"},
    "las": {"thresholds_gpu_s": [10.0]},
    "tiresias": SERVICE | {"promote_knob": 2.0},
    "tiresias-skew": SERVICE,
    "gandiva": SLICES,
    "gandiva-packing": SLICES,
    "dally": DALLY,
    "dally-manual": DALLY,
    **{
        name: {k: v for k, v in DALLY.items() if "timer" not in k}
        for name in ("dally-nowait", "dally-consolidated", "dally-whole-nodes")
    },
    "dally-nopreempt": DALLY,
    "gittins": {k: v for k, v in DALLY.items() if k not in ("first_level_gpu_s", "levels")}
    | {"refit_s": 5, "least_ends": 2},
    "sjf-bsbf": {"gate": "joint"},
    "sjf-bsbf-consolidated": {},
    "sjf-ffs": {},
    "pollux": {"interval_s": 7, "restart_s": 2},
    "lwf": {},
    "srsf": {"transfers": 2},
    "ada-srsf": {},
    "pick-place": {"picker": "random", "gpus": "random"},
    "pick-place-sjf": {"gpus": "anchor"},
    **{name: {} for name in ("lb", "tetris-place", "lif", "packed", "packed-lif", "packed-patience", "scorer")},
    "random-place": {"random_seed": 3},
    **{name: {} for name in LEARNED},
}
"""Parameters under which much happens in a minute."""
EXAMPLE = Path(__file__).parents[2] / "examples" / "my_policy.py"
OTHERS = {"rounds(srtf, 7)": {}, "rounds(dally, 3)": DALLY, f"{EXAMPLE}:MyPolicy": {"patience_s": 20.0}}
POLICIES = [*BUILT_IN, *LEARNED, *OTHERS]
RATE_MODELS = (None, "tree", "tree:clamp=1", "iterations", "goodput")
CONTENTIONS = ("none", "max-min", "duty-cycle", "level", "node-link")
PLACEMENTS = (None, "consolidated", "first-fit", "spread", "tightest", "few-racks")
CLUSTERS = {"3x2/rack=1,gpu=v100": (3, 2), "2x4/gpu=v100+1x3/gpu=p100": (2, 4), "4x4/rack=2,gpu=t4": (4, 4)}
"""And the nodes and GPUs on each that one type has; together the widest gang."""
MODELS = (None, "resnet18", "bert", "ncf", "vgg16", "inception_bn")
ON_NODES = ("none", "none", "table", "table:kappa=40")
EXAMPLES, MORE = 6, 300


def test_every_policy_of_the_registry_has_small_parameters() -> None:
    assert set(SMALL) == {*BUILT_IN, *LEARNED}


def make(policy: str, made: dict[str, Path]) -> tuple[str, dict[str, Any]]:
    """Its name, with a checkpoint where it needs one, and its parameters."""
    if policy not in LEARNED or policy in ("topdrl", "metarl"):  # whose weights are shipped, or that has none
        return policy, OTHERS.get(policy) or SMALL.get(policy) or {}
    return f"{policy}:{made[policy]}", {}


@pytest.fixture(scope="session")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of learned policies without shipped weights: such as have learnt nothing."""
    begin = pytest.importorskip("pointsman.learn.setup")
    from pointsman.learn.agents import PRACTICE, recipe

    made = {}
    for name in ("deeprm", "proximity-drl", "marl"):
        made[name] = tmp_path_factory.mktemp("checkpoints") / name
        practice = {"cluster": "2x2", "jobs": 5, "episodes": 1, "horizon_s": None, "reward": "jobs", "schedulers": 1}
        training = begin.begin(recipe(name, {PRACTICE: practice}), made[name], seed=3)
        training._keep()
        made[name].mkdir()
        training._save()
    return made


@cache
def works_with(policy: str, params: tuple[tuple[str, Any], ...]) -> list[dict[str, Any]]:
    """The ways in which it can be run."""
    made = get_policy(policy).make({name: list(v) if isinstance(v, tuple) else v for name, v in params})
    found = []
    for rate_model in RATE_MODELS:
        for contention in CONTENTIONS:
            for sharing in (None, 2):
                for placement in PLACEMENTS:
                    try:
                        base = base_model_of(made, rate_model, contention, gpu_sharing=sharing)
                        jobs_per_gpu(made, sharing)
                        placement_of(made, placement)
                    except UsageError:
                        continue
                    found.append(
                        {
                            "rate_model": rate_model, "contention": contention, "gpu_sharing": sharing,
                            "placement": placement, "limit": getattr(base, "sharing", sharing or 2),
                        }
                    )  # fmt: skip
    return found


def shapes(gpus: int, nodes: int, size: int) -> list[int]:
    """GPUs per node of shapes that fit so many nodes of this size."""
    return [g for g in range(1, size + 1) if gpus % g == 0 and gpus // g <= nodes]


@st.composite
def job_tables(draw: st.DrawFn, nodes: int, size: int, *, shaped: bool) -> pl.DataFrame:
    """Small numbers, so that much happens at one instant; gangs of models of which some can share a GPU; queues that
    borrow; in half of the tables jobs that may not be preempted, and in half jobs with shapes.
    """
    widest = nodes * size
    shaped = shaped and draw(st.booleans())
    rows = draw(
        st.lists(
            st.tuples(
                st.integers(0, 40),
                st.integers(1, min(8, widest)),
                st.integers(0, 30),
                st.integers(-1, 1),
                st.sampled_from(MODELS),
                st.sampled_from((None, "a", "b")),
                st.sampled_from(("x", "y")),
            ),
            min_size=1,
            max_size=15,
        )
    )
    submit, gpus, duration, priority, model, queue, user = zip(*sorted(rows, key=lambda row: row[0]), strict=True)
    return pl.DataFrame(
        {
            "submit_s": [float(s) for s in submit],
            "gpus": gpus,
            "duration_s": [float(d) for d in duration],
            "priority": priority if draw(st.booleans()) else [0] * len(rows),
            "model": model if draw(st.booleans()) else [None] * len(rows),
            "queue": queue if draw(st.booleans()) else [None] * len(rows),
            "user": user,
            "preemptible": [draw(st.booleans()) for _ in rows] if draw(st.booleans()) else [None] * len(rows),
            "gpus_per_node": [draw(st.sampled_from([None, *shapes(n, nodes, size) * shaped])) for n in gpus],
        },
        schema_overrides={"model": pl.String, "queue": pl.String, "preemptible": pl.Boolean, "gpus_per_node": pl.Int64},
    )


node_changes = st.lists(
    st.tuples(st.integers(1, 80), st.integers(0, 2), st.sampled_from(["DOWN", "DRAIN", "UP"])), max_size=4
)


def check_a_run(data: st.DataObject, policy: str, params: dict[str, Any]) -> None:
    key = tuple((name, tuple(v) if isinstance(v, list) else v) for name, v in params.items())
    way = dict(data.draw(st.sampled_from(works_with(policy, key))))
    limit = way.pop("limit")
    cluster = data.draw(st.sampled_from(list(CLUSTERS)))
    jobs = data.draw(job_tables(*CLUSTERS[cluster], shaped=policy != "pollux"))
    overheads = data.draw(costs())
    events = [(float(t), str(n), state) for t, n, state in data.draw(node_changes)]
    cancels = data.draw(st.lists(st.tuples(st.integers(1, 60), st.integers(0, len(jobs) - 1)), max_size=3))
    submit_s = (jobs["submit_s"].sort() - jobs["submit_s"].min()).to_list()
    try:
        result = simulate(
            pointsman.Workload.of(jobs), cluster, policy, params=params, overheads=overheads, node_events=events,
            cancels=[(submit_s[row] + t, row) for t, row in cancels], audit=True, seed=data.draw(st.integers(0, 3)),
            node_interference=data.draw(st.sampled_from(ON_NODES)), **way,
        )  # fmt: skip
    except RunError as error:
        assert "only preempt each other" in str(error)
        return
    elastic = set(range(len(jobs))) if policy == "pollux" or way["rate_model"] == "goodput" else set()
    ledger = BroadLedger(result, overheads, limit, elastic)
    ledger.check_books()
    check_shapes(result.events, jobs)
    check_protected(result, jobs)
    comes_back = all(state == "UP" for state in last_states(events).values())
    unfinished = result.jobs.filter(~pl.col("state").is_in(["COMPLETED", "CANCELLED"]))
    assert unfinished.is_empty() or not comes_back, "a job waits for ever on a cluster that is whole"


def check_protected(result: Result, jobs: pl.DataFrame) -> None:
    """No policy preempts a job that forbids it."""
    may = jobs.sort("submit_s", maintain_order=True)["preemptible"].fill_null(True)
    assert result.jobs.filter(~may)["preemptions"].sum() == 0


def check_shapes(events: pl.DataFrame | None, jobs: pl.DataFrame) -> None:
    """Whatever a job gets at once is in its shape."""
    assert events is not None
    per_node, gpus = jobs.sort("submit_s", maintain_order=True).select("gpus_per_node", "gpus").to_dict().values()
    for (row, _), got in events.filter(pl.col("kind").is_in(["START", "RESIZE"])).group_by(["row", "seq"]):
        if per_node[row] is not None:
            given = [(mask & (1 << 64) - 1).bit_count() for mask in got["gpu_mask"]]
            assert given == [per_node[row]] * (gpus[row] // per_node[row])


def run_many(policy: str, many: int, request: pytest.FixtureRequest) -> None:
    if policy in LEARNED:
        pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    named, params = make(policy, request.getfixturevalue("checkpoints") if policy in LEARNED else {})

    @settings(max_examples=many, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def check(data: st.DataObject) -> None:
        check_a_run(data, named, params)

    check()


@pytest.mark.parametrize("policy", POLICIES, ids=lambda name: name.rpartition("/")[2])
def test_no_run_breaks_the_ledger(policy: str, request: pytest.FixtureRequest) -> None:
    run_many(policy, EXAMPLES, request)


@pytest.mark.slow
@pytest.mark.parametrize("policy", POLICIES, ids=lambda name: name.rpartition("/")[2])
def test_none_of_many_runs_breaks_the_ledger(policy: str, request: pytest.FixtureRequest) -> None:
    run_many(policy, MORE, request)


@pytest.mark.parametrize(
    "tampered",
    [
        pl.when(pl.col("kind") == "START").then(1).otherwise("gpu_mask").alias("gpu_mask"),
        pl.when(pl.col("kind") == "START").then(0).otherwise("node").alias("node"),
        pl.when(pl.col("kind") == "FINISH").then(pl.col("time_ms") + 1).otherwise("time_ms").alias("time_ms"),
    ],
    ids=["half a gang", "one node for all", "a later end"],
)
def test_the_broad_ledger_finds_what_is_wrong(tampered: pl.Expr) -> None:
    frame = pl.DataFrame({"submit_s": [0.0] * 3, "gpus": [2] * 3, "duration_s": [10.0, 5.0, 10.0]})
    result = simulate(pointsman.Workload.of(frame), "3x2", "fifo")
    BroadLedger(result, Overheads(), 2, set()).check_books()
    assert result.events is not None
    with pytest.raises(AssertionError):
        BroadLedger(replace(result, events=result.events.with_columns(tampered)), Overheads(), 2, set()).check_books()


def test_they_work_with_what_they_are_known_to_work_with() -> None:
    """Or else a rule that refuses too much would leave things out without a word."""
    ways = {policy: works_with(policy, ()) for policy in ("fifo", "pollux", "lwf", "gandiva", "sjf-bsbf")}
    assert {way["rate_model"] for way in ways["fifo"]} == set(RATE_MODELS)
    assert {way["contention"] for way in ways["fifo"]} == set(CONTENTIONS)
    assert {way["placement"] for way in ways["fifo"]} == set(PLACEMENTS)
    assert {way["gpu_sharing"] for way in ways["fifo"]} == {None, 2}
    assert {way["rate_model"] for way in ways["gandiva"]} == {None, "tree", "tree:clamp=1", "goodput"}
    assert {way["contention"] for way in ways["sjf-bsbf"]} == set(CONTENTIONS)
    assert {way["rate_model"] for way in ways["pollux"]} == {None, "goodput"}
    assert {way["rate_model"] for way in ways["lwf"]} == {None, "iterations"}
