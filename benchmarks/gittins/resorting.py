"""`gittins`, but jobs that have not ended are estimated and sorted into groups again at each refit: an experiment."""

from typing import ClassVar

import numpy as np

from pointsman.engine.estimates.history import FORETELL
from pointsman.engine.state.state_pointer import call_apart
from pointsman.policies.dally.declared import Gittins, GittinsKept, GittinsMemory
from pointsman.policies.dally.gittins import decide as _decide
from pointsman.policies.dally.gittins import on_event, on_run  # noqa: F401  (they are its hooks)
from pointsman.policies.sdk import State, cold, core, open_state, view_of


class Resorting(Gittins):
    """`gittins` whose groups follow the estimates of the last refit."""

    name: ClassVar[str] = "gittins-resorting"
    hooks: ClassVar[str] = __file__


params, memory, kept = view_of(Gittins), view_of(GittinsMemory), view_of(GittinsKept)


@core
def _is_due(S: State) -> bool:
    """As `hazards.refit_is_due`, which takes the refit to be done."""
    P, H = params(S), memory(S).hazards
    last = max(H.refitted - 1, 0)
    return S.g[0].now // P.refit_ms > last // P.refit_ms and H.ends >= P.least_ends


@cold
def _estimate_anew(address: int) -> None:
    """Every job in the system gets the estimate that it would get if it were submitted now, and no group."""
    S = open_state(address)
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            call_apart(S.g[0].history, S.g[0].address, np.int64(FORETELL), np.int64(j))
            kept(S, np.int64(j)).class_number = 0


@core
def decide(S: State) -> None:
    """Estimates first, for the refit that follows."""
    if S.g[0].history != 0 and _is_due(S):
        _estimate_anew(S.g[0].address)
    _decide(S)
