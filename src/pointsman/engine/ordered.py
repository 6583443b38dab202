"""Ordered indexes of jobs: treaps threaded through the job records.

Each job stands in at most one index (bucket). Order: lower `unprio` (unless the bucket goes `by_key`), then `key`,
then `row`. The heap order of the treap
is a hash of the row, so its shape depends on what it holds and not on history. Insert, remove and step are O(log n)
expected, appending at the end and reading the first are O(1). Each subtree knows its smallest `aux`, which finds the
first job with `aux` below a bound in O(log n).
"""

import numpy as np

from pointsman.engine.compile import core
from pointsman.engine.records import Int, State


@core
def before(S: State, a: Int, b: Int) -> bool:
    """Whether job `a` goes before job `b`."""
    A = S.jobs[a]
    B = S.jobs[b]
    if A.unprio != B.unprio:
        return A.unprio < B.unprio
    if A.key != B.key:
        return A.key < B.key
    return A.row < B.row


@core
def _goes_before(S: State, B: np.void, a: Int, b: Int) -> Int:
    if B.by_key == 0:
        return before(S, a, b)
    if S.jobs[a].key != S.jobs[b].key:
        return S.jobs[a].key < S.jobs[b].key
    return S.jobs[a].row < S.jobs[b].row


@core
def _heat(row: Int) -> Int:
    """A well-mixed hash of the row; products stay below 2**63 so that it is the same without the JIT."""
    h = (row * 2654435761) & 0xFFFFFFFF
    h = ((h ^ (h >> 16)) * 73244475) & 0xFFFFFFFF
    return h ^ (h >> 16)


@core
def _refresh_least(S: State, j: Int) -> None:
    J = S.jobs[j]
    least = J.aux
    if J.left >= 0 and S.jobs[J.left].least < least:
        least = S.jobs[J.left].least
    if J.right >= 0 and S.jobs[J.right].least < least:
        least = S.jobs[J.right].least
    J.least = least


@core
def _replace_child(S: State, B: np.void, parent: Int, old: Int, new: Int) -> None:
    if parent < 0:
        B.root = new
    elif S.jobs[parent].left == old:
        S.jobs[parent].left = new
    else:
        S.jobs[parent].right = new
    if new >= 0:
        S.jobs[new].up = parent


@core
def _rotate_up(S: State, B: np.void, j: Int) -> None:
    """Lift `j` above its parent."""
    J = S.jobs[j]
    p = J.up
    P = S.jobs[p]
    _replace_child(S, B, P.up, p, j)
    if P.left == j:
        P.left = J.right
        if J.right >= 0:
            S.jobs[J.right].up = p
        J.right = p
    else:
        P.right = J.left
        if J.left >= 0:
            S.jobs[J.left].up = p
        J.left = p
    P.up = j
    J.least = P.least  # of the same jobs
    if P.least < np.inf:
        _refresh_least(S, p)


@core
def insert(S: State, b: Int, j: Int) -> None:
    """Put job `j` into bucket `b` by its `unprio`, `key`, `row`; its `aux` counts too."""
    B = S.buckets[b]
    J = S.jobs[j]
    J.bucket = b
    J.left = -1
    J.right = -1
    J.up = -1
    J.least = J.aux
    B.count += 1
    if B.root < 0:
        B.root = j
        B.first = j
        B.last = j
        return
    if _goes_before(S, B, B.last, j):
        p = B.last
        S.jobs[p].right = j
        B.last = j
    else:
        x = B.root
        p = x
        left = True
        while x >= 0:
            p = x
            left = _goes_before(S, B, j, x)
            x = S.jobs[p].left if left else S.jobs[p].right
        if left:
            S.jobs[p].left = j
            if p == B.first:
                B.first = j
        else:
            S.jobs[p].right = j
    J.up = p
    x = p
    while x >= 0 and S.jobs[x].least > J.aux:
        S.jobs[x].least = J.aux
        x = S.jobs[x].up
    heat = _heat(J.row)
    while J.up >= 0 and heat < _heat(S.jobs[J.up].row):
        _rotate_up(S, B, j)


@core
def following(S: State, j: Int) -> Int:
    """The next job after `j` in its index, -1 at the end."""
    x = S.jobs[j].right
    if x >= 0:
        while S.jobs[x].left >= 0:
            x = S.jobs[x].left
        return x
    x = j
    p = S.jobs[x].up
    while p >= 0 and S.jobs[p].right == x:
        x = p
        p = S.jobs[x].up
    return p


@core
def preceding(S: State, j: Int) -> Int:
    """The job just before `j` in its index, -1 at the beginning."""
    x = S.jobs[j].left
    if x >= 0:
        while S.jobs[x].right >= 0:
            x = S.jobs[x].right
        return x
    x = j
    p = S.jobs[x].up
    while p >= 0 and S.jobs[p].left == x:
        x = p
        p = S.jobs[x].up
    return p


@core
def remove(S: State, j: Int) -> None:
    """Take job `j` out of the bucket it stands in."""
    J = S.jobs[j]
    B = S.buckets[J.bucket]
    J.bucket = -1
    B.count -= 1
    if B.first == j:
        B.first = following(S, j)
    if B.last == j:
        B.last = preceding(S, j)
    while J.left >= 0 and J.right >= 0:
        if _heat(S.jobs[J.left].row) < _heat(S.jobs[J.right].row):
            _rotate_up(S, B, J.left)
        else:
            _rotate_up(S, B, J.right)
    x = J.up
    _replace_child(S, B, x, j, J.left if J.left >= 0 else J.right)
    while x >= 0 and J.aux < np.inf:
        least = S.jobs[x].least
        _refresh_least(S, x)
        if S.jobs[x].least == least:
            break
        x = S.jobs[x].up


@core
def _first_below(S: State, x: Int, bound: float) -> Int:
    """The first job of the subtree of `x`, whose `least` is at most `bound`, with ``aux <= bound``."""
    while True:
        left = S.jobs[x].left
        if left >= 0 and S.jobs[left].least <= bound:
            x = left
        elif S.jobs[x].aux <= bound:
            return x
        else:
            x = S.jobs[x].right


@core
def next_below(S: State, j: Int, bound: float) -> Int:
    """The first job after `j` in its index with ``aux <= bound``, -1 if none."""
    x = j
    while True:
        r = S.jobs[x].right
        if r >= 0 and S.jobs[r].least <= bound:
            return _first_below(S, r, bound)
        p = S.jobs[x].up
        while p >= 0 and S.jobs[p].right == x:
            x = p
            p = S.jobs[x].up
        if p < 0 or S.jobs[p].aux <= bound:
            return p
        x = p


@core
def first_below(S: State, b: Int, bound: float) -> Int:
    """The first job of bucket `b` with ``aux <= bound``, -1 if none."""
    x = S.buckets[b].root
    if x < 0 or S.jobs[x].least > bound:
        return np.int64(-1)
    return _first_below(S, x, bound)


@core
def first_after(S: State, b: Int, j: Int) -> Int:
    """The first job of bucket `b` that goes after job `j`, which need not stand in it; -1 if none."""
    x = S.buckets[b].root
    found = np.int64(-1)
    while x >= 0:
        if before(S, j, x):
            found = x
            x = S.jobs[x].left
        else:
            x = S.jobs[x].right
    return found
