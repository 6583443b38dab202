"""The verbs that change a running job: the GPUs it has, and how it accumulates gradients (``semantics.md`` §10)."""

from pointsman.engine.actions.answers import answer_to_rebatch, answer_to_resize
from pointsman.engine.actions.held_gpus import bind, take_place, unbind
from pointsman.engine.actions.plan_log import log_event, log_parts
from pointsman.engine.actions.running import begin_running, cease_running, leave_network, settle
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.index.queues import dequeue
from pointsman.engine.jit.compile import core
from pointsman.engine.placement.occupancy import memory_left
from pointsman.engine.state.codes import OK, STARTING
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import Int, State
from pointsman.types import Verb

RESIZE, REBATCH = int(Verb.RESIZE), int(Verb.REBATCH)


@core
def _pause(S: State, j: Int, ms: Int) -> None:
    """Job `j`, whose GPUs or accumulation change, runs on, after `ms` of STARTING again."""
    J = S.jobs[j]
    g = S.g[0]
    leave_network(S, j)
    J.rate = 0.0
    J.waits = 0.0
    J.done_when_rated = J.done
    J.rated = g.now
    if ms > 0:
        dequeue(S, j)
        J.state = STARTING
        J.pause = ms
        J.alarm = NEVER
        g.running -= 1
        g.starting += 1
    else:
        begin_running(S, j)
    mark(S, j)


@core
def resize(S: State, j: Int, reason: Int) -> Int:
    """Give running job `j` the GPUs in State.place[:placed] instead of its own, of which it may keep some. Answers OK
    or why not.
    """
    J = S.jobs[j]
    g = S.g[0]
    answer = answer_to_resize(S, j)
    if answer != OK:
        return answer
    settle(S, j)
    leave_network(S, j)
    cease_running(S, j)
    unbind(S, j, True)
    take_place(S)
    bind(S, j)
    J.started_pass = g.pass_id
    J.restored = J.done
    log_parts(S, RESIZE, j, J.gpus, reason)
    _pause(S, j, g.stop_ms + g.start_ms + g.restore_ms)
    return OK


@core
def rebatch(S: State, j: Int, accumulation: Int) -> Int:
    """Let running job `j` go on with `accumulation` steps. Answers OK or why not."""
    J = S.jobs[j]
    answer = answer_to_rebatch(S, j, accumulation)
    if answer != OK or accumulation == J.accumulation:
        return answer
    if S.g[0].jobs_per_gpu > 1:
        memory_left(S.g[0].address, j, accumulation, True)
    settle(S, j)
    cease_running(S, j)
    J.accumulation = accumulation
    log_event(S, REBATCH, j, accumulation)
    _pause(S, j, S.g[0].rebatch_ms)
    return OK
