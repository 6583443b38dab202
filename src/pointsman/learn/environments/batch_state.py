"""N simulations of one template side by side: what changes of each is one row of words, so that a copy of the
template's row, or of its beginning, is a reset.
"""

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.sdk.environments import Handle, State, World, copied

SHARED = frozenset(
    (
        *("ints", "alts", "params", "rates", "models", "links", "steps", "subbatches", "slowdowns"),
        *("goodputs", "rate_steps", "factor_numbers"),
        *("log", "speed_log", "inbox", "script", "samples"),
    )
)
"""Arrays that are never written, or not used here: all simulations have them in common."""
REWRITTEN = frozenset(("jobs", "truth", "heap", "lists", "claims", "freed", "singles", "memory", "trace"))
"""Arrays of which only what was written since the reset is read, or which are cleared: at the end of a row."""
LINE = 8
"""Words of a cache line."""


class BatchState:
    """The handles of N copies of `template` and the rows of words behind them."""

    def __init__(self, template: Handle, copies: int) -> None:
        arrays = {**template.state._asdict(), **template.world._asdict()}
        own = {name: np.asarray(array) for name, array in arrays.items() if name not in SHARED}
        self._at: dict[str, int] = {}
        end = begins = 0
        for name, array in sorted(own.items(), key=lambda item: item[0] in REWRITTEN):
            begins = begins if name in REWRITTEN else end + array.nbytes // 8
            self._at[name] = end
            end += -(-array.nbytes // 8 // LINE) * LINE
        width = end if end // LINE % 2 else end + LINE  # an odd number of lines: rows do not crowd the same cache sets
        first = np.zeros(width, np.int64)
        for name, array in own.items():
            self._words(first, name, array)[:] = copied(array).view(np.int64).ravel()
        self.rows = np.zeros((copies, width), np.int64)
        self.rows[:] = first
        self.first = first[:begins].copy()
        """The words of the template with which a row begins that is reset."""
        self.handles = [self._handle(template, own, row) for row in self.rows]
        self.addresses = np.array([handle.address for handle in self.handles], np.int64)
        self.trace_at = self._at["trace"]
        """Where the jobs to come stand in a row."""

    def _words(self, row: NDArray[np.int64], name: str, array: np.ndarray) -> NDArray[np.int64]:
        return row[self._at[name] : self._at[name] + array.nbytes // 8]

    def _handle(self, template: Handle, own: dict[str, np.ndarray], row: NDArray[np.int64]) -> Handle:
        views = {
            name: self._words(row, name, array).view(array.dtype).reshape(array.shape) for name, array in own.items()
        }
        state = {name: views[name] for name in State._fields if name in views}
        world = {name: views[name] for name in World._fields if name in views}
        return Handle(template.state._replace(**state), template.world._replace(**world))
