"""Jobs that have waited longer than their limits, in the order in which they did: a list, and how long a limit is."""

import numpy as np

from pointsman.policies.sdk import Int, Record, State, core, whole


class OverdueJobs(Record):
    """The ends of the list."""

    first = whole("1 + the slot of the first; 0: there is none")
    last = whole("1 + the slot of the last")


@core
def crowding_of(S: State, j: Int) -> float:
    """By how much the limit of job `j` is longer than that of a job within a node of a cluster where no other waits. It
    is counted when it is first asked for, when the job is being submitted.
    """
    J = S.jobs[j]
    if J.crowding == 0.0:
        node_gpus = S.alts[S.classes[J.cls].alt].gpus
        queued = S.g[0].queued_gpus - J.asked
        J.crowding = (1.0 + queued / S.gpus.shape[0]) * np.sqrt(min(1.0, node_gpus / J.asked))
    return J.crowding


@core
def append_overdue(S: State, j: Int, overdue: OverdueJobs) -> None:
    """Job `j` is the last of the overdue jobs."""
    J = S.jobs[j]
    J.overdue = 1
    J.ahead = overdue.last - 1
    J.behind = -1
    if J.ahead >= 0:
        S.jobs[J.ahead].behind = j
    else:
        overdue.first = j + 1
    overdue.last = j + 1


@core
def unlink_overdue(S: State, j: Int, overdue: OverdueJobs) -> None:
    """Job `j` is not overdue any more."""
    J = S.jobs[j]
    J.overdue = 0
    if J.ahead >= 0:
        S.jobs[J.ahead].behind = J.behind
    else:
        overdue.first = J.behind + 1
    if J.behind >= 0:
        S.jobs[J.behind].ahead = J.ahead
    else:
        overdue.last = J.ahead + 1


@core
def stop_waiting(S: State, j: Int, overdue: OverdueJobs) -> None:
    """Job `j` waits no more."""
    S.jobs[j].lapses = 0
    S.jobs[j].patient_until = 0
    if S.jobs[j].overdue:
        unlink_overdue(S, j, overdue)
