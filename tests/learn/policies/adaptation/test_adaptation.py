"""A network that adapts to a regime: its gradient against differences, what it learns, and when a run uses it."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

pytest.importorskip("torch")

import torch

import pointsman
from pointsman.cluster import load_cluster
from pointsman.learn.algorithms.adaptation import Adaptation, gains, gradient
from pointsman.learn.checkpoint import save_policy
from pointsman.learn.meta.weights import MetaWeights, downhill
from pointsman.learn.policies.adaptation import adapting
from pointsman.learn.policies.adaptation.meta_network import begun, card_of
from pointsman.learn.policies.adaptation.rehearsals import as_they_came, like, rehearsals
from pointsman.learn.policies.metarl import MetaRl
from pointsman.report import write_run
from pointsman.speed.interference.learned.combinations import Server
from pointsman.speed.interference.online.expectations import Method
from pointsman.speed.interference.online.learner import InterferenceLearner
from pointsman.workload import Workload, generate
from pointsman.workload.generator.dl2 import MODELS
from tests.free import simulate

CLUSTER = "4x4/rack=2,nic=10Gbps,gpu=gtx1080ti"
TRUTH = {"contention": "duty-cycle", "node_interference": "table:sigma=0.2,seed=3"}
OPTIONS: dict[str, Any] = TRUTH | {"params": {"steps": 3}}
AS_IT_IS: dict[str, Any] = TRUTH | {"params": {"steps": 0}}


def jobs(many: int = 130, seed: int = 1) -> Workload:
    return generate("dl2-1-8", jobs=many, cluster_gpus=16, load=0.9, seed=seed)


def environments(many: int = 2) -> Any:
    """In which some pairs of models slow each other much."""
    learner = InterferenceLearner()
    learner.begin(MODELS, [Server("gtx1080ti", 4)])
    rows = np.arange(len(learner.predicted))
    learner.see(rows, 1 + np.random.default_rng(3).exponential(0.4, len(rows)))
    came = [like(jobs().jobs, 40, np.random.default_rng(k)) for k in range(many)]
    return rehearsals(many, load_cluster(CLUSTER), came, learner.spec, patience=0.25, order="fifo")


def test_episodes_are_made_of_jobs_that_came() -> None:
    before = jobs(50).jobs
    made = like(before, 500, np.random.default_rng(0)).jobs
    assert made["submit_s"][0] == 0
    kinds = ["gpus", "duration_s", "model"]
    assert set(made.select(kinds).rows()) == set(before.select(kinds).rows())
    alone = like(before.head(1), 3, np.random.default_rng(0)).jobs
    assert alone["submit_s"].to_list() == [0.0, 0.0, 0.0]


def load_of(made: pl.DataFrame) -> float:
    return (made["gpus"] * made["duration_s"]).sum() / (made["submit_s"].max() - made["submit_s"].min())  # ty: ignore


def test_bursts_stay_bursts_and_the_load_stays_the_load() -> None:
    """Twenty jobs at once, every hour; of each burst all jobs are of one kind. Drawn alone, neighbours would be of one
    kind in one case of five.
    """
    rows = [(3600.0 * (k // 20), 1 + (k // 20) % 5, 1000.0 * (1 + (k // 20) % 7)) for k in range(200)]
    came = pl.DataFrame(rows, schema=["submit_s", "gpus", "duration_s"], orient="row").with_columns(model=pl.lit("m"))
    for seed in range(5):
        made = like(came, 400, np.random.default_rng(seed)).jobs
        assert load_of(made) == pytest.approx(load_of(came), rel=1e-6)
        alike = (made["gpus"].diff().drop_nulls() == 0).mean()
        at_once = (made["submit_s"].diff().drop_nulls() == 0).mean()
        assert alike > 0.85 and at_once > 0.9  # ty: ignore


def test_the_jobs_that_came_are_done_again_as_they_came() -> None:
    came = jobs(30).jobs.tail(20)
    again = as_they_came(came).jobs
    first = came["submit_s"][0]
    assert again["submit_s"].to_list() == pytest.approx((came["submit_s"] - first).to_list())
    assert again.select("gpus", "duration_s", "model").equals(came.select("gpus", "duration_s", "model"))


def test_the_gradient_is_that_of_the_error_at_the_adapted_weights() -> None:
    """In double precision, in some directions."""
    adaptation = Adaptation(begun(seed=1), environments(), seed=1, decisions=24)
    for _ in range(2):
        adaptation.step()
    learner = adaptation._learner
    learner.try_choices()
    learner.network.double()
    seen = learner.batch.observations
    seen.update({name: part.astype(np.float64) for name, part in seen.items()})
    found, draw, tiny = gradient(learner), torch.Generator().manual_seed(0), 1e-7  # so small that hardly any ReLU turns
    for name, weights in learner.network.named_parameters():
        way = torch.randn(weights.shape, generator=draw, dtype=torch.float64)
        errors = []
        for step in (tiny, -2 * tiny):
            weights.data += step * way
            errors.append(float(learner.loss().detach()))
        weights.data += tiny * way
        assert float((found[name] * way).sum()) == pytest.approx(
            (errors[0] - errors[1]) / (2 * tiny), rel=1e-4, abs=1e-6
        )


def test_a_network_that_was_taught_nothing_gains_nothing() -> None:
    assert gains([begun(seed=1)], environments()) == [(0.0, 0.0)]


@pytest.mark.slow
def test_steps_explain_more_of_what_choices_are_worth() -> None:
    adaptation = Adaptation(begun(seed=1), environments(), seed=1, decisions=128)
    explained = [adaptation.step()["explained"] for _ in range(12)]
    assert np.mean(explained[-6:]) > max(np.mean(explained[:3]), 0.05)  # single steps scatter by 0.1


def test_the_network_it_begins_with_stays_as_it_was() -> None:
    network = begun(seed=1)
    before = {name: w.clone() for name, w in network.state_dict().items()}
    Adaptation(network, environments(), seed=1, decisions=16).step()
    assert all(torch.equal(w, before[name]) for name, w in network.state_dict().items())


@pytest.mark.parametrize(("method", "part"), [("fine-tuning", 1.0), ("reptile", 0.75), ("mean", 0.5)])
def test_how_far_a_regime_moves_the_weights(method: Method, part: float) -> None:
    weights, made = MetaWeights(method, seed=1), environments()
    weights.regimes = 1  # so that this one is one of two
    before = {name: w.clone() for name, w in weights.network.state_dict().items()}
    adaptation = Adaptation(weights.network, made, seed=7, decisions=16)
    for _ in range(3):
        adaptation.step()
    weights.learn(environments(), seed=7, decisions=16, done=0.25)
    for name, w in weights.network.state_dict().items():
        there = adaptation.network.state_dict()[name]
        assert torch.allclose(w, before[name] + part * (there - before[name]), atol=1e-6), name


def test_first_order_maml_goes_down_the_gradient() -> None:
    weights = MetaWeights("fomaml", seed=1)
    before = {name: w.clone() for name, w in weights.network.state_dict().items()}
    adaptation = Adaptation(weights.network, environments(), seed=7, decisions=16)
    for _ in range(3):
        adaptation.step()
    way = downhill(adaptation.query())
    weights.learn(environments(), seed=7, decisions=16, done=0.25)
    for name, w in weights.network.state_dict().items():
        assert torch.allclose(w, before[name] - 0.003 * way.get(name, torch.zeros(())), atol=1e-6), name


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Episodes of few jobs."""
    monkeypatch.setattr(adapting, "JOBS", 30)
    monkeypatch.setattr(adapting, "EPISODES", 3)
    monkeypatch.setattr(adapting, "TOGETHER", 2)
    monkeypatch.setattr(adapting, "DECISIONS", 16)


