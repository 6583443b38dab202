"""The runs whose results are recorded: every policy, base model, contention, placement and overhead at least twice."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import pointsman
from pointsman.engine.setup.overheads import REALISTIC, Overheads
from pointsman.report.result import Result

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_policy.py"
ROUGH = Overheads(
    start_s=30, stop_s=12, restore_s=20, lost_s=15, rebatch_s=5, checkpoint_every_s=600, start_fail_rate=0.05
)
RACKS = "8x4/rack=2,gpu=v100"
"""32 GPUs on four racks."""
MIXED = "6x8/gpu=v100+4x4/gpu=t4+2x1/gpu=p100"
"""66 GPUs on nodes of three sizes."""
FAILURES = ((20_000.0, "1", "DOWN"), (26_000.0, "1", "UP"), (30_000.0, "0", "DRAIN"), (50_000.0, "0", "UP"))
CANCELS = ((60.0, 3), (2_000.0, 20), (20_000.0, 60))
"""So many seconds after its submission, the job of this row is cancelled."""


@dataclass(frozen=True)
class Run:
    """One recorded run; `options` are keywords of `pointsman.simulate`."""

    policy: str
    cluster: str = RACKS
    jobs: int = 300
    like: str = "philly"
    load: float = 1.2
    seed: int = 1
    detailed: bool = False
    """Jobs also have priorities, queues, time limits and GPU types."""
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """A title that tells it from every other run."""
        said = ", ".join(f"{key}={_short(value)}" for key, value in self.options.items())
        shape = f"{self.like} {self.jobs} on {self.cluster} at {self.load:g} seed {self.seed}"
        return f"{Path(self.policy).name}: {shape}{' detailed' if self.detailed else ''}{': ' if said else ''}{said}"

    def simulate(self) -> Result:
        """The run, made anew."""
        gpus = pointsman.load_cluster(self.cluster).gpus
        workload = _generated(self.like, self.jobs, gpus, self.load, self.seed)
        if self.detailed:
            workload = _detailed(workload, self.seed)
        submit_s = workload.jobs["submit_s"] - workload.jobs["submit_s"].min()
        cancels = [(submit_s[row] + after_s, row) for after_s, row in self.options.get("cancels", ())]
        options = {"oversized": "drop", "overheads": "none", **self.options, "cancels": cancels}
        with tempfile.TemporaryDirectory() as folder:
            policy = self.policy if self.policy not in UNTRAINED else _untrained(self.policy, Path(folder))
            return pointsman.simulate(workload, self.cluster, policy, seed=self.seed, **options)


@cache
def _generated(like: str, jobs: int, gpus: int, load: float, seed: int) -> pointsman.Workload:
    return pointsman.generate(like, jobs=jobs, cluster_gpus=gpus, load=load, seed=seed)


def _untrained(agent: str, folder: Path) -> str:
    from tests.learn.policies.test_learned_policies import untrained

    return f"{agent}:{untrained(agent, folder / 'checkpoint', **UNTRAINED[agent])}"


def _short(value: Any) -> str:
    if value is REALISTIC or value is ROUGH:
        return "rough" if value is ROUGH else "realistic"
    return {id(FAILURES): "some", id(CANCELS): "some"}.get(id(value), str(value))


def _detailed(workload: pointsman.Workload, seed: int) -> pointsman.Workload:
    draw = np.random.default_rng((seed, 99))
    jobs, n = workload.jobs, len(workload.jobs)
    return pointsman.Workload.of(
        jobs.with_columns(
            pl.Series("priority", draw.choice([0, 0, 0, 1, -1], n)),
            pl.Series("queue", draw.choice(["prod", "test"], n)),
            pl.Series("gpu_type", draw.choice(["", "", "v100", "v100|t4"], n)),
            (pl.col("duration_s") * pl.Series(draw.choice([0.5, 1.0, 2.0, 4.0], n))).ceil().alias("time_limit_s"),
        )
    )


MODELS = {"assign_models": 7}
CLASSICAL = ("fifo", "sjf", "fifo-backfill", "sjf-backfill", "easy", "srtf", "tiresias", "las")
DALLY = ("dally", "dally-manual", "dally-nowait", "dally-consolidated", "dally-nopreempt")
SHARING = ("sjf-bsbf", "sjf-bsbf-consolidated", "sjf-ffs")
UNTRAINED: dict[str, dict[str, Any]] = {"deeprm": {}, "proximity-drl": {}, "marl": {"schedulers": 2}}
"""No weights are shipped for them: they run with random ones, drawn by a seed, of such a training."""
CHAINS = ("lwf", "srsf", "ada-srsf")
PLACERS = ("lb", "tetris-place", "lif", "random-place", "packed", "packed-lif", "packed-patience", "scorer")
PLACEMENTS = ("consolidated", "first-fit", "spread", "tightest")
CONTENTIONS = ("level", "max-min", "duty-cycle", "node-link")


def _classical() -> Iterator[Run]:
    for k, policy in enumerate(CLASSICAL):
        yield Run(policy, options={**MODELS, "placement": PLACEMENTS[k % 4], "overheads": REALISTIC})
        rough = {
            "overheads": ROUGH,
            "node_events": FAILURES,
            "cancels": CANCELS,
            "placement": PLACEMENTS[k // 2 % 4],
        }
        estimate = {} if policy in ("fifo", "fifo-backfill", "tiresias", "las") else {"estimate": "lognormal:0.5"}
        yield Run(policy, MIXED, like="helios", detailed=True, seed=k, options={**rough, **estimate})
    yield Run("rounds(srtf, 300)", like="itp", options={"overheads": REALISTIC})
    yield Run("rounds(tiresias, 60)", MIXED, load=1.0, options={"until_s": 400_000.0})
    yield Run("easy", detailed=True, cluster=MIXED, options={"estimate": "limit", "enforce_limits": True})
    yield Run("conservative", options={**MODELS, "overheads": REALISTIC})
    rough = {"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS, "params": {"depth": 10}}
    yield Run("conservative", MIXED, like="helios", detailed=True, options={**rough, "estimate": "lognormal:0.5"})
    yield Run("multifactor", options={**MODELS, "overheads": REALISTIC})
    easy = {"params": {"backfill": "easy"}}
    yield Run("multifactor", options={**MODELS, "overheads": REALISTIC, **easy})
    yield Run("multifactor", jobs=200, options={"params": {"backfill": "none", "bf_max_job_test": 3}})
    rough = {"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS, "params": {"favor_small": True}}
    yield Run("multifactor", MIXED, like="helios", detailed=True, options={**rough, "estimate": "lognormal:0.5"})
    yield Run("kueue", like="helios", options={**MODELS, "overheads": REALISTIC})
    rough["params"] = {"reclaim_within_cohort": "Any", "within_cluster_queue": "LowerPriority"}
    yield Run("kueue", MIXED, like="helios", detailed=True, options=rough)
    yield Run(f"{EXAMPLE}:MyPolicy", jobs=150, options={"overheads": ROUGH, "node_events": FAILURES})
    yield Run("fifo", jobs=2000, cluster="1x8", like="itp", load=0.7, options={"oversized": "clamp"})


def _by_network() -> Iterator[Run]:
    for k, policy in enumerate((*DALLY, "tiresias-skew", "gandiva", "dally-whole-nodes", "gittins")):
        yield Run(policy, options={**MODELS, "contention": CONTENTIONS[k % 4], "overheads": REALISTIC})
        rough = {"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS}
        yield Run(policy, MIXED, like="itp", seed=k, options={**MODELS, **rough, "congestion": {"network": 8.0}})
    for contention in CONTENTIONS:
        options = {**MODELS, "contention": contention, "placement": "spread", "congestion": {"rack": 4.0}}
        yield Run("srtf", like="itp", options=options)


def _sharing() -> Iterator[Run]:
    for policy in (*SHARING, "gandiva-packing"):
        yield Run(policy, options={**MODELS, "overheads": REALISTIC})
        rough = {"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS, "interference": "law"}
        yield Run(policy, MIXED, like="helios", options={**MODELS, **rough})
    yield Run("sjf-bsbf", options={**MODELS, "contention": "max-min", "interference": 1.3, "gpu_sharing": 3})
    for policy, allowed in (("sjf-bsbf", "exact"), ("sjf-ffs", "none")):
        yield Run(policy, MIXED, like="itp", options={**MODELS, "params": {"accumulation": allowed}})
    yield Run("fifo-backfill", options={**MODELS, "gpu_sharing": 2, "audit": True})


def _other_models() -> Iterator[Run]:
    for policy in CHAINS:
        yield Run(policy, jobs=120, load=0.9, options=MODELS)
        yield Run(policy, MIXED, jobs=120, like="itp", options={**MODELS, "overheads": ROUGH, "cancels": CANCELS})
    yield Run("srtf", jobs=120, options={**MODELS, "rate_model": "iterations:b=8.56,eta=0.7,sharing=4"})
    for seed in (1, 2):
        yield Run("pollux", jobs=80, seed=seed, options={**MODELS, "overheads": (REALISTIC, ROUGH)[seed - 1]})
    yield Run("fifo-backfill", jobs=120, options={**MODELS, "rate_model": "goodput"})
    for policy in ("pick-place", "pick-place-sjf"):
        yield Run(policy, like="topdrl", options={"rate_model": "tree:clamp=1"})
        params = {"gpus": "load-balance", **({"picker": "drf"} if policy == "pick-place" else {})}
        yield Run(policy, MIXED, like="topdrl", options={"rate_model": "tree", "overheads": ROUGH, "params": params})
    yield Run("dally", options={**MODELS, "params": {"sensitive": True}, "overheads": REALISTIC})
    yield Run("fifo-backfill", options={"placement": "few-racks"})
    yield Run("las", options={**MODELS, "placement": "few-racks", "overheads": REALISTIC})
    yield Run("tiresias", like="topdrl", options={"rate_model": "tree:rack=20,node=3", "placement": "first-fit"})


def _on_nodes() -> Iterator[Run]:
    crowded = {**MODELS, "node_interference": "table:kappa=13"}
    rough = {"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS}
    yield Run("fifo-backfill", options={**MODELS, "node_interference": "table", "contention": "duty-cycle"})
    yield Run("srtf", MIXED, like="itp", options={**crowded, **rough, "placement": "spread"})
    yield Run("sjf-bsbf", options={**crowded, "overheads": REALISTIC})
    yield Run("lwf", jobs=120, load=0.9, options=crowded)
    yield Run("pollux", jobs=80, options=crowded)
    yield Run("tiresias", options={**crowded, "rate_model": "tree:clamp=1"})


def _placers() -> Iterator[Run]:
    for k, policy in enumerate(PLACERS):
        shared = {"contention": CONTENTIONS[k % 4], "node_interference": "table"}
        yield Run(policy, options={**MODELS, **shared})
        rough = {"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS, "contention": "duty-cycle"}
        yield Run(policy, MIXED, like="itp", seed=k, options={**MODELS, **rough, "node_interference": "table:kappa=13"})


def _learned() -> Iterator[Run]:
    yield Run("topdrl", like="topdrl", options={"rate_model": "tree"})
    yield Run("topdrl", MIXED, detailed=True, options={"overheads": ROUGH, "node_events": FAILURES})
    shared = {**MODELS, "contention": "duty-cycle", "node_interference": "table"}
    yield Run("marl", like="dl2-1-8", load=0.9, options=shared)
    yield Run("marl", like="itp", options={**shared, "overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS})
    drawn = shared | {"node_interference": "table:sigma=0.2,seed=4", "params": {"steps": 0}}
    yield Run("metarl:none", like="dl2-1-8", load=0.9, options=drawn)
    yield Run(
        "metarl:none", like="itp", options={**drawn, "overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS}
    )
    for agent in ("deeprm", "proximity-drl"):
        yield Run(agent, like="topdrl", options={"rate_model": "tree"})
        yield Run(agent, MIXED, options={"overheads": ROUGH, "node_events": FAILURES, "cancels": CANCELS})


RUNS = (
    *_classical(),
    *_by_network(),
    *_sharing(),
    *_other_models(),
    *_on_nodes(),
    *_placers(),
)
LEARNED = tuple(_learned())
"""Those that need PyTorch."""
