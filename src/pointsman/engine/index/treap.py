"""Ordered indexes of jobs: treaps threaded through the job records.

Each job stands in at most one index (bucket). Order: lower `neg_priority` (unless the bucket goes `by_key`), then
`key`, then `row`. The heap order of the treap is a hash of the row, so its shape depends on what it holds and not on
history. Insert and remove are O(log n) expected, appending at the end, the first and the neighbours are O(1). Each
subtree knows its smallest `aux`, which finds the first job with `aux` below a bound in O(log n).

An index that is seldom read may take its jobs by `insert_later`, in O(1): most are gone before anyone asks for the
order. They stand in a list until `put_in_order`.
"""

import numpy as np

from pointsman.engine.jit.compile import cold, core
from pointsman.engine.state.records import Int, State
from pointsman.engine.state.state_pointer import open_world, prefetch

NOT_YET = -2
"""`up` of a job that is not in order yet."""
FAR = 8
"""How many places ahead the records of jobs are brought near: as many are gone through while memory answers."""


@core
def before(S: State, a: Int, b: Int) -> bool:
    """Whether job `a` precedes job `b` by `neg_priority`, `key`, `row`, also if they stand in different buckets."""
    A = S.jobs[a]
    B = S.jobs[b]
    if A.neg_priority != B.neg_priority:
        return A.neg_priority < B.neg_priority
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
def _link(S: State, B: np.void, a: Int, b: Int) -> None:
    """Job `b` comes just after job `a`; -1 are the ends."""
    if a >= 0:
        S.jobs[a].later = b
    else:
        B.first = b
    if b >= 0:
        S.jobs[b].earlier = a
    else:
        B.last = a


@core
def _follow(S: State, B: np.void, j: Int) -> None:
    """Job `j` comes last, and FAR places behind another: when that one goes, `j` will soon be asked for."""
    if B.leader < 0:
        B.leader = j
        B.trail = 0
        return
    B.trail += 1
    if B.trail >= FAR:
        S.jobs[B.leader].follower = j
        B.leader = S.jobs[B.leader].later
        B.trail -= 1


@core
def _add_leaf(S: State, B: np.void, j: Int) -> Int:
    """Job `j`, which is in order after all others or somewhere between, is below the job answered."""
    if _goes_before(S, B, B.last, j):
        p = B.last
        S.jobs[p].right = j
        _link(S, B, p, j)
        _link(S, B, j, np.int64(-1))
        _follow(S, B, j)
        return p
    x = B.root
    p = x
    earlier = later = np.int64(-1)
    while x >= 0:
        p = x
        if _goes_before(S, B, j, x):
            later = x
            x = S.jobs[x].left
        else:
            earlier = x
            x = S.jobs[x].right
    if p == later:
        S.jobs[p].left = j
    else:
        S.jobs[p].right = j
    _link(S, B, earlier, j)
    _link(S, B, j, later)
    return p


@cold
def insert(S: State, b: Int, j: Int) -> None:
    """Put job `j` into bucket `b` by its `neg_priority`, `key`, `row`; its `aux` counts too."""
    B = S.buckets[b]
    J = S.jobs[j]
    J.bucket = b
    J.left = -1
    J.right = -1
    J.up = -1
    J.least = J.aux
    J.follower = -1
    B.count += 1
    if B.root < 0:
        B.root = j
        _link(S, B, np.int64(-1), j)
        _link(S, B, j, np.int64(-1))
        _follow(S, B, j)
        return
    J.up = _add_leaf(S, B, j)
    x = J.up
    while x >= 0 and S.jobs[x].least > J.aux:
        S.jobs[x].least = J.aux
        x = S.jobs[x].up
    heat = _heat(J.row)
    while J.up >= 0 and heat < _heat(S.jobs[J.up].row):
        _rotate_up(S, B, j)


@core
def insert_later(S: State, b: Int, j: Int) -> None:
    """Job `j` belongs to bucket `b`, but is not in order before `put_in_order`."""
    B = S.buckets[b]
    J = S.jobs[j]
    J.bucket = b
    J.up = NOT_YET
    J.left = -1
    J.right = B.newest
    if B.newest >= 0:
        S.jobs[B.newest].left = j
    B.newest = j


@core
def put_in_order(S: State, b: Int) -> None:
    """Put the jobs of bucket `b` that came by `insert_later` where they belong."""
    B = S.buckets[b]
    while B.newest >= 0:
        j = B.newest
        B.newest = S.jobs[j].right
        insert(S, b, j)


@core
def _unlist(S: State, B: np.void, j: Int) -> None:
    """Take job `j` out of the list of those that are not in order yet."""
    J = S.jobs[j]
    if J.left >= 0:
        S.jobs[J.left].right = J.right
    else:
        B.newest = J.right
    if J.right >= 0:
        S.jobs[J.right].left = J.left


@core
def _fetch_ahead(S: State, B: np.void, follower: Int) -> None:
    """The first job of an index has gone: have brought near who will be first soon."""
    if follower < 0:
        follower = S.jobs[B.first].later if B.first >= 0 else np.int64(-1)
    if follower >= 0:
        prefetch(S.jobs, follower)
        prefetch(open_world(S.g[0].address).truth, follower)


@cold
def remove(S: State, j: Int) -> None:
    """Take job `j` out of the bucket it stands in."""
    J = S.jobs[j]
    B = S.buckets[J.bucket]
    J.bucket = -1
    if J.up == NOT_YET:
        _unlist(S, B, j)
        return
    B.count -= 1
    _link(S, B, J.earlier, J.later)
    if B.leader == j:
        B.leader = J.later
        B.trail -= 1
    if J.earlier < 0:
        _fetch_ahead(S, B, np.int64(J.follower))
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
