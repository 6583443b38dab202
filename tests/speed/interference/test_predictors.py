"""Predictors of slow-downs: what they must find exactly, and that what is held out is."""

from itertools import product

import numpy as np
import pytest

from pointsman.speed.interference.learned.additive import Counts, fit_additive
from pointsman.speed.interference.learned.combinations import Combination, Server, all_combinations
from pointsman.speed.interference.learned.held_out import Sample, held_out
from pointsman.speed.interference.learned.learn import learn
from pointsman.speed.interference.learned.networks import Layer, _forward, _gradients, fit_ensemble
from pointsman.speed.interference.learned.observations import Seen

MODELS = ["a", "b", "c", "d"]
ALL = list(all_combinations(MODELS, 4, 3))


def kinked(combination: Combination) -> float:
    """Log slow-down by cores, of which jobs use 1, 2, 3 and 4 a GPU and a server has 9; and by pairs."""
    uses = dict(zip(MODELS, (1, 2, 3, 4), strict=True))
    cores = sum(uses[name] * gpus for name, gpus in combination.on_server())
    met = sum(0.1 for name, _ in combination.others if (combination.model, name) in (("a", "b"), ("c", "a")))
    return 0.8 * float(np.log(max(1.0, cores / 9))) + met


def test_all_combinations_are_there_once() -> None:
    """Of 4 models: beside one own GPU of 4 up to 3 of others in 1 + 4 + 10 + 20 ways, beside two in 15, and so on."""
    assert len(ALL) == len(set(ALL)) == 4 * (35 + 15 + 5 + 1)


def test_an_additive_truth_is_found() -> None:
    draw = np.random.default_rng(1)
    alone, own = draw.uniform(0, 0.1, 4), draw.uniform(0, 0.1, 4)
    met, gpu = draw.uniform(0, 0.2, (4, 4)), draw.uniform(0, 0.1, (4, 4))
    counts = Counts.of(ALL, MODELS)
    a = counts.own
    truth = alone[a] + own[a] * counts.gpus + (met[a] * counts.met + gpu[a] * counts.others).sum(axis=1)
    assert fit_additive(counts, truth, np.ones(len(ALL))).predict(counts) == pytest.approx(truth, abs=0.01)


def test_the_law_of_a_pair_never_seen_is_that_of_its_models() -> None:
    """b adds 0.2 to every model, and was never seen beside a."""
    pairs = [(x, y) for x, y in product(MODELS, MODELS) if (x, y) != ("a", "b")]
    seen = [Combination(x, 1, ((y, 1),)) for x, y in pairs] + [Combination(x, 1, ()) for x in MODELS]
    truth = np.array([0.2 * any(name == "b" for name, _ in c.others) for c in seen])
    law = fit_additive(Counts.of(seen, MODELS), truth, np.ones(len(seen)))
    assert law.predict(Counts.of([Combination("a", 1, (("b", 1),))], MODELS)) == pytest.approx(0.2, abs=0.07)


def test_gradients_are_those_of_the_error() -> None:
    draw = np.random.default_rng(2)
    shapes = ((3, 4), (4, 4), (4, 1))
    layers = [Layer(draw.normal(0, 1, (5, *shape)), draw.normal(0, 1, (5, 1, shape[1]))) for shape in shapes]
    inputs, wanted, weights = draw.normal(0, 1, (6, 3)), draw.normal(0, 1, (5, 6, 1)), draw.uniform(0, 2, (5, 6, 1))

    def error() -> float:
        """Summed over the members, for each has parameters of its own."""
        wrong = weights * (_forward(layers, inputs)[-1] - wanted) ** 2
        return float((wrong.sum(axis=1) / weights.sum(axis=1)).sum())

    for layer, gradient in zip(layers, _gradients(layers, inputs, wanted, weights), strict=True):
        for values, slopes in zip(layer, gradient, strict=True):
            at = tuple(draw.integers(0, size) for size in values.shape)
            values[at] += 1e-6
            above = error()
            values[at] -= 2e-6
            assert slopes[at] == pytest.approx((above - error()) / 2e-6, rel=1e-4, abs=1e-7)
            values[at] += 1e-6


def test_networks_find_what_is_not_additive_and_the_seed_decides() -> None:
    sample = Sample(ALL, MODELS, np.array([kinked(c) for c in ALL]))
    errors = held_out(sample, seed=0)
    assert errors is not None
    assert errors.mean_error("networks") < errors.mean_error("additive") < errors.mean_error("constant") / 2
    assert errors.mean_error("networks") < 0.04
    assert errors.covered(50) < errors.covered(90)
    by_quarter = errors.errors_by_disagreement()
    assert by_quarter[0] < by_quarter[-1], "they disagree where they are wrong"
    again, other = (fit_ensemble(sample.counts, sample.logs, sample.groups, seed) for seed in (0, 1))
    same = fit_ensemble(sample.counts, sample.logs, sample.groups, 0).predict(sample.counts)
    assert np.array_equal(again.predict(sample.counts), same)
    assert not np.allclose(other.predict(sample.counts), same)


def test_all_jobs_of_a_server_are_held_out_at_once() -> None:
    """Servers of two of 14 models, slow by chance: only the other job on a server tells how slow it is."""
    names = [f"m{k:02}" for k in range(14)]
    draw = np.random.default_rng(3)
    truth: dict[Combination, float] = {}
    for i, x in enumerate(names):
        for y in names[i + 1 :]:
            truth[Combination(x, 1, ((y, 1),))] = truth[Combination(y, 1, ((x, 1),))] = float(draw.choice((0.0, 1.0)))
    sample = Sample(list(truth), names, np.array(list(truth.values())))
    assert len(set(sample.groups.tolist())) == len(truth) // 2
    errors = held_out(sample, seed=0)
    assert errors is not None and errors.mean_error("additive") > 0.4


def test_too_few_combinations_tell_no_error() -> None:
    few = [c for c in ALL if c.others][:5]
    assert held_out(Sample(few, MODELS, np.zeros(len(few))), seed=0) is None


def test_what_was_measured_stays_and_the_rest_is_predicted() -> None:
    """All servers but those of three models are seen."""
    observations = {}
    for c in ALL:
        if len({name for name, _ in c.on_server()}) != 3:
            observations[Server("v100", 4), c] = one = Seen()
            one.add(float(np.exp(kinked(c))), 1.0)
    (learned,) = learn(observations, seed=0)
    figures, told = learned.figures, learned.figures.slow_downs
    assert set(told) == set(ALL), "all combinations are tabulated"
    assert all(told[c] == one.slow_down for (_, c), one in observations.items())
    assert sum(len(model.predicted) for model in figures.models.values()) == len(ALL) - len(observations) > 20
    wrong = [abs(told[c] / np.exp(kinked(c)) - 1) for c in ALL if (learned.server, c) not in observations]
    assert np.mean(wrong) < 0.05
    law = figures.models["a"].otherwise
    assert law.slow_down(Combination("a", 1, (("b", 1),))) == pytest.approx(np.exp(0.1), abs=0.05)
    assert learned.best == "networks"
