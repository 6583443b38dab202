"""How long jobs last, by the jobs that have ended: hazards by Kaplan and Meier (1958) on buckets of progress, and from
them the Gittins index (Gittins, 1979; for jobs of unknown size: Aalto, Ayesta and Righter, 2009).

Jobs are sorted into classes by their estimates, and classes into groups that divide mostly GPU time. A group has
hazards of its own only while these have predicted the work of jobs that ended since better than the pooled ones. The
numbers are ours (``docs/reference/semantics.md`` §7).
"""

from typing import Any

import numpy as np

from pointsman.policies.dally.declared import (
    BUCKETS,
    CLASSES,
    MOST_GROUPS,
    Gittins,
    GittinsKept,
    GittinsMemory,
    Hazards,
)
from pointsman.policies.sdk import RUNNING, Int, State, choice, cold, core, ln, open_state, view_of, work_done

BY_ESTIMATE, BY_HISTORY = choice(Gittins, "predictor", "estimate"), choice(Gittins, "predictor", "history")
FIRST_BUCKET_MS, BUCKET_RATIO = 30_000.0, 1.25
FIRST_CLASS_MS, CLASS_RATIO = 1000.0, 1.16
POOLED_STRENGTH = 2.0
GPU_TIME_SHARE = 0.6
"""Share of a class's weight that is its share of GPU time; the rest is its share of the number of jobs."""
LEAST_SURVIVAL, LEAST_CHANCE = 1e-9, 1e-12
LEAST_SCORE = 1e-9
"""By which a group's hazards must predict better; less is rounding."""
HIGHEST_RANK = 2.0**53
"""Up to which float64 knows every whole number."""
params, memory, kept = view_of(Gittins), view_of(GittinsMemory), view_of(GittinsKept)


@core
def _hazards(S: State) -> Hazards:
    return memory(S).hazards


@core
def _last_begun(begins: Any, value: float) -> Int:
    """The last of some intervals that begins at `value` or before."""
    low, high = np.int64(0), begins.shape[0] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if begins[middle] <= value:
            low = middle
        else:
            high = middle - 1
    return low


@core
def _progress(S: State, j: Int) -> float:
    """What job `j` has done by now, in nominal ms."""
    return work_done(S, j) if S.jobs[j].state == RUNNING else S.jobs[j].done


@core
def bucket_of(S: State, done: float) -> Int:
    """The bucket of so much progress, in ms."""
    return _last_begun(_hazards(S).bucket_begins, done)


@core
def next_bucket_ms(S: State, done: float) -> float:
    """The progress at which the bucket after that of `done` begins; infinite if there is none."""
    b = bucket_of(S, done)
    return _hazards(S).bucket_begins[b + 1] if b + 1 < BUCKETS else np.inf


@core
def _sorts_by_estimates(S: State) -> bool:
    """Whether the run has estimates such as the predictor goes by: another policy may have begun it with others."""
    predictor = params(S).predictor
    return predictor == BY_ESTIMATE or (predictor == BY_HISTORY and S.g[0].history != 0)


@core
def _class_of(S: State, j: Int) -> Int:
    """The class of job `j`, which it keeps."""
    J, K = S.jobs[j], kept(S, j)
    if K.class_number == 0:
        c = np.int64(0)
        if _sorts_by_estimates(S) and not np.isnan(J.estimate):
            c = _last_begun(_hazards(S).class_begins, J.estimate)
        K.class_number = 1 + c
    return K.class_number - 1


@core
def reached_of(S: State, j: Int, done: float) -> float:
    """The most that job `j`, which has done so much, has ever done, in ms: what is done again says nothing new."""
    return max(done, S.jobs[j].reached) if params(S).cost_weight > 0.0 else done


