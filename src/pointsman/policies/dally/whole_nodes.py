"""Whether gangs are placed on whole nodes in few racks, by what the network costs those that arrive. Ours.

Where leaving a node is what slows gangs, one that is scattered breaks up the nodes that others need; so it pays if all
take whole nodes, and wait for these instead of for a timer. Where leaving the rack costs more, levels and their timers
serve better. The choice is made by the losses of arriving gangs, weighted by the GPUs that they request. A gang that
could never be placed so keeps to levels and timers.

The parameters of the part begin at `params` of State.params, and what it keeps at `memory` of State.memory.
"""

import numpy as np

from pointsman.policies.parts.levels import NETWORK, NODE, RACK, rate_at
from pointsman.policies.sdk import FEW_RACKS, TIGHTEST, Int, State, core

LEAST_LOSS, LEAST_GPUS, WHOLE_PARAMS = range(3)
HYSTERESIS = 1.25
"""By which factor the losses must change before gangs are placed by levels again."""
NODE_LOSS, NODE_GPUS, RACK_LOSS, RACK_GPUS, WHOLE_MEMORY = range(5)
"""What leaving a node, then a rack, has cost gangs, and their GPUs."""


@core
def _loss_beyond(S: State, j: Int, level: Int, next_level: Int) -> float:
    """By what share job `j` is faster at `level` than at the next."""
    return rate_at(S, j, level) / rate_at(S, j, next_level) - 1.0


@core
def note_losses(S: State, j: Int, memory: Int) -> None:
    """What a looser place costs job `j`, which has just been submitted, counts."""
    M, J = S.memory, S.jobs[j]
    if J.asked == 1:
        return
    if J.asked <= S.alts[S.classes[J.cls].alt].gpus:
        M[memory + NODE_LOSS] += J.asked * _loss_beyond(S, j, np.int64(NODE), np.int64(RACK))
        M[memory + NODE_GPUS] += J.asked
    if S.racks.shape[0] > 1:
        M[memory + RACK_LOSS] += J.asked * _loss_beyond(S, j, np.int64(RACK), np.int64(NETWORK))
    M[memory + RACK_GPUS] += J.asked


@core
def on_whole_nodes(S: State) -> bool:
    """Whether gangs are placed on whole nodes now."""
    return bool(S.g[0].placement == FEW_RACKS)


@core
def _should_be(S: State, params: Int, memory: Int) -> bool:
    """Whether they should be."""
    M = S.memory
    if M[memory + NODE_GPUS] < S.params[params + LEAST_GPUS]:
        return False
    node, rack = M[memory + NODE_LOSS] / M[memory + NODE_GPUS], M[memory + RACK_LOSS] / M[memory + RACK_GPUS]
    slack = HYSTERESIS if on_whole_nodes(S) else 1.0
    return bool(slack * node > S.params[params + LEAST_LOSS] and rack < slack * node)


@core
def choose_places(S: State, params: Int, memory: Int) -> bool:
    """Choose how gangs are placed: whether that has changed."""
    before = on_whole_nodes(S)
    if S.params[params + LEAST_LOSS] == 0.0 or _should_be(S, params, memory) == before:
        return False
    S.g[0].placement = TIGHTEST if before else FEW_RACKS
    return True


@core
def takes_whole_nodes(S: State, j: Int) -> bool:
    """Whether job `j` is placed on one node, on whole nodes or by its shape now, and so waits for no level."""
    return bool(on_whole_nodes(S) and not S.classes[S.jobs[j].cls].scatters)
