"""What models do to each other on a node beyond what they take of it (semantics.md §15), by hand."""

from math import log, pi, prod, sqrt
from pathlib import Path

import pytest

from pointsman.speed.interference.node_law import pair_residual

from .two_sockets import profile, run


def g(*gpus: int, node: int = 0) -> tuple[tuple[int, int], ...]:
    return tuple((node, gpu) for gpu in gpus)


IDLE = {name: profile(cores=0, mb_per_s=0) for name in ("a", "b", "c")}
"""They take nothing of a node, and slow each other all the same."""
SIGMA, SEED = 0.5, 3
DRAWN = {"node_interference": f"table:kappa=0,sigma={SIGMA},seed={SEED}"}


def times(model: str, *beside: str) -> float:
    return prod(pair_residual(SEED, SIGMA, model, other) for other in beside)


def test_models_slow_each_other_beyond_what_they_take(tmp_path: Path) -> None:
    """Each model once, however many jobs and GPUs it has; also its own, if another job has it."""
    jobs = [("a", 10, g(0)), ("b", 10, g(1)), ("b", 10, g(2)), ("c", 10, g(3)), ("a", 10, g(0, node=1))]
    jobs += [("a", 10, g(1, 2, node=1))]
    firsts = run(tmp_path, jobs, IDLE, log_speeds=True, **DRAWN).speeds.filter(time_ms=0).sort("row")
    wanted = [times("a", "b", "c"), times("b", "a", "b", "c"), times("b", "a", "b", "c"), times("c", "a", "b")]
    assert firsts["computing_slowdown"].to_list() == pytest.approx([*wanted, times("a", "a"), times("a", "a")])
    assert min(wanted) >= 1 and max(wanted) > 1.1


def test_models_met_on_the_same_gpu_alone_slow_by_xi(tmp_path: Path) -> None:
    """a and b share GPU 0; b has GPU 1, too, so that it is met there; c is on GPU 2."""
    jobs = [("a", 10, g(0)), ("b", 10, g(0, 1)), ("c", 10, g(2))]
    speeds = run(tmp_path, jobs, IDLE, gpu_sharing=2, interference="1.5", log_speeds=True, **DRAWN).speeds
    found = speeds.filter(time_ms=0).sort("row")["computing_slowdown"].to_list()
    worst_of_b = max(times("b", "c"), times("b", "a", "c"))
    assert found == pytest.approx([times("a", "b", "c"), worst_of_b, times("c", "a", "b")])
    jobs = [("a", 10, g(0)), ("b", 10, g(0)), ("c", 10, g(2))]
    speeds = run(tmp_path, jobs, IDLE, gpu_sharing=2, interference="1.5", log_speeds=True, **DRAWN).speeds
    found = speeds.filter(time_ms=0).sort("row")["computing_slowdown"].to_list()
    assert found == pytest.approx([times("a", "c"), times("b", "c"), times("c", "a", "b")])


def test_residuals_are_half_normal_and_of_their_pair_alone() -> None:
    names = [str(k) for k in range(60)]
    logs = [log(pair_residual(1, 0.2, a, b)) for a in names for b in names]
    assert sum(x == 0 for x in logs) / len(logs) == pytest.approx(0.5, abs=0.03)
    assert sum(logs) / len(logs) == pytest.approx(0.2 / sqrt(2 * pi), rel=0.05)
    assert pair_residual(1, 0.2, "a", "b") != pair_residual(1, 0.2, "b", "a")
    assert pair_residual(2, 0.4, "vgg16", "wlm") == pytest.approx(pair_residual(2, 0.2, "vgg16", "wlm") ** 2)
    assert {pair_residual(k, 0.0, "a", "b") for k in range(9)} == {1.0}


def test_the_run_states_what_was_drawn(tmp_path: Path) -> None:
    result = run(tmp_path, [("a", 10, g(0))], IDLE, **DRAWN)
    assert any("kappa = 0, sigma = 0.5, seed = 3" in line for line in result.info["assumptions"])
