"""The policy that corrects its model of interference by what it sees of running jobs."""

import os
import subprocess
import sys
from importlib.util import find_spec
from math import exp
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
import pytest

from pointsman.cli.interference import _recorded_run
from pointsman.errors import PointsmanError
from pointsman.learn.policies.metarl import MetaRl
from pointsman.report.result import Result
from pointsman.speed import load_catalogue
from pointsman.speed.interference.learned.combinations import Server, others_of
from pointsman.speed.interference.learned.file import LearnedSpec, learned_yaml
from pointsman.speed.interference.learned.observations import Observations, observe
from pointsman.speed.interference.online.learner import InterferenceLearner
from pointsman.workload import Workload, generate
from pointsman.workload.generator.dl2 import MODELS
from tests.free import simulate

with_network = pytest.mark.skipif(find_spec("torch") is None, reason="PyTorch is not installed (make learn)")

CLUSTER = "8x4/rack=4,nic=10Gbps,gpu=gtx1080ti"
TRUTH = "table:sigma=0.2,seed=3"
NETWORK = {"contention": "duty-cycle", "rate_model": "rates"}


def workload(jobs: int = 150, seed: int = 1, load: float = 1.0, sizes: str = "1-8") -> Workload:
    return generate(f"dl2-{sizes}", jobs=jobs, cluster_gpus=32, load=load, seed=seed)


def run(policy: Any, jobs: Workload, truth: str = TRUTH, **options: Any) -> Result:
    return simulate(jobs, CLUSTER, policy, node_interference=truth, **NETWORK, **options)


def mean_jct_s(result: Result) -> float:
    return (result.jobs["end_s"] - result.jobs["submit_s"]).mean()  # ty: ignore


def test_where_nothing_interferes_it_makes_the_schedule_of_the_scorer() -> None:
    """It sees that no job is slowed, so its forecasts are right as they were; and it explores nothing."""
    for seed in range(3):
        jobs = workload(seed=seed)
        first, second = (
            run(policy, jobs, "none") for policy in (MetaRl(steps=0, explore=0.0, checkpoint="none"), "scorer")
        )
        assert first.jobs["end_s"].to_list() == second.jobs["end_s"].to_list()


@with_network
def test_what_it_has_seen_it_knows() -> None:
    """Each combination of the log of speeds, but those that were gone before the next decision."""
    policy = MetaRl(steps=0)
    seen: Observations = {}
    observe(_recorded_run(Path(), run(policy, workload(), log_speeds=True), load_catalogue()), seen)
    (model,) = policy.interference.learner.of_server
    known = dict(zip(model.combinations, zip(model.visits, model.predicted, strict=True), strict=True))
    long = {c: found for (_, c), found in seen.items() if found.hours > 1}
    visited = [c for c in long if known[c][0] > 0]
    assert len(visited) > 0.9 * len(long) > 70
    for c in visited:
        least, most = seen[Server("gtx1080ti", 4), c].least, seen[Server("gtx1080ti", 4), c].most
        assert least - 1e-9 <= exp(known[c][1]) <= most + 1e-9


@pytest.mark.slow
@with_network
def test_it_comes_near_to_one_that_is_told_the_truth() -> None:
    """One that knows what models take of servers, but not how pairs of them get on, loses several per cent."""
    sums = {"told": 0.0, "half": 0.0, "learns": 0.0}
    for seed in (11, 12, 13):
        jobs = generate("dl2-philly", jobs=1500, cluster_gpus=128, load=0.7, seed=seed)
        for name, policy, source in (("told", "scorer", None), ("half", "scorer", "table"), ("learns", "metarl", "")):
            params = {"interference": source} if source else {"steps": 0} if policy == "metarl" else {}
            on = "32x4/rack=4,nic=10Gbps,gpu=gtx1080ti"
            truth = f"table:sigma=0.2,seed={seed}"
            sums[name] += mean_jct_s(simulate(jobs, on, policy, params=params, node_interference=truth, **NETWORK))
    assert sums["half"] > 1.03 * sums["told"]
    assert sums["learns"] - sums["told"] < (sums["half"] - sums["told"]) / 2


@with_network
def test_it_knows_of_the_truth_what_it_has_seen_and_no_more(tmp_path: Path) -> None:
    """Another truth, which is the same for the combinations that occurred: the schedule is the same, too."""
    draw, learner = np.random.default_rng(7), InterferenceLearner()
    learner.begin(MODELS, [Server("gtx1080ti", 4)])
    (model,) = learner.of_server
    rows = np.arange(len(model.combinations))
    learner.see(rows, 1 + draw.exponential(0.3, len(rows)))
    jobs, policy = workload(), MetaRl(steps=0)
    first = run(policy, jobs, written(learner.spec, tmp_path / "first.yaml"), log_speeds=True)
    occurred = met_on_servers(first)
    others = [i for i, c in enumerate(model.combinations) if c.on_server() not in occurred]
    assert len(others) > len(rows) / 4
    learner.see(np.repeat(others, 20), np.full(20 * len(others), 5.0))
    second = run(MetaRl(steps=0), jobs, written(learner.spec, tmp_path / "second.yaml"))
    assert first.jobs["end_s"].to_list() == second.jobs["end_s"].to_list()
    told = [run("scorer", jobs, str(tmp_path / f"{name}.yaml")).jobs["end_s"].to_list() for name in ("first", "second")]
    assert told[0] != told[1]