@pytest.fixture(scope="module")
def plain() -> pointsman.Result:
    """The run of the scorer, which nothing adapts."""
    return simulate(jobs(), CLUSTER, "metarl:none", **AS_IT_IS)


def adaptations(result: pointsman.Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.learnt[adapting.ADAPTATIONS].decode().splitlines()]


@pytest.mark.usefixtures("small")
def test_a_run_adapts_when_the_first_jobs_have_come_and_when_their_mix_changes() -> None:
    """From the 131st job on all have the model vgg16."""
    log = jobs(260)
    late = log.jobs.with_row_index().with_columns(
        model=pl.when(pl.col("index") < 130).then("model").otherwise(pl.lit(MODELS[0]))
    )
    found = simulate(Workload.of(late.drop("index")), CLUSTER, "metarl:none", **OPTIONS)
    told = adaptations(found)
    assert [row["why"].split(" by ")[0] for row in told] == ["the first jobs have come", "the mix of models diverges"]
    assert told[0]["time_s"] == pytest.approx(log.jobs["submit_s"][99] - log.jobs["submit_s"][0], abs=1)
    again = simulate(Workload.of(late.drop("index")), CLUSTER, "metarl:none", **OPTIONS)
    assert again.jobs.equals(found.jobs)
    assert again.learnt == found.learnt


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("adapted", "meta", "decides"),
    [
        ((0.03, 0.01), (0.02, 0.01), adapting.ADAPTED),
        ((0.01, 0.001), (0.02, 0.01), adapting.META),
        ((0.03, 0.04), (-0.02, 0.01), adapting.SCORER),
    ],
)
def test_what_was_best_in_other_episodes_decides(
    monkeypatch: pytest.MonkeyPatch,
    plain: pointsman.Result,
    adapted: tuple[float, float],
    meta: tuple[float, float],
    decides: str,
) -> None:
    from pointsman.learn.algorithms import adaptation

    answers = [adaptation.Gain(*adapted), adaptation.Gain(*meta)]
    monkeypatch.setattr(adaptation, "gains", lambda *_: answers)
    found = simulate(jobs(), CLUSTER, "metarl:none", **OPTIONS)
    assert [row["decides"] for row in adaptations(found)] == [decides]
    if decides != adapting.ADAPTED:  # weights that were taught nothing choose as the scorer does
        assert found.jobs.equals(plain.jobs)