@core
def rank(S: State, j: Int, done: float) -> None:
    """Give job `j` its rank at so much progress."""
    J, H = S.jobs[j], _hazards(S)
    group = H.group[_class_of(S, j)]
    reached = reached_of(S, j, done)
    index = H.index[group, bucket_of(S, reached)] + (reached - done)
    J.level = np.int64(min(np.floor(J.asked * index + params(S).ageing * J.submit + 0.5), HIGHEST_RANK))


@core
def note_end(S: State, j: Int) -> None:
    """Job `j` has ended by itself: it counts, and scores its group's hazards against the pooled ones."""
    H, c, b = _hazards(S), _class_of(S, j), bucket_of(S, S.jobs[j].done)
    H.ends += 1
    H.ended[c, b] += 1.0
    H.gpu_ms[c] += S.jobs[j].asked * S.jobs[j].done
    if H.refitted > 0:
        H.score[c] += H.log_chance[H.group[c], b] - H.log_chance[MOST_GROUPS, b]


@core
def _falling(b: Int) -> float:
    """The hazard that stands in for history: it falls, so that jobs rank by attained service."""
    return 0.5 / (1.0 + 0.2 * b)


@core
def _set_index(H: Hazards, of: Int, group: Int) -> None:
    """The index of each bucket of a group, by the hazards `of` a group."""
    survival = 1.0
    for a in range(BUCKETS):
        best, spent, chance, alive = np.inf, 0.0, 0.0, survival
        for b in range(a, BUCKETS):
            begin = H.bucket_begins[b]
            end = H.bucket_begins[b + 1] if b + 1 < BUCKETS else begin * BUCKET_RATIO
            ends = alive * H.hazard[of, b]
            alive *= 1.0 - H.hazard[of, b]
            spent += (end - begin) * (alive + 0.5 * ends)
            chance += ends
            if chance > 0.0:
                best = min(best, spent / chance)
        H.index[group, a] = best if survival > LEAST_SURVIVAL else BUCKET_RATIO * H.index[group, a - 1]
        survival *= 1.0 - H.hazard[of, a]


@core
def _set_log_chances(H: Hazards, group: Int) -> None:
    """Logarithms of the chances to end in each bucket, by a group's own hazards."""
    survival = 1.0
    for b in range(BUCKETS):
        hazard = H.hazard[group, b]
        H.log_chance[group, b] = ln(max(survival * hazard, LEAST_CHANCE))
        survival *= 1.0 - hazard


@core
def _set_hazards(H: Hazards, group: Int, strength: float) -> None:
    """The hazards of a group, shrunk towards the pooled ones; of all jobs, towards the falling ones."""
    at_risk = 0.0
    for b in range(BUCKETS - 1, -1, -1):
        prior = _falling(b) if group == MOST_GROUPS else H.hazard[MOST_GROUPS, b]
        at_risk += H.dead[group, b] + H.alive[group, b]
        left = at_risk - 0.5 * H.alive[group, b]
        H.hazard[group, b] = min(1.0, (H.dead[group, b] + strength * prior) / (left + strength))
    _set_log_chances(H, group)


@cold
def begin_hazards(address: int) -> None:
    """Before the first job: buckets and classes, and the falling hazards for everyone."""
    S = open_state(address)
    H = _hazards(S)
    H.bucket_begins[1] = FIRST_BUCKET_MS
    for b in range(2, BUCKETS):
        H.bucket_begins[b] = H.bucket_begins[b - 1] * BUCKET_RATIO
    H.class_begins[1] = FIRST_CLASS_MS
    for c in range(2, CLASSES):
        H.class_begins[c] = H.class_begins[c - 1] * CLASS_RATIO
    for b in range(BUCKETS):
        H.hazard[0, b] = _falling(b)
    for group in range(params(S).groups):
        _set_index(H, np.int64(0), np.int64(group))


@core
def _forget(S: State) -> None:
    """What was learnt before counts for no more jobs than are remembered, beside those that have ended since."""
    H, remembered = _hazards(S), params(S).memory_jobs
    since = H.ends - H.ends_before
    H.ends_before = H.ends
    if remembered > 0.0:
        share = remembered / (remembered + since)
        for c in range(CLASSES):
            H.gpu_ms[c] *= share
            H.score[c] *= share
            for b in range(BUCKETS):
                H.ended[c, b] *= share


