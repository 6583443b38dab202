"""What a scheduler comes to know of slow-downs while it runs: what it must find, and where it must be unsure."""

import numpy as np
import pytest

from pointsman.speed.interference.learned.combinations import Combination, Server, all_combinations
from pointsman.speed.interference.online.coefficients import Coefficients
from pointsman.speed.interference.online.learner import InterferenceLearner, in_order, times_of
from pointsman.speed.interference.online.performance_model import Expected, PerformanceModel

MODELS = ("a", "b", "c", "d")
ALL = list(all_combinations(MODELS, 4, 3))
PLACE = {name: i for i, name in enumerate(MODELS)}
SERVER = Server("v100", 4)


def truth(combination: Combination) -> float:
    """Log slow-down: 0.1 by each other GPU, and 0.3 more for a beside b."""
    beside = sum(gpus for _, gpus in combination.others)
    met = 0.3 * (combination.model == "a" and any(name == "b" for name, _ in combination.others))
    return 0.1 * beside + met


TRUTH = np.array([truth(c) for c in ALL])


def after_seeing(rows: np.ndarray, expected: Expected | None = None, seed: int = 1) -> PerformanceModel:
    model = PerformanceModel(MODELS, ALL, expected or Expected(), seed)
    model.see(rows, np.exp(TRUTH[rows]))
    model.refit()
    return model


def test_a_fit_is_the_solution_of_the_normal_equations() -> None:
    """Conjugate gradients against a dense solver, whatever they begin at."""
    draw = np.random.default_rng(3)
    coefficients = Coefficients(4)
    rows = coefficients.rows(ALL, PLACE)
    dense = np.zeros((len(ALL), coefficients.count))
    for i in range(len(ALL)):
        np.add.at(dense[i], rows.columns[i], rows.values[i])
    wanted, weights = draw.normal(size=len(ALL)), draw.uniform(0.1, 2, len(ALL))
    precision = draw.uniform(0.5, 2, coefficients.count)
    exact = np.linalg.solve(dense.T @ (weights[:, None] * dense) + np.diag(precision), dense.T @ (weights * wanted))
    for begin in (np.zeros_like(exact), draw.normal(size=len(exact))):
        assert rows.fit(wanted, weights, precision, begin) == pytest.approx(exact, abs=1e-3)


def test_the_law_says_what_the_rows_add_up() -> None:
    """Of a beside b on 2 GPUs and c on 1, with 1 GPU of its own, coefficient by coefficient."""
    coefficients = Coefficients(4)
    values = np.random.default_rng(4).normal(size=coefficients.count)
    combination = Combination("a", 1, (("b", 2), ("c", 1)))
    law = coefficients.laws(values)
    by_law = law.alone[0] + law.per_own_gpu[0]
    by_law += law.met[0, 1] + 2 * law.per_gpu[0, 1] + law.met[0, 2] + law.per_gpu[0, 2]
    assert coefficients.rows([combination], PLACE).times(values)[0] == pytest.approx(by_law)


def test_a_few_combinations_tell_the_others() -> None:
    seen = np.random.default_rng(5).permutation(len(ALL))[:60]
    model = after_seeing(seen)
    others = np.setdiff1d(np.arange(len(ALL)), seen)
    assert np.abs(model.predicted - TRUTH)[seen].max() < 1e-12
    assert np.abs(model.predicted - TRUTH)[others].mean() < 0.02 < np.abs(TRUTH[others]).mean() / 5


def test_members_agree_where_much_was_seen() -> None:
    """Disagreement falls with what was seen, and is higher for combinations with d, which was never there."""
    has_d = np.array(["d" in dict(c.on_server()) for c in ALL])
    without = np.flatnonzero(~has_d)
    little, much = (after_seeing(without[:many]) for many in (5, len(without)))
    assert much.disagreement[without].mean() < 0.2 * little.disagreement[without].mean()
    assert much.disagreement[has_d].mean() > 5 * much.disagreement[without].mean()


def test_of_a_new_model_it_expects_what_all_have_in_common() -> None:
    """All are slowed by 0.1 by each GPU of another; so is e, it seems, but nobody is sure."""
    known = after_seeing(np.arange(len(ALL))).known
    old, new = (PerformanceModel(names, in_order(names, 4), known, 1) for names in (("a", "c"), ("a", "e")))
    beside = Combination("a", 1, (("c", 1),)), Combination("a", 1, (("e", 1),))
    rows = [list(one.combinations).index(c) for one, c in zip((old, new), beside, strict=True)]
    assert old.predicted[rows[0]] == pytest.approx(0.1, abs=0.02)
    assert new.predicted[rows[1]] == pytest.approx(0.1, abs=0.06)
    assert new.disagreement[rows[1]] > 1.5 * old.disagreement[rows[0]]


def test_what_is_seen_now_counts_more_than_what_was_seen_long_ago() -> None:
    model = PerformanceModel(MODELS, ALL, Expected(), 1)
    row = np.array([ALL.index(Combination("a", 1, (("b", 1),)))])
    for slow_down in [1.5] * 20 + [1.0] * 10:
        model.see(row, np.array([slow_down]))
    assert 0 < model.predicted[row[0]] < 0.02
    assert model.visits[row[0]] == 30


def test_a_table_has_the_rows_of_all_servers_one_behind_the_other() -> None:
    """What is seen on one kind of server says nothing of another; and the file says what the rows say."""
    learner = InterferenceLearner(seed=2)
    servers = [SERVER, Server("v100", 2)]
    learner.begin(MODELS, servers)
    first = len(in_order(MODELS, 4))
    beside = Combination("c", 1, (("a", 1),))
    row = first + in_order(MODELS, 2).index(beside)
    learner.see(np.array([row]), np.array([2.0]))
    learner.refit()
    figures = [server.slow_downs for server in learner.spec.servers]
    assert figures[1][beside] == pytest.approx(2.0)
    assert figures[0][beside] == 1.0
    told = [one for figure in figures for one in figure.values()]
    assert len(told) == len(learner.predicted)
    assert sorted(told) == pytest.approx(sorted(times_of(learner.predicted)))
