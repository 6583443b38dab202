"""The speed of a running job where it is now: its iteration with the all-reduce over the very nodes and racks it is on.

The formulas are those of `speed.laws.step_time`, compiled; what they need of models and links was tabulated before the
run. What others on its links do to a job is in State.flows (`contention`), what those on its GPUs
do, and others on their nodes, are factors (`felt_factors`).
"""

import numpy as np

from pointsman.engine.index.bits import lowest
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.state.records import ACCUMULATIONS, LARGEST, Int, State
from pointsman.engine.state.state_pointer import call_apart, open_state
from pointsman.speed.laws import step_time
from pointsman.types import LOCALITIES, Locality

NODE, RACK, POD, CLUSTER = (int(x) for x in (Locality.NODE, Locality.RACK, Locality.POD, Locality.CLUSTER))
LEVELS = CLUSTER + 1
FINEST = float(1 << 30)
"""Rates are rounded to whole 1/2**30, so that the last bit of a power does not decide a schedule."""
RATE, STEP_COLUMN = 0, 1
"""What is asked of a base model's own code about a job: its rate, in 1/2**30; its column of State.rate_steps."""

accumulated_s, overlapped_s = core(step_time.accumulated_s), core(step_time.overlapped_s)
ring_bandwidth, ring_s = core(step_time.ring_bandwidth), core(step_time.ring_s)


@core
def row_of(S: State, j: Int) -> Int:
    """Where what is known of job `j` stands in the tables of speed."""
    J = S.jobs[j]
    return J.speed + (J.gpu_type if J.gpu_type > 0 else 0)


@core
def _ring_s(S: State, kind: Int, level: Int, members: Int, size: float, fewest: Int) -> float:
    """Ring all-reduce of `size` bytes among `members` groups of `level`, where each node has at least `fewest` GPUs."""
    if members <= 1:
        return 0.0
    L = S.links[kind * LEVELS + level]
    rings = min(np.float64(fewest), L.sharers) if level > NODE else L.sharers
    return ring_s(members, size, ring_bandwidth(L.bandwidth, L.sharers, rings), L.latency)


@core
def communication_s(S: State, j: Int, size: float) -> tuple[float, float]:
    """All-reduce of `size` bytes over the gang of job `j`, one ring a level, one after the other: seconds inside nodes,
    and between them.
    """
    J = S.jobs[j]
    g = S.g[0]
    g.attempt += 1
    most = pods = np.int64(0)
    fewest = np.int64(LARGEST)
    i = J.part
    while i >= 0:
        P = S.parts[i]
        most = max(most, P.gpus)
        fewest = min(fewest, P.gpus)
        R = S.racks[S.nodes[P.node].rack]
        if R.tally_attempt != g.attempt:
            R.tally_attempt = g.attempt
            R.tally = 0
            D = S.pods[S.nodes[P.node].pod]
            if D.tally_attempt != g.attempt:
                D.tally_attempt = g.attempt
                D.tally = 0
                pods += 1
            D.tally += 1
        R.tally += 1
        i = P.next
    most_nodes = most_racks = np.int64(0)
    fewest_nodes = fewest_racks = np.int64(LARGEST)
    i = J.part
    while i >= 0:
        N = S.nodes[S.parts[i].node]
        most_nodes = max(most_nodes, S.racks[N.rack].tally)
        fewest_nodes = min(fewest_nodes, S.racks[N.rack].tally)
        most_racks = max(most_racks, S.pods[N.pod].tally)
        fewest_racks = min(fewest_racks, S.pods[N.pod].tally)
        i = S.parts[i].next
    kind = J.gpu_type if J.gpu_type > 0 else np.int64(0)
    inside = _ring_s(S, kind, NODE, most, size, fewest)
    size /= fewest
    between = _ring_s(S, kind, RACK, most_nodes, size, fewest)
    size /= fewest_nodes
    between += _ring_s(S, kind, POD, most_racks, size, fewest)
    size /= fewest_racks
    return inside, between + _ring_s(S, kind, CLUSTER, pods, size, fewest)


@core
def computing_s(S: State, j: Int) -> float:
    """Seconds that job `j` computes in one step of accumulation."""
    J = S.jobs[j]
    if J.accumulation == 1:
        return S.models[row_of(S, j)].compute
    return S.subbatches[row_of(S, j) * ACCUMULATIONS + lowest(J.accumulation)].compute


@core
def with_communication_s(S: State, j: Int, communication: float, slow: float) -> float:
    """Seconds of an iteration of job `j` with so much communication, which only its last step hides, where computing
    takes `slow` times as long.
    """
    compute = slow * computing_s(S, j)
    last = compute
    if communication > 0.0:
        last = overlapped_s(compute, communication, S.models[row_of(S, j)].delta)
    return accumulated_s(compute, last, S.jobs[j].accumulation)


@cold
def _of_gang_s(address: Int, j: Int) -> float:
    """Seconds of an iteration of a gang whose model is known."""
    S = open_state(address)
    M = S.models[row_of(S, j)]
    inside, between = communication_s(S, j, M.bytes)
    slow = S.jobs[j].slow_computing
    if S.g[0].network == 0 or S.flows[j].first == 0:
        return with_communication_s(S, j, inside + between, slow)
    L = S.flows[j]
    return L.slowdown * with_communication_s(S, j, inside + L.stretch * between, slow)


@core
def iteration_s(S: State, j: Int) -> float:
    """Seconds of an iteration of job `j` where it is now; 0 if its model is not known."""
    M = S.models[row_of(S, j)]
    if M.reference <= 0.0:
        return 0.0
    if S.jobs[j].gpus <= 1:
        return with_communication_s(S, j, 0.0, S.jobs[j].slow_computing)
    return _of_gang_s(S.g[0].address, j)


@core
def slowed_rate(S: State, j: Int, rate: float) -> float:
    """A rate from a table, of which computing is taken to be all, as the factors leave it."""
    slow = S.jobs[j].slow_computing * S.jobs[j].slow
    return rate if slow == 1.0 else max(1.0, np.floor(rate / slow * FINEST + 0.5)) / FINEST


@core
def rate_at(S: State, j: Int, time_s: float) -> float:
    """Nominal milliseconds that job `j` does in a millisecond where an iteration takes `time_s`: an iteration as its
    duration was recorded, over that, and never nothing. Without a model (0) it is what the table says for its locality.
    """
    row = row_of(S, j)
    if S.g[0].rating != 0:
        return call_apart(S.g[0].rating, S.g[0].address, np.int64(RATE), j) / FINEST
    if time_s <= 0.0:
        return slowed_rate(S, j, S.rates[row, S.jobs[j].locality])
    if S.g[0].stages > 0:
        J = S.jobs[j]
        adapted = S.goodputs[row * S.g[0].stages + J.stage, J.gpus * LOCALITIES + J.locality]
        if adapted > 0.0:
            return slowed_rate(S, j, adapted)
    return max(1.0, np.floor(S.models[row].reference / time_s * FINEST + 0.5)) / FINEST


@core
def waiting_share(S: State, j: Int, time_s: float) -> float:
    """The share of its time in which job `j` waits for communication where an iteration takes `time_s`."""
    if time_s <= 0.0 or S.g[0].stages > 0:
        return 0.0
    return 1.0 - S.jobs[j].accumulation * (S.jobs[j].slow_computing * computing_s(S, j)) / time_s
