"""The fields of jobs, nodes and GPUs that are the policy's: as they are while it knows nothing of them."""

from pointsman.engine.jit.compile import core
from pointsman.engine.state.named import OfGpu, OfJob, OfNode, number
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.views import view_of


class AllOfJob(OfJob):
    """All that a policy can keep of a job, whatever its names there."""

    first, second, third, fourth = (number(f"the policy's {nth} number") for nth in ("1st", "2nd", "3rd", "4th"))


class AllOfNode(OfNode):
    """All that a policy can keep of a node."""

    only = number("the policy's number")


class AllOfGpu(OfGpu):
    """All that a policy can keep of a GPU."""

    only = number("the policy's number")


of_job, of_node, of_gpu = view_of(AllOfJob), view_of(AllOfNode), view_of(AllOfGpu)


@core
def forget_job(S: State, j: Int) -> None:
    """Clear what the policy knows of job `j`."""
    J, K = S.jobs[j], of_job(S, j)
    J.level = 0
    J.crowding = 0.0
    J.granted = 0.0
    J.patient_until = 0
    J.lapses = 0
    J.overdue = 0
    K.first = 0.0
    K.second = 0.0
    K.third = 0.0
    K.fourth = 0.0


@core
def forget_places(S: State) -> None:
    """Clear what the policy knows of nodes and GPUs."""
    for n in range(S.nodes.shape[0]):
        of_node(S, n).only = 0.0
    for x in range(S.gpus.shape[0]):
        of_gpu(S, x).only = 0.0
