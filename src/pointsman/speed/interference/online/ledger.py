"""Where the forecasts of interference may be wrong: a ledger of combinations (Yang et al., IEEE TCC 2023, explore such
combinatorial subspaces; the formula is ours).
"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from pointsman.speed.interference.learned.combinations import Combination
from pointsman.speed.interference.online.coefficients import Floats, Ints

SHARE: Final = 0.3
"""The share of what is seen now in the moving error of a combination (ours)."""
NOVELTY: Final = 1.0
"""What a combination that was never seen counts for beside disagreement and error (ours)."""


class Ledger:
    """How often each set of jobs on a server was seen, and how far off forecasts of it were.

    Args:
        tables: of each kind of server its combinations, in the order of the table's rows.
    """

    def __init__(self, tables: Sequence[Sequence[Combination]]) -> None:
        numbers: dict[object, int] = {}
        keys = [(kind, c.on_server()) for kind, table in enumerate(tables) for c in table]
        self._key: Ints = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
        self.visits = np.zeros(len(numbers), np.int64)
        self._error = np.zeros(len(numbers))

    def visited(self, rows: Ints) -> NDArray[np.bool_]:
        """Whether what is on the server was seen before, for rows (n) of the table."""
        return self.visits[self._key[rows]] > 0

    def see(self, rows: Ints, errors: Floats) -> None:
        """Rows (n) of the table were seen, and their forecasts were wrong by these shares (n)."""
        for key, error in zip(self._key[rows].tolist(), errors.tolist(), strict=True):
            share = 1.0 if self.visits[key] == 0 else SHARE
            self._error[key] += share * (error - self._error[key])
            self.visits[key] += 1

    def uncertainty(self, disagreement: Floats) -> Floats:
        """(rows) of the table, where members differ by `disagreement` (rows): that and the error of the jobs on the
        server, each over its mean, and 1 / sqrt(1 + visits).
        """
        count = np.maximum(1, np.bincount(self._key, minlength=len(self.visits)))
        differ = np.bincount(self._key, disagreement, len(self.visits)) / count
        seen = self.visits > 0
        errors = np.where(seen, _over_mean(self._error, seen), 1.0)
        total = _over_mean(differ, np.ones(len(differ), bool)) + errors + NOVELTY / np.sqrt(1.0 + self.visits)
        return total[self._key]


def _over_mean(values: Floats, which: NDArray[np.bool_]) -> Floats:
    mean = float(values[which].mean()) if which.any() else 0.0
    return values / mean if mean > 0 else np.zeros(len(values))