@pytest.mark.usefixtures("small")
def test_a_copy_adapts_on_its_own() -> None:
    class Asks(MetaRl):
        def decide(self, view: Any) -> None:
            super().decide(view)
            if view.now_s > 20_000 and not getattr(self, "asked", False):
                self.asked = True
                view.what_if(self).run()

    policy = Asks(checkpoint="none", steps=3)
    one = simulate(jobs(), CLUSTER, policy, **TRUTH)
    assert one.jobs.equals(simulate(jobs(), CLUSTER, "metarl:none", **OPTIONS).jobs)


@pytest.mark.usefixtures("small")
def test_weights_of_a_directory_are_used_as_they_are_without_steps(tmp_path: Path, plain: pointsman.Result) -> None:
    """Weights drawn at random choose otherwise than the scorer."""
    told = simulate(jobs(), CLUSTER, with_random_weights(tmp_path), **AS_IT_IS)
    assert not told.jobs.equals(plain.jobs)
    assert told.jobs["end_s"].is_not_null().all()


def with_random_weights(folder: Path) -> str:
    """A directory of a network that chooses otherwise than the scorer, and worse."""
    write_run(folder / "run", simulate(jobs(20), CLUSTER, "metarl:none", **OPTIONS), figures=False)
    network = begun(seed=1)
    with torch.no_grad():
        for weights in network.told.parameters():
            weights.copy_(torch.randn(weights.shape, generator=torch.Generator().manual_seed(1)))
    save_policy(folder / "run", card_of(network), network.state_dict())
    return f"metarl:{folder / 'run'}"


