"""Where forecasts may be wrong, worked by hand."""

import numpy as np
import pytest

from pointsman.speed.interference.learned.combinations import Combination
from pointsman.speed.interference.online.ledger import Ledger

AB, BA = Combination("a", 1, (("b", 1),)), Combination("b", 1, (("a", 1),))
AC, CA = Combination("a", 1, (("c", 1),)), Combination("c", 1, (("a", 1),))
TABLE = [AB, BA, AC, CA]
EVEN = np.full(4, 0.1)


def test_jobs_on_one_server_are_one_entry() -> None:
    """Where nothing was seen, all have 1 by disagreement, 1 by error and 1 by novelty."""
    ledger = Ledger([TABLE])
    assert ledger.uncertainty(EVEN) == pytest.approx([3, 3, 3, 3])
    ledger.see(np.array([0]), np.array([0.2]))
    assert ledger.visits.tolist() == [1, 0]
    seen = 1 + 1 + 1 / np.sqrt(2)
    assert ledger.uncertainty(EVEN) == pytest.approx([seen, seen, 3, 3])


def test_it_falls_with_visits() -> None:
    ledger, before = Ledger([TABLE]), 3.0
    for _ in range(10):
        ledger.see(np.array([0, 2]), np.array([0.1, 0.1]))
        now = ledger.uncertainty(EVEN)[0]
        assert now < before
        before = now


def test_errors_and_disagreement_count_over_their_means() -> None:
    """b beside a was wrong by 0.3 and then 0, so by 0.3 - 0.3 · 0.3 = 0.21; c beside a by 0.07: the mean is 0.14."""
    ledger = Ledger([TABLE])
    ledger.see(np.array([1, 1, 3]), np.array([0.3, 0.0, 0.07]))
    found = ledger.uncertainty(np.array([0.1, 0.3, 0.0, 0.0]))
    assert found[0] == found[1] == pytest.approx(2 + 0.21 / 0.14 + 1 / np.sqrt(3))
    assert found[2] == found[3] == pytest.approx(0 + 0.07 / 0.14 + 1 / np.sqrt(2))


def test_the_same_jobs_on_another_kind_of_server_are_another_entry() -> None:
    ledger = Ledger([TABLE, TABLE])
    ledger.see(np.array([0]), np.array([0.2]))
    assert ledger.visits.tolist() == [1, 0, 0, 0]
