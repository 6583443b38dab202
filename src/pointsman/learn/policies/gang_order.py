"""What policies that place gangs by a network share with the placers: the order of jobs, and bounded waits."""

from typing import TYPE_CHECKING, Any, ClassVar, Final, get_args

import numpy as np
from numpy.typing import NDArray

from pointsman.errors import UsageError
from pointsman.policies.parts.reserving.overdue_heads import standing_of
from pointsman.policies.placers.declared import FIFO, SJF, Order, Placer, PlacerMemory
from pointsman.policies.sdk import milliseconds
from pointsman.types import Knowledge

if TYPE_CHECKING:
    from pointsman.policies.sdk import Standing


LIMIT_S: Final = "a job that has waited longer gets a reservation, as under scorer; s, 0: none does"
QUANTILE: Final = "quantile of run time over estimate by which reservations predict ends"


class GangOrder:
    """A policy whose jobs are tried in an order, and whose waits may be bounded, as those of `placers.placer`."""

    name: ClassVar[str]
    hooks: ClassVar[str] = "pointsman.learn.policies.gang_hooks"
    needs: ClassVar[Knowledge] = "oracle"
    placement: ClassVar[str] = "tightest"  # under which any free GPUs will do
    takes_whole_gpus: ClassVar[bool] = True
    needs_rates: ClassVar[bool] = True

    def _order(self, forward: bool, patience: float, order: str, patience_s: float, run_time_quantile: float) -> None:
        """Take these parameters.

        Raises:
            UsageError: one is out of range.
        """
        if not 0 <= patience < 1e6:
            raise UsageError(f"{self.name}.patience = {patience:g}: it must be from 0 to less than 1e6")
        if order not in get_args(Order):
            raise UsageError(f"{self.name}.order = {order!r:.60}: it must be one of {', '.join(get_args(Order))}")
        if not 0 <= patience_s < 1e9:
            raise UsageError(f"{self.name}.patience_s = {patience_s:g}: it must be from 0 to less than 1e9")
        if not 0 < run_time_quantile < 1:
            raise UsageError(f"{self.name}.run_time_quantile = {run_time_quantile:g}: it must be between 0 and 1")
        self._patience_ms = milliseconds(patience_s)
        numbers = Placer.parameter_record().zeros()
        P = Placer.parameter_record()(numbers)
        P.forward, P.patient_share, P.order = forward, patience, SJF if order == "sjf" else FIFO
        P.patience_ms, P.run_time_quantile = self._patience_ms, run_time_quantile
        self._params = numbers.tolist()

    def parameters(self) -> list[float]:
        """What compiled code finds in ``State.params``."""
        return self._params

    def new_memory(self) -> NDArray[np.float64]:
        """What ``State.memory`` is before the first event."""
        return PlacerMemory.zeros()

    def standing(self, state: Any, job: Any, now_ms: int) -> "Standing | None":
        """When a waiting job, a record of ``State.jobs``, will be tried before others."""
        return standing_of(state, job, now_ms, self._patience_ms)
