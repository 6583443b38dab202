"""How long jobs last, by the jobs that have ended: hazards by Kaplan and Meier (1958) on buckets of progress, and from
them the Gittins index (Gittins, 1979; for jobs of unknown size: Aalto, Ayesta and Righter, 2009).

Jobs are sorted into classes by their estimates, and classes into groups that divide mostly GPU time. A group has
hazards of its own only while these have predicted the work of jobs that ended since better than the pooled ones. The
numbers are ours (``docs/reference/semantics.md`` §7).
"""

import numpy as np

from pointsman.policies.dally.preemption import PREEMPTION_MEMORY, PREEMPTION_PARAMS
from pointsman.policies.sdk import RUNNING, Int, State, cold, core, ln, open_state, work_done

PREDICTOR, AGEING, REFIT_MS, LEAST_ENDS, GROUPS, STRENGTH = range(PREEMPTION_PARAMS, PREEMPTION_PARAMS + 6)
COST_WEIGHT, LOSS_BUDGET, MEMORY_JOBS, HAZARDS_PARAMS = range(STRENGTH + 1, STRENGTH + 5)
BY_ESTIMATE, BY_HISTORY = 1.0, 2.0  # predictors; 0: none
BUCKETS, CLASSES, MOST_GROUPS = 64, 128, 32
FIRST_BUCKET_MS, BUCKET_RATIO = 30_000.0, 1.25
FIRST_CLASS_MS, CLASS_RATIO = 1000.0, 1.16
POOLED_STRENGTH = 2.0
GPU_TIME_SHARE = 0.6
"""Of a class's weight; the rest is by number of jobs."""
LEAST_SURVIVAL, LEAST_CHANCE = 1e-9, 1e-12
LEAST_SCORE = 1e-9
"""By which a group's hazards must predict better; less is rounding."""
HIGHEST_RANK = 2.0**53
"""Up to which float64 knows every whole number."""
REFITTED = PREEMPTION_MEMORY
"""From here on in State.memory: 1 + the instant of the last refit in ms, jobs that have ended, ..."""
ENDS = REFITTED + 1
ENDS_BEFORE = ENDS + 1
"""As of the last refit."""
BUCKET_BEGINS = ENDS_BEFORE + 1
CLASS_BEGINS = BUCKET_BEGINS + BUCKETS
ENDED = CLASS_BEGINS + CLASSES
"""Jobs that have ended, by class and bucket."""
GPU_MS = ENDED + CLASSES * BUCKETS
"""Their GPU time, by class."""
SCORE = GPU_MS + CLASSES
GROUP = SCORE + CLASSES
"""Of each class."""
INDEX = GROUP + CLASSES
"""In ms, by group and bucket."""
LOG_CHANCE = INDEX + MOST_GROUPS * BUCKETS
"""ln of the chance to end in a bucket, by group; behind the groups, pooled."""
DEAD = LOG_CHANCE + (MOST_GROUPS + 1) * BUCKETS
"""While refitting: ended jobs by group and bucket, and pooled; then those that have not ended."""
ALIVE = DEAD + (MOST_GROUPS + 1) * BUCKETS
HAZARD = ALIVE + (MOST_GROUPS + 1) * BUCKETS
"""Likewise their hazards."""
NUMBER = HAZARD + (MOST_GROUPS + 1) * BUCKETS
WORK = NUMBER + CLASSES
HAZARDS_MEMORY = WORK + CLASSES


@core
def _last_begun(S: State, begins: Int, count: Int, value: float) -> Int:
    """The last of so many intervals that begins at `value` or before."""
    low, high = np.int64(0), np.int64(count - 1)
    while low < high:
        middle = (low + high + 1) // 2
        if S.memory[begins + middle] <= value:
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
    return _last_begun(S, np.int64(BUCKET_BEGINS), np.int64(BUCKETS), done)


@core
def next_bucket_ms(S: State, done: float) -> float:
    """The progress at which the bucket after that of `done` begins; infinite if there is none."""
    b = bucket_of(S, done)
    return S.memory[BUCKET_BEGINS + b + 1] if b + 1 < BUCKETS else np.inf


@core
def _sorts_by_estimates(S: State) -> bool:
    """Whether the run has estimates such as the predictor goes by: another policy may have begun it with others."""
    predictor = S.params[PREDICTOR]
    return predictor == BY_ESTIMATE or (predictor == BY_HISTORY and S.g[0].history != 0)


@core
def _class_of(S: State, j: Int) -> Int:
    """The class of job `j`, which it keeps."""
    J = S.jobs[j]
    if J.s3 == 0.0:
        c = np.int64(0)
        if _sorts_by_estimates(S) and not np.isnan(J.estimate):
            c = _last_begun(S, np.int64(CLASS_BEGINS), np.int64(CLASSES), J.estimate)
        J.s3 = 1.0 + c
    return np.int64(J.s3) - 1