def met_on_servers(result: Result) -> set[tuple[tuple[str, int], ...]]:
    """All combinations of models and their GPUs that were on a server after any instant."""
    models, found = result.jobs["model"].to_list(), set()
    held: dict[int, dict[int, int]] = {node: {} for node in range(8)}
    events = result.events.filter(pl.col("kind").cast(pl.String).is_in(["START", "FINISH"]))  # ty: ignore
    for _, instant in events.sort("time_ms", "seq").group_by("time_ms", maintain_order=True):
        for kind, row, node, mask in instant.select("kind", "row", "node", "gpu_mask").rows():
            for place in held.values():
                place.pop(row, None) if kind == "FINISH" else None
            if kind == "START":
                held[node][row] = int(mask).bit_count()
        for place in held.values():
            found.add(others_of([(models[row], gpus) for row, gpus in place.items()]))
    return found


def written(spec: LearnedSpec, path: Path) -> str:
    path.write_text(learned_yaml(path.stem, spec.source, list(spec.servers)))
    return str(path)


@with_network
def test_the_same_seed_makes_the_same_schedule_also_with_an_object_used_before() -> None:
    policy, jobs = MetaRl(steps=0, seed=5), workload()
    first, again = (run(policy, jobs).jobs for _ in range(2))
    assert first.equals(again)
    assert first.equals(run("metarl", jobs, params={"seed": 5, "steps": 0}).jobs)


@with_network
def test_a_copy_learns_on_its_own() -> None:
    """What a what-if sees is not seen."""

    class Asks(MetaRl):
        asked = 0

        def decide(self, view: Any) -> None:
            if view.now_s > 40_000 and not self.asked:
                self.asked = 1
                visits = self.interference.learner.of_server[0].visits.copy()
                twin = view.what_if(self)
                twin.run()
                assert (self.interference.learner.of_server[0].visits == visits).all()
            super().decide(view)

    jobs, asks = workload(), Asks(steps=0)
    assert run(asks, jobs).jobs.equals(run(MetaRl(steps=0), jobs).jobs)
    assert asks.asked


@with_network
def test_jobs_without_models_teach_nothing() -> None:
    jobs = workload()
    nameless = Workload.of(jobs.jobs.drop("model"))
    result = run("metarl", nameless, params={"steps": 0})
    assert any("no job names a model" in said for said in result.info["assumptions"])
    assert result.jobs["end_s"].is_not_null().all()


@with_network
def test_explain_says_until_when_a_job_waits() -> None:
    class Asks(MetaRl):
        said: ClassVar[set[str]] = set()

        def decide(self, view: Any) -> None:
            super().decide(view)
            for job in view.pending:
                found = self.why_waiting(view, job, str)
                self.said.update([] if found is None else [found[1]])

    run(Asks(steps=0), workload(300, load=1.2))
    assert any("could be placed compactly" in said for said in Asks.said)


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"patience": -1}, "metarl.patience = -1"),
        ({"refit_ends": 0}, "metarl.refit_ends = 0"),
        ({"seed": -1}, "metarl.seed = -1"),
        ({"steps": -1}, "metarl.steps = -1"),
    ],
)
def test_what_is_out_of_range_is_refused(params: dict[str, Any], said: str) -> None:
    with pytest.raises(PointsmanError, match=said):
        run("metarl", workload(2), params=params)


PROCESSORS = (
    {"OPENBLAS_CORETYPE": "Prescott"},
    {"OPENBLAS_CORETYPE": "Haswell", "NPY_DISABLE_CPU_FEATURES": "AVX512_ICL X86_V4"},
)
ON_ANY = """
import sys, pointsman
jobs = pointsman.generate("itp", jobs=200, cluster_gpus=32, load=1.2, seed=1)
truth = {"contention": "duty-cycle", "node_interference": "table:sigma=0.2,seed=4", "assign_models": 7}
result = pointsman.simulate(jobs, "8x4/rack=2,gpu=v100", "metarl:none", oversized="drop", **truth)
sys.stdout.buffer.write(b"".join(result.learnt.values()))
"""


def test_what_is_learnt_is_the_same_on_every_processor() -> None:
    """BLAS adds up in an order of the processor's own, and numpy's logarithms differ in the last bit."""
    given = [subprocess.run([sys.executable, "-c", ON_ANY], env=os.environ | own, stdout=-1, check=True).stdout
             for own in PROCESSORS]  # fmt: skip
    assert given[0] and given[0] == given[1]
