"""The fields of jobs, nodes and GPUs that are the policy's: as they are while it knows nothing of them."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.records import Int, State


@core
def forget_job(S: State, j: Int) -> None:
    """Nothing is known of job `j`."""
    J = S.jobs[j]
    J.level = 0
    J.crowding = 0.0
    J.granted = 0.0
    J.patient_until = 0
    J.lapses = 0
    J.overdue = 0
    J.s0 = 0.0
    J.s1 = 0.0
    J.s2 = 0.0
    J.s3 = 0.0


@core
def forget_places(S: State) -> None:
    """Nothing is known of any node or GPU."""
    for n in range(S.nodes.shape[0]):
        S.nodes[n].s0 = 0.0
    for x in range(S.gpus.shape[0]):
        S.gpus[x].s0 = 0.0