@core
def reached_of(S: State, j: Int, done: float) -> float:
    """The most that job `j`, which has done so much, has ever done, in ms: what is done again says nothing new."""
    return max(done, S.jobs[j].reached) if S.params[COST_WEIGHT] > 0.0 else done


@core
def rank(S: State, j: Int, done: float) -> None:
    """Give job `j` its rank at so much progress."""
    J = S.jobs[j]
    group = np.int64(S.memory[GROUP + _class_of(S, j)])
    reached = reached_of(S, j, done)
    index = S.memory[INDEX + group * BUCKETS + bucket_of(S, reached)] + (reached - done)
    J.level = np.int64(min(np.floor(J.asked * index + S.params[AGEING] * J.submit + 0.5), HIGHEST_RANK))


@core
def note_end(S: State, j: Int) -> None:
    """Job `j` has ended by itself: it counts, and scores its group's hazards against the pooled ones."""
    M, c, b = S.memory, _class_of(S, j), bucket_of(S, S.jobs[j].done)
    M[ENDS] += 1.0
    M[ENDED + c * BUCKETS + b] += 1.0
    M[GPU_MS + c] += S.jobs[j].asked * S.jobs[j].done
    if M[REFITTED] > 0.0:
        own = M[LOG_CHANCE + np.int64(M[GROUP + c]) * BUCKETS + b]
        M[SCORE + c] += own - M[LOG_CHANCE + MOST_GROUPS * BUCKETS + b]


@core
def _falling(b: Int) -> float:
    """The hazard that stands in for history: it falls, so that jobs rank by attained service."""
    return 0.5 / (1.0 + 0.2 * b)


@core
def _set_index(S: State, hazards: Int, group: Int) -> None:
    """The index of each bucket of a group, by the hazards that begin at `hazards`."""
    M = S.memory
    survival = 1.0
    for a in range(BUCKETS):
        best, spent, chance, alive = np.inf, 0.0, 0.0, survival
        for b in range(a, BUCKETS):
            begin = M[BUCKET_BEGINS + b]
            end = M[BUCKET_BEGINS + b + 1] if b + 1 < BUCKETS else begin * BUCKET_RATIO
            ends = alive * M[hazards + b]
            alive *= 1.0 - M[hazards + b]
            spent += (end - begin) * (alive + 0.5 * ends)
            chance += ends
            if chance > 0.0:
                best = min(best, spent / chance)
        at = INDEX + group * BUCKETS + a
        M[at] = best if survival > LEAST_SURVIVAL else BUCKET_RATIO * M[at - 1]
        survival *= 1.0 - M[hazards + a]


@core
def _set_log_chances(S: State, group: Int) -> None:
    """Logarithms of the chances to end in each bucket, by a group's own hazards."""
    M, survival = S.memory, 1.0
    for b in range(BUCKETS):
        hazard = M[HAZARD + group * BUCKETS + b]
        M[LOG_CHANCE + group * BUCKETS + b] = ln(max(survival * hazard, LEAST_CHANCE))
        survival *= 1.0 - hazard


@core
def _set_hazards(S: State, group: Int, strength: float) -> None:
    """The hazards of a group, shrunk towards the pooled ones; of all jobs, towards the falling ones."""
    M, at_risk = S.memory, 0.0
    for b in range(BUCKETS - 1, -1, -1):
        i = group * BUCKETS + b
        prior = _falling(b) if group == MOST_GROUPS else M[HAZARD + MOST_GROUPS * BUCKETS + b]
        at_risk += M[DEAD + i] + M[ALIVE + i]
        left = at_risk - 0.5 * M[ALIVE + i]
        M[HAZARD + i] = min(1.0, (M[DEAD + i] + strength * prior) / (left + strength))
    _set_log_chances(S, group)


@cold
def begin_hazards(address: int) -> None:
    """Before the first job: buckets and classes, and the falling hazards for everyone."""
    S = open_state(address)
    M, groups = S.memory, np.int64(S.params[GROUPS])
    M[BUCKET_BEGINS + 1] = FIRST_BUCKET_MS
    for b in range(2, BUCKETS):
        M[BUCKET_BEGINS + b] = M[BUCKET_BEGINS + b - 1] * BUCKET_RATIO
    M[CLASS_BEGINS + 1] = FIRST_CLASS_MS
    for c in range(2, CLASSES):
        M[CLASS_BEGINS + c] = M[CLASS_BEGINS + c - 1] * CLASS_RATIO
    for b in range(BUCKETS):
        M[HAZARD + b] = _falling(b)
    for group in range(groups):
        _set_index(S, np.int64(HAZARD), np.int64(group))