def reviews(result: pointsman.Result) -> list[dict[str, Any]]:
    return [json.loads(line) for line in result.learnt[adapting.REVIEWS].decode().splitlines()]


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_a_network_that_would_have_been_worse_decides_no_more(tmp_path: Path) -> None:
    bad = with_random_weights(tmp_path)
    params = {"params": {"steps": 0, "explore": 0.0}}
    found = simulate(jobs(250), CLUSTER, bad, **TRUTH, **params)
    told = reviews(found)
    assert [row["jobs"] for row in told] == [100, 200]
    assert all(row["shorter"] < -0.05 and not row["decides"] for row in told)
    always = simulate(jobs(250), CLUSTER, bad, **TRUTH, params={"steps": 0, "explore": 0.0, "reviewed": False})
    scorer = simulate(jobs(250), CLUSTER, "metarl:none", **TRUTH, **params)
    means = [(run.jobs["end_s"] - run.jobs["submit_s"]).mean() for run in (scorer, found, always)]
    assert means[0] < means[1] < means[2]
    assert reviews(always) == []


@pytest.mark.slow
def test_a_network_that_would_have_been_no_worse_goes_on(tmp_path: Path) -> None:
    """One that was taught nothing chooses as the scorer does: the jobs take as long."""
    network = begun(seed=1)
    write_run(tmp_path / "run", simulate(jobs(20), CLUSTER, "metarl:none", **AS_IT_IS), figures=False)
    save_policy(tmp_path / "run", card_of(network), network.state_dict())
    told = reviews(simulate(jobs(210), CLUSTER, f"metarl:{tmp_path / 'run'}", **AS_IT_IS))
    assert [(row["shorter"], row["decides"]) for row in told] == [(0.0, True)] * 2


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_reviews_of_a_network_do_not_count_for_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first would have been worse with all jobs; when their mix changes, another one decides."""
    from pointsman.learn.algorithms import adaptation

    monkeypatch.setattr(
        adaptation,
        "gains",
        lambda networks, _: [adaptation.Gain(0.03 if len(networks) > 1 else -0.1, 0.01) for _ in networks],
    )
    log = jobs(300)
    late = log.jobs.with_row_index().with_columns(
        model=pl.when(pl.col("index") < 200).then("model").otherwise(pl.lit(MODELS[0]))
    )
    seen: list[tuple[int, int, bool]] = []

    class Watched(MetaRl):
        def decide(self, view: Any) -> None:
            super().decide(view)
            told = self._adapting
            seen.append((len(told.done), len(told.reviews), told.decides is not None))

    found = simulate(Workload.of(late.drop("index")), CLUSTER, Watched(checkpoint="none", steps=3), **TRUTH)
    assert [row["decides"] for row in adaptations(found)] == [adapting.ADAPTED] * 2
    assert (1, 1, False) in seen
    later = [decides for adapted, reviewed, decides in seen if (adapted, reviewed) == (2, 2)]
    assert later and all(later)


@pytest.mark.usefixtures("small")
def test_models_of_ones_own_profiles_are_rehearsed(tmp_path: Path) -> None:
    """One job in two has a model that is not shipped."""
    (tmp_path / "own.yaml").write_text(
        "apiVersion: pointsman/v1\nkind: ModelProfiles\nmetadata: {name: own}\nspec:\n  models:\n    my-model:\n"
        "      title: Mine\n      gradient: {bytes: 60000000, source: ours}\n"
        "      batch: {per_gpu: 32, source: ours}\n"
        "      memory: {fixed_bytes: 1.5e+9, bytes_per_sample: 2.5e+7, source: ours}\n"
        "      overlap: {delta: 2.0, source: ours}\n      node:\n"
        "        cores: {per_gpu: 4, theta: 0.8, source: ours}\n"
        "        traffic: {mb_per_s_per_gpu: 500, theta: 0.5, source: ours}\n"
        "      compute:\n        gtx1080ti: {alpha_s: 0.3, beta_s_per_sample: 0.0, source: ours}\n"
    )
    own = (
        jobs()
        .jobs.with_row_index()
        .with_columns(model=pl.when(pl.col("index") % 2 == 0).then("model").otherwise(pl.lit("my-model")))
    )
    log, profiles = Workload.of(own.drop("index")), [str(tmp_path / "own.yaml")]
    found = simulate(log, CLUSTER, "metarl:none", profiles=profiles, **OPTIONS)
    assert len(adaptations(found)) == 1
    assert b"my-model" in found.learnt["performance-model.yaml"]
