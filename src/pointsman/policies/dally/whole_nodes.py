"""Whether gangs are placed on whole nodes in few racks, by what the network costs those that arrive. Ours.

Where leaving a node is what slows gangs, one that is scattered breaks up the nodes that others need; so it pays if all
take whole nodes, and wait for these instead of for a timer. Where leaving the rack costs more, levels and their timers
serve better. The choice is made by the losses of arriving gangs, weighted by the GPUs that they request. A gang that
could never be placed so keeps to levels and timers.
"""

import numpy as np

from pointsman.policies.dally.declared import Gittins, GittinsMemory
from pointsman.policies.parts.levels import NETWORK, NODE, RACK, rate_at
from pointsman.policies.sdk import FEW_RACKS, TIGHTEST, Int, State, core, view_of

HYSTERESIS = 1.25
"""By which factor the losses must change before gangs are placed by levels again."""
params, memory = view_of(Gittins), view_of(GittinsMemory)


@core
def _loss_beyond(S: State, j: Int, level: Int, next_level: Int) -> float:
    """By what share job `j` is faster at `level` than at the next."""
    return rate_at(S, j, level) / rate_at(S, j, next_level) - 1.0


@core
def note_losses(S: State, j: Int) -> None:
    """What a looser place costs job `j`, which has just been submitted, counts."""
    L, J = memory(S).losses, S.jobs[j]
    if J.asked == 1:
        return
    if J.asked <= S.alts[S.classes[J.cls].alt].gpus:
        L.node_loss += J.asked * _loss_beyond(S, j, np.int64(NODE), np.int64(RACK))
        L.node_gpus += J.asked
    if S.racks.shape[0] > 1:
        L.rack_loss += J.asked * _loss_beyond(S, j, np.int64(RACK), np.int64(NETWORK))
    L.rack_gpus += J.asked


@core
def on_whole_nodes(S: State) -> bool:
    """Whether gangs are placed on whole nodes now."""
    return bool(S.g[0].placement == FEW_RACKS)


@core
def _should_be(S: State) -> bool:
    """Whether they should be."""
    P, L = params(S), memory(S).losses
    if L.node_gpus < P.whole_nodes_gpus:
        return False
    node, rack = L.node_loss / L.node_gpus, L.rack_loss / L.rack_gpus
    slack = HYSTERESIS if on_whole_nodes(S) else 1.0
    return bool(slack * node > P.whole_nodes_loss and rack < slack * node)


@core
def choose_places(S: State) -> bool:
    """Choose how gangs are placed: whether that has changed."""
    before = on_whole_nodes(S)
    if params(S).whole_nodes_loss == 0.0 or _should_be(S) == before:
        return False
    S.g[0].placement = TIGHTEST if before else FEW_RACKS
    return True


@core
def takes_whole_nodes(S: State, j: Int) -> bool:
    """Whether job `j` is placed on one node, on whole nodes or by its shape now, and so waits for no level."""
    return bool(on_whole_nodes(S) and not S.classes[S.jobs[j].cls].scatters)
