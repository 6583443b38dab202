"""What is expected of interference, corrected by one run after another: worked by hand, and against differences."""

import numpy as np
import pytest

from pointsman.learn.meta.training import error_of
from pointsman.speed.interference.learned.combinations import Combination, Server
from pointsman.speed.interference.online.expectations import Expectations, Method, adapt, error, slope
from pointsman.speed.interference.online.file import ServerExperience, experience_of
from pointsman.speed.interference.online.learner import InterferenceLearner
from pointsman.speed.interference.online.performance_model import NOISE, Expected

V100, T4 = Server("v100", 2), Server("t4", 2)


def after(server: Server, **slow_downs: float) -> ServerExperience:
    """A run in which each model was seen beside a, so many times slower."""
    learner = InterferenceLearner()
    learner.begin(["a", *slow_downs], [server])
    (model,) = learner.of_server
    for name, times in slow_downs.items():
        row = list(model.combinations).index(Combination(name, 1, (("a", 1),)))
        for _ in range(5):
            learner.see(np.array([row]), np.array([times]))
    learner.refit()
    return learner.experience[0]


def beside_a(server: Server, models: list[str], experience: list[ServerExperience]) -> list[float]:
    """What is expected of each model beside a."""
    learner = InterferenceLearner(experience)
    learner.begin(models, [server])
    (one,) = learner.of_server
    rows = [list(one.combinations).index(Combination(name, 1, (("a", 1),))) for name in models]
    return [float(one.predicted[row]) for row in rows]


def in_common(runs: list[list[ServerExperience]], method: Method = "mean") -> list[ServerExperience]:
    """What is expected after these."""
    expectations = Expectations(method)
    for k, run in enumerate(runs):
        expectations.learn(run, seed=k)
    return expectations.now


def test_it_is_the_mean_of_what_each_run_expects() -> None:
    runs = [[after(V100, b=1.2)], [after(V100, b=1.8)]]
    apart = [beside_a(V100, ["a", "b"], run)[1] for run in runs]
    assert beside_a(V100, ["a", "b"], in_common(runs))[1] == pytest.approx(np.mean(apart), abs=0.005)


def test_what_was_measured_in_one_run_is_not_believed_of_another() -> None:
    (found,) = in_common([[after(V100, b=1.5)]])
    assert found.seen == {}


def test_each_kind_of_server_is_one_of_its_own() -> None:
    found = in_common([[after(V100, b=1.2)], [after(T4, b=1.8, c=1.1)]])
    assert [(one.server, one.models) for one in found] == [(T4, ["a", "b", "c"]), (V100, ["a", "b"])]


def test_models_are_put_together_by_name() -> None:
    """b was slow in the first run, c in the second; each stays slower than the other in the mean of both."""
    (found,) = in_common([[after(V100, b=2.0)], [after(V100, c=1.2)]])
    _, b, c = beside_a(V100, ["a", "b", "c"], [found])
    assert found.models == ["a", "b", "c"]
    assert b > c > 0


def test_nothing_in_common_is_nothing() -> None:
    assert in_common([]) == []
    assert experience_of(V100, in_common([[after(V100, b=1.2)]])[0].expected, {}).models == ["a", "b"]


def test_fine_tuning_believes_the_last_run_and_reptile_goes_part_of_the_way() -> None:
    """To how exactly laws are fitted."""
    first, last = [after(V100, b=1.2)], [after(V100, b=1.8)]
    one, other = (beside_a(V100, ["a", "b"], run)[1] for run in (first, last))
    assert beside_a(V100, ["a", "b"], in_common([first, last], "fine-tuning"))[1] == pytest.approx(other, abs=2e-3)
    part = beside_a(V100, ["a", "b"], in_common([first, last], "reptile"))[1]
    assert part == pytest.approx(one + 0.3 * (other - one), abs=2e-3)


def test_first_order_maml_goes_down_the_error_of_the_adapted_law_on_what_it_was_not_fitted_to() -> None:
    run = after(V100, b=1.2, c=1.6, d=1.1, e=1.4)
    seen = list(run.combinations.items())
    expected = Expected(tuple(run.models), np.zeros(len(run.coefficients)))
    adapted, tiny = adapt(expected, dict(seen[:2])), 1e-6
    for rest in (dict(seen[2:]), dict(seen[3:])):
        found = slope(adapted, rest)
        for k in range(len(found)):
            ahead = np.eye(len(found))[k] * tiny
            more, less = (error(Expected(adapted.models, adapted.values + s * ahead), rest) for s in (1, -1))
            assert found[k] == pytest.approx((more - less) / (2 * tiny), abs=1e-8)
    assert error(adapted, dict(seen[:2])) < error(expected, dict(seen[:2]))


def test_first_order_maml_comes_to_expect_what_all_runs_see() -> None:
    run = [after(V100, b=1.5, c=1.5, d=1.5, e=1.5)]
    before, once, often = (error_of(in_common([run] * n, "fomaml"), run) for n in (0, 1, 50))
    assert before > once > often
    assert often < 0.75 * before


def test_half_of_one_measurement_is_none_and_moves_nothing() -> None:
    (found,) = in_common([[after(V100, b=1.5)]], "fomaml")
    assert found.coefficients == [0.0] * len(found.coefficients)


@pytest.mark.parametrize("many", [2, 3, 5])
def test_first_order_maml_fits_one_half_and_is_corrected_by_the_other(many: int) -> None:
    """By the slope of the error there, over the mean square of its rows: twelve coefficients count once in each."""
    run = after(V100, **{name: 1.2 + 0.2 * k for k, name in enumerate("bcdef"[:many])})
    expected = Expected(tuple(run.models), np.zeros(len(run.coefficients)))
    items = list(run.combinations.items())
    order = np.random.default_rng(0).permutation(many)
    half, rest = [dict(items[k] for k in some) for some in (order[: many // 2], order[many // 2 :])]
    (found,) = in_common([[run]], "fomaml")
    ahead, change = slope(adapt(expected, half), rest), -np.array(found.coefficients)
    assert change == pytest.approx(ahead / 12, abs=1e-9) and np.abs(change).max() > 0.0


def test_a_law_is_fitted_by_least_squares_with_the_precision_of_what_was_expected() -> None:
    """At the least sum of squares, slopes of errors and of what ties the law to the expected one are in balance."""
    run = after(V100, b=1.2, c=1.6, d=1.1)
    expected = Expected(tuple(run.models), np.zeros(len(run.coefficients)))
    change = adapt(expected, run.combinations).values
    tied = (NOISE / expected.scales(expected.models)) ** 2 * change
    pulled = len(run.combinations) * slope(Expected(expected.models, change), run.combinations)
    assert pulled == pytest.approx(-tied, abs=1e-6) and np.abs(tied).max() > 1e-3


def test_the_error_of_nothing_is_none() -> None:
    assert error(Expected(("a",), np.zeros(9)), {}) == 0.0