@core
def _count_classes(S: State) -> None:
    """Count the jobs of each class, and the GPU time (ms) that they have received, unfinished jobs included."""
    H = _hazards(S)
    for c in range(CLASSES):
        H.number[c] = 0.0
        H.work[c] = 0.0
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            c = _class_of(S, np.int64(j))
            H.number[c] += 1.0
            H.work[c] += S.jobs[j].asked * _progress(S, np.int64(j))
    for c in range(CLASSES):  # last, for these are no whole numbers, of which sums depend on the order of jobs
        H.work[c] += H.gpu_ms[c]
        for b in range(BUCKETS):
            H.number[c] += H.ended[c, b]


@core
def _weight(H: Hazards, c: Int, number: float, work: float) -> float:
    """The share that class `c` has of all jobs, and mostly of their GPU time."""
    share = H.number[c] / number
    if work > 0.0:
        share = (1.0 - GPU_TIME_SHARE) * share + GPU_TIME_SHARE * H.work[c] / work
    return share


@core
def _divide_classes(S: State) -> None:
    """Classes, in order, into groups that are full at an equal weight; what remains joins the last one if it is less
    than half of that.
    """
    H, groups = _hazards(S), params(S).groups
    full = 1.0 / groups
    number = work = weight = 0.0
    for c in range(CLASSES):
        number += H.number[c]
        work += H.work[c]
    group = np.int64(0)
    for c in range(CLASSES):
        H.group[c] = min(group, groups - 1)
        weight += _weight(H, np.int64(c), number, work)
        if weight >= full:
            group += 1
            weight = 0.0
    if group > 0 and weight < 0.5 * full:
        for c in range(CLASSES):
            H.group[c] = min(H.group[c], group - 1)


@core
def _count_buckets(S: State) -> None:
    """Ended and unfinished jobs by group and bucket, and pooled."""
    H = _hazards(S)
    for group in range(MOST_GROUPS + 1):
        for b in range(BUCKETS):
            H.dead[group, b] = 0.0
            H.alive[group, b] = 0.0
    for c in range(CLASSES):
        for b in range(BUCKETS):
            H.dead[H.group[c], b] += H.ended[c, b]
            H.dead[MOST_GROUPS, b] += H.ended[c, b]
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            b = bucket_of(S, _progress(S, np.int64(j)))
            H.alive[H.group[_class_of(S, np.int64(j))], b] += 1.0
            H.alive[MOST_GROUPS, b] += 1.0


@core
def _has_predicted_better(H: Hazards, group: Int) -> bool:
    """Whether a group's own hazards have predicted the work of its jobs better than the pooled ones."""
    score = 0.0
    for c in range(CLASSES):
        if H.group[c] == group:
            score += H.score[c]
    return score > LEAST_SCORE


@cold
def refit_hazards(address: int) -> None:
    """Groups, hazards and indices anew."""
    S = open_state(address)
    _forget(S)
    _count_classes(S)
    _divide_classes(S)
    _count_buckets(S)
    P, H = params(S), _hazards(S)
    _set_hazards(H, np.int64(MOST_GROUPS), POOLED_STRENGTH)
    for group in range(P.groups):
        _set_hazards(H, np.int64(group), P.strength)
        of = np.int64(group) if _has_predicted_better(H, np.int64(group)) else np.int64(MOST_GROUPS)
        _set_index(H, of, np.int64(group))


@core
def refit_is_due(S: State) -> bool:
    """Whether a refit is due; if so, it is taken to be done."""
    P, H, now = params(S), _hazards(S), S.g[0].now
    last = max(H.refitted - 1, 0)
    if now // P.refit_ms <= last // P.refit_ms or H.ends < P.least_ends:
        return False
    H.refitted = now + 1
    return True