@core
def _forget(S: State) -> None:
    """What was learnt before counts for no more jobs than are remembered, beside those that have ended since."""
    M, remembered = S.memory, S.params[MEMORY_JOBS]
    since = M[ENDS] - M[ENDS_BEFORE]
    M[ENDS_BEFORE] = M[ENDS]
    if remembered > 0.0:
        share = remembered / (remembered + since)
        for i in range(ENDED, GROUP):
            M[i] *= share


@core
def _count_classes(S: State) -> None:
    """Of each class the jobs, and the GPU time that they have received; unfinished ones included."""
    M = S.memory
    for c in range(CLASSES):
        M[NUMBER + c] = 0.0
        M[WORK + c] = 0.0
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            c = _class_of(S, np.int64(j))
            M[NUMBER + c] += 1.0
            M[WORK + c] += S.jobs[j].asked * _progress(S, np.int64(j))
    for c in range(CLASSES):  # last, for these are no whole numbers, of which sums depend on the order of jobs
        M[WORK + c] += M[GPU_MS + c]
        for b in range(BUCKETS):
            M[NUMBER + c] += M[ENDED + c * BUCKETS + b]


@core
def _weight(S: State, c: Int, number: float, work: float) -> float:
    """The share that class `c` has of all jobs, and mostly of their GPU time."""
    share = S.memory[NUMBER + c] / number
    if work > 0.0:
        share = (1.0 - GPU_TIME_SHARE) * share + GPU_TIME_SHARE * S.memory[WORK + c] / work
    return share


@core
def _divide_classes(S: State) -> None:
    """Classes, in order, into groups that are full at an equal weight; what remains joins the last one if it is less
    than half of that.
    """
    M, full = S.memory, 1.0 / S.params[GROUPS]
    number = work = weight = 0.0
    for c in range(CLASSES):
        number += M[NUMBER + c]
        work += M[WORK + c]
    group = np.int64(0)
    for c in range(CLASSES):
        M[GROUP + c] = min(group, np.int64(S.params[GROUPS]) - 1)
        weight += _weight(S, np.int64(c), number, work)
        if weight >= full:
            group += 1
            weight = 0.0
    if group > 0 and weight < 0.5 * full:
        for c in range(CLASSES):
            M[GROUP + c] = min(M[GROUP + c], group - 1.0)


@core
def _count_buckets(S: State) -> None:
    """Ended and unfinished jobs by group and bucket, and pooled."""
    M, pooled = S.memory, MOST_GROUPS * BUCKETS
    for i in range(DEAD, HAZARD):
        M[i] = 0.0
    for c in range(CLASSES):
        first = np.int64(M[GROUP + c]) * BUCKETS
        for b in range(BUCKETS):
            M[DEAD + first + b] += M[ENDED + c * BUCKETS + b]
            M[DEAD + pooled + b] += M[ENDED + c * BUCKETS + b]
    for j in range(S.g[0].slots):
        if S.jobs[j].state != 0:
            b = bucket_of(S, _progress(S, np.int64(j)))
            M[ALIVE + np.int64(M[GROUP + _class_of(S, np.int64(j))]) * BUCKETS + b] += 1.0
            M[ALIVE + pooled + b] += 1.0


@core
def _has_predicted_better(S: State, group: Int) -> bool:
    """Whether a group's own hazards have predicted the work of its jobs better than the pooled ones."""
    score = 0.0
    for c in range(CLASSES):
        if S.memory[GROUP + c] == group:
            score += S.memory[SCORE + c]
    return score > LEAST_SCORE


@cold
def refit_hazards(address: int) -> None:
    """Groups, hazards and indices anew."""
    S = open_state(address)
    _forget(S)
    _count_classes(S)
    _divide_classes(S)
    _count_buckets(S)
    _set_hazards(S, np.int64(MOST_GROUPS), POOLED_STRENGTH)
    for group in range(np.int64(S.params[GROUPS])):
        _set_hazards(S, np.int64(group), S.params[STRENGTH])
        of = np.int64(group) if _has_predicted_better(S, np.int64(group)) else np.int64(MOST_GROUPS)
        _set_index(S, HAZARD + of * BUCKETS, np.int64(group))


@core
def refit_is_due(S: State) -> bool:
    """Whether a refit is due; if so, it is taken to be done."""
    now, every = S.g[0].now, np.int64(S.params[REFIT_MS])
    last = max(np.int64(S.memory[REFITTED]) - 1, 0)
    if now // every <= last // every or S.memory[ENDS] < S.params[LEAST_ENDS]:
        return False
    S.memory[REFITTED] = now + 1.0
    return True
