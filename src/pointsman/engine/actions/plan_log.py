"""The plan log: a row for each part of what a policy does and what happens to jobs."""

import numpy as np

from pointsman.engine.jit.compile import core
from pointsman.engine.state.codes import OK
from pointsman.engine.state.records import Int, State


@core
def write_log(S: State, kind: Int, row: Int, attempt: Int, arg: Int, reason: Int, node: Int, mask: Int) -> None:
    """Append a row to the plan log under the current sequence number."""
    g = S.g[0]
    L = S.log[g.logged]
    L.time = g.now
    L.seq = g.seq
    L.kind = kind
    L.row = row
    L.attempt = attempt
    L.arg = arg
    L.reason = reason
    L.node = node
    L.mask = mask
    g.logged += 1


@core
def log_event(S: State, kind: Int, j: Int, arg: Int) -> None:
    """Log an event without parts."""
    if S.g[0].log_on:
        S.g[0].seq += 1
        write_log(S, kind, S.jobs[j].row, S.jobs[j].attempt, arg, OK, np.int64(-1), np.int64(0))


@core
def log_parts(S: State, kind: Int, j: Int, arg: Int, reason: Int) -> None:
    """Log what happens to job `j` with the GPUs it holds."""
    g = S.g[0]
    if g.log_on:
        g.seq += 1
        i = S.jobs[j].part
        while i >= 0:
            P = S.parts[i]
            write_log(S, kind, S.jobs[j].row, S.jobs[j].attempt, arg, reason, P.node, P.mask)
            i = P.next
