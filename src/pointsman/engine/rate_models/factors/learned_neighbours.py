"""What jobs on different GPUs of one node do to each other by a learnt file (``docs/reference/semantics.md`` §15): the
compiled part of `learned_interference`, where the numbers and loads are laid out.
"""

import numpy as np

from pointsman.engine.index.bits import bit, lowest, without_lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.rate_models.factors.own_numbers import whole_number
from pointsman.engine.rate_models.rates import FINEST, row_of
from pointsman.engine.state.codes import RUNNING
from pointsman.engine.state.records import Int, State

MODELS, GPUS, OTHERS, JOBS, INDEX, KEYS, TIMES, LAWS, HEAD = range(9)
"""Numbers of the factor: how many models; the most GPUs of a node, and of others in a combination; and where the
models of jobs, the index of combinations, these, their slow-downs and the laws begin.
"""
MOST = 1000.0
"""Times as long, by the law."""


@core
def model_of(S: State, f: Int, j: Int) -> Int:
    """The model of job `j`, from 0; -1 if the file does not know it."""
    at = S.factors[f].numbers + whole_number(S, f, np.int64(JOBS)) + row_of(S, j)
    return np.int64(S.factor_numbers[at]) - 1


@core
def _gpus_of(S: State, f: Int, n: Int, model: Int) -> Int:
    """Where the GPUs of node `n` that jobs of a model have are counted."""
    return S.factors[f].loads + n * whole_number(S, f, np.int64(MODELS)) + model


@core
def _kind_of(S: State, f: Int, n: Int, model: Int) -> Int:
    """The kind of node `n`, and a model, as one number."""
    kind = np.int64(S.factor_numbers[S.factors[f].numbers + HEAD + n])
    return kind * whole_number(S, f, np.int64(MODELS)) + model


@cold
def _of_others(S: State, f: Int, j: Int, i: Int, g: Int, model: Int) -> Int:
    """GPUs of the node of part `i`, but for GPU `g`, that other jobs of a model have."""
    n = S.parts[i].node
    there = S.factor_loads[_gpus_of(S, f, n, model)] - (S.parts[i].gpus if model_of(S, f, j) == model else 0)
    x = S.nodes[n].gpu0 + g
    for o in range(S.occupants.shape[1]):
        b = S.occupants[x, o]
        if b >= 0 and b != j and S.jobs[b].state == RUNNING and model_of(S, f, b) == model:
            there -= 1
    return there


@cold
def _looked_up(S: State, f: Int, kind: Int, gpus: Int, key: Int) -> Int:
    """Which of the tabulated combinations has this number; -1 if none has."""
    numbers = S.factors[f].numbers
    if gpus > whole_number(S, f, np.int64(GPUS)):
        return np.int64(-1)
    at = numbers + whole_number(S, f, np.int64(INDEX)) + 2 * (kind * (whole_number(S, f, np.int64(GPUS)) + 1) + gpus)
    low, end = np.int64(S.factor_numbers[at]), np.int64(S.factor_numbers[at + 1])
    keys = numbers + whole_number(S, f, np.int64(KEYS))
    high = end
    while low < high:
        middle = (low + high) // 2
        if S.factor_numbers[keys + middle] < key:
            low = middle + 1
        else:
            high = middle
    return low if low < end and np.int64(S.factor_numbers[keys + low]) == key else np.int64(-1)


@cold
def combination_on(S: State, f: Int, j: Int, i: Int, g: Int) -> Int:
    """Which of the tabulated combinations the worker of job `j` on GPU `g` of part `i` is in; -1 if in none."""
    models = whole_number(S, f, np.int64(MODELS))
    most = whole_number(S, f, np.int64(OTHERS))
    key = beside = np.int64(0)
    for m in range(models):
        there = _of_others(S, f, j, i, g, np.int64(m))
        beside += there
        if beside > most:
            return np.int64(-1)
        for _ in range(there):
            key = key * (models + 1) + m + 1
    kind = _kind_of(S, f, S.parts[i].node, model_of(S, f, j))
    return _looked_up(S, f, kind, S.parts[i].gpus, key)


@cold
def _by_law(S: State, f: Int, j: Int, i: Int, g: Int) -> float:
    """ψ of the worker of job `j` on GPU `g` of part `i` by the law."""
    models = whole_number(S, f, np.int64(MODELS))
    kind = _kind_of(S, f, S.parts[i].node, model_of(S, f, j))
    law = S.factors[f].numbers + whole_number(S, f, np.int64(LAWS)) + kind * (2 + 2 * models)
    longer = S.factor_numbers[law]
    for _ in range(S.parts[i].gpus):
        longer *= S.factor_numbers[law + 1]
    for m in range(models):
        there = _of_others(S, f, j, i, g, np.int64(m))
        if there > 0:
            longer *= S.factor_numbers[law + 2 + m]
        for _ in range(there):
            longer *= S.factor_numbers[law + 2 + models + m]
    return min(MOST, max(1.0, longer))


@core
def _on_gpu(S: State, f: Int, j: Int, i: Int, g: Int) -> float:
    """ψ of the worker of job `j` on GPU `g` of part `i`: as the file has the combination, else by its law."""
    row = combination_on(S, f, j, i, g)
    if row < 0:
        return _by_law(S, f, j, i, g)
    return S.factor_numbers[S.factors[f].numbers + whole_number(S, f, np.int64(TIMES)) + row]


@core
def is_known(S: State, f: Int, j: Int) -> bool:
    """Whether the model of job `j` is among those of the table."""
    return model_of(S, f, j) >= 0


@core
def slowed(S: State, f: Int, j: Int) -> float:
    """ψ of the worst worker of job `j`, in whole 1/2**30."""
    if not is_known(S, f, j):
        return 1.0
    worst = 1.0
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        mask = P.mask if S.nodes[P.node].shared != 0 else bit(lowest(P.mask))  # else it is alike on all
        while mask != 0:
            worst = max(worst, _on_gpu(S, f, j, i, lowest(mask)))
            mask = without_lowest(mask)
        i = P.next
    return np.floor(worst * FINEST + 0.5) / FINEST


@core
def _count(S: State, f: Int, j: Int, sign: Int) -> None:
    """The GPUs of job `j` come to the counts of its nodes, or go; all that run there may get another speed."""
    model = model_of(S, f, j)
    if model < 0:
        return
    i = S.jobs[j].part
    while i >= 0:
        P = S.parts[i]
        S.factor_loads[_gpus_of(S, f, P.node, model)] += sign * P.gpus
        for x in range(S.nodes[P.node].gpu0, S.nodes[P.node].gpu0 + S.nodes[P.node].gpus):
            for o in range(S.occupants.shape[1]):
                b = S.occupants[x, o]
                if b >= 0 and S.jobs[b].state == RUNNING and model_of(S, f, b) >= 0:
                    mark(S, b)
        i = P.next


@core
def begin(S: State, f: Int, j: Int) -> None:
    """Job `j` runs beside those on its nodes."""
    _count(S, f, j, np.int64(1))


@core
def cease(S: State, f: Int, j: Int) -> None:
    """Job `j` runs there no more."""
    _count(S, f, j, np.int64(-1))
