"""The state as plain record arrays: what a policy may see (`State`) and what only the world knows (`World`).

All ids and times are int64, all amounts of work float64, for mixed widths multiply the compiled specialisations.
Copying the arrays is a snapshot, a what-if and a bug report.
"""

from typing import NamedTuple

import numpy as np

I, F = "i8", "f8"  # noqa: E741

Int = int | np.int64
"""An id, a count or a time of compiled code."""

LARGEST = 1 << 62
"""Above any count or rank: where a search for the least begins."""

PARAMETERS = 96
"""Numbers of parameters that a compiled policy may have."""

JOB = np.dtype(
    [
        # where it stands in an index: one line of the memory's cache
        ("row", I),  # position in the workload; breaks every tie
        ("neg_priority", I),  # minus the priority: lower goes first
        ("key", F),  # order inside its index
        ("aux", F),  # what `first_below` looks for
        ("least", F),  # smallest aux in its subtree
        ("left", I),
        ("right", I),
        ("up", I),
        # its neighbours there, what it is, and whether it waits
        ("bucket", I),  # the index it stands in; -1
        ("earlier", I),  # the job just before it there; -1
        ("later", I),  # the job just after it there; -1
        ("state", "i4"),  # JobState
        ("dirty", "i4"),  # the world must look at it after the pass
        ("cls", I),  # demand class
        ("queue", I),
        ("asked", I),  # GPUs asked for
        ("part", I),  # first of its parts; -1 if none
        # what a start reads and writes
        ("settled", I),  # ms; up to when `done`, `attained` and `executed` are counted
        ("alarm", I),  # ms; LEVEL while it runs, TIMER while it waits; NEVER_MS for none
        ("accumulation", I),  # steps of it, a power of two
        ("speed", I),  # row of the speed table, times the number of GPU types
        ("started", I),  # ms; when it last began to run
        ("attempt", I),
        ("first_start", I),  # ms; -1 before
        ("started_pass", I),  # the pass in which it was started
        # how it runs
        ("rate", F),  # nominal ms per ms
        ("done", F),  # nominal ms of work done
        ("done_when_rated", F),  # nominal ms done when it got its rate
        ("rated", I),  # ms; when that was
        ("gpus", I),  # held GPUs; 0 if none
        ("held_since", I),  # ms
        ("slow", F),  # how many times as long an iteration takes: the product of the factors on iterations
        ("waits", F),  # the share of its time in which it waits for communication, where it is
        ("attained", I),  # GPU-ms RUNNING
        ("executed", I),  # wall ms RUNNING
        ("restored", F),  # nominal ms done when it last began to run
        ("reached", F),  # the most nominal ms that it had done whenever it lost some
        ("off_rate", I),  # position in the list of jobs with a rate other than 1; -1
        ("locality", "i4"),
        ("nodes", "i4"),  # how many nodes it is on
        (
            "slow_computing",
            F,
        ),  # likewise of the factors on computing; where a rate is from a table, by them
        ("gpu_type", I),  # held GPU type; -1 if none or mixed
        ("pause", I),  # ms of the change of GPUs or accumulation that it is STARTING again after; 0: of none
        # what its end reads
        ("held", I),  # GPU-ms held before held_since
        ("waited", F),  # ms of running in which it waited for communication
        ("slowed", F),  # ms of running that the factors on iterations and computing cost it
        ("lost", F),  # nominal ms of work lost
        ("preempts", I),
        ("submit", I),  # ms
        ("pend_since", I),  # ms; when it last became PENDING
        ("pended", I),  # ms PENDING before that
        ("estimate", F),  # nominal ms; NaN if nothing is known
        # what is asked for now and then
        ("stage", "i4"),  # of its progress, where rates depend on it
        ("follower", "i4"),  # who came FAR places behind it in its index; -1
        ("alone", I),  # GPUs that it has to itself, where GPUs are shared
        ("spot", I),  # position in the list of jobs that have some to themselves; -1
        ("claims", "i4"),  # 0: no place; CLAIMING or TRIED
        ("pinned", "i4"),  # whether it may not be preempted
        # the policy's
        ("level", I),
        ("crowding", F),  # of those that waited when it was submitted; 0: not yet counted
        ("granted", F),  # ms; how long it will have run when it no longer goes first, or its shadow time; 0
        ("patient_until", I),  # ms; before which it gets no grant
        ("lapses", "i4"),  # grants in turn that were of no use
        ("overdue", "i4"),  # whether it is in the list of jobs that have waited too long
        ("ahead", "i4"),  # its neighbours there; -1
        ("behind", "i4"),
        ("s0", F),  # what it keeps, by names of its own (`named.OfJob`)
        ("s1", F),
        ("s2", F),
        ("s3", F),
    ],
    align=True,
)

GPU = np.dtype(
    [
        ("used", I),  # jobs on it, where several may be
        ("free_milli", I),  # for jobs that ask for a fraction
        ("free_bytes", I),
        ("busy", I),  # the job whose task it does; -1
        ("until", I),  # ms
        ("s0", F),  # what the policy keeps (`named`)
    ],
    align=True,
)

NODE = np.dtype(
    [
        # what every start and end reads: one line of the memory's cache
        ("free_mask", I),  # bit g: GPU g is free
        ("free", I),
        ("gpu0", I),  # index of its first GPU
        ("pool", I),
        ("rank", I),  # position in its pool
        ("rack", I),
        ("gpu_type", I),
        ("state", "i4"),  # NodeState
        ("pod", "i4"),
        # what is asked for now and then
        ("gpus", I),
        ("claimed", I),  # GPUs that waiting jobs claim
        ("held", I),  # GPUs that jobs hold: what is neither claimed nor held is free
        ("stopping", I),  # those that stopping jobs hold
        ("shared", I),  # GPUs with several jobs
        ("fractions", I),  # GPUs with jobs that ask for a fraction
        ("bytes", I),  # memory of each GPU
        ("kind", I),  # its node type: those of one kind are alike
        ("sockets", I),  # CPU sockets, which share its GPUs as equally as they can, in order
        ("tally", I),  # GPUs that would be free with the jobs released in State.g.attempt
        ("tally_attempt", I),
        ("s0", F),  # what the policy keeps (`named`)
    ],
    align=True,
)

POOL = np.dtype(
    [
        ("gpus", I),  # GPUs of each of its nodes
        ("free", I),  # free GPUs on its UP nodes
        ("some", I),  # bit k-1: some UP node has k free GPUs
        ("bits", I),  # where its bitmaps begin in State.words
        ("leaves", I),  # words of one leaf bitmap
        ("tops", I),  # words of one summary bitmap
        ("members", I),  # where its node indexes begin in State.ints
        ("gpu_type", I),
        ("blocked", I),  # the pass in which a waiting job that found no place blocked its nodes for jobs behind it
        ("blocker", I),  # that job
        ("until", F),  # when it is expected to start on them; infinite where that is not asked
    ],
    align=True,
)

CLASS = np.dtype(
    [
        ("gpus", I),
        ("min_gpus", I),
        ("max_gpus", I),
        ("milli", I),  # of a GPU; 1000 unless it asks for a fraction, and GPUs are shared
        ("alt", I),  # its alternatives: State.alts[alt:alt_end]
        ("alt_end", I),
        ("group", I),  # classes of one group differ in GPUs only; of shapes, in nodes only
        ("reach", I),  # classes of one reach are eligible on the same nodes
        ("queue", I),  # the queue, where queues have limits; else -1
        ("nodes", I),  # of its shape; 0 without one
        ("per_node", I),  # GPUs on each of them; 0 without a shape
        ("level", I),  # the tightest Locality from NODE on that could hold it: NODE, RACK or CLUSTER
        ("scatters", I),  # whether it fits the empty cluster only if it may take any GPUs
        ("active", I),  # position among classes with waiting jobs; -1
        ("blocked", I),  # the pass in which its waiting jobs were found not to fit
        ("fits", I),  # scratch of a pass
        ("failed_at", I),  # State.g.freed when an eviction for this class last failed; -1 never
        ("failed_neg_priority", I),  # for which job
        ("failed_within", I),  # State.g.within then
        ("lacking", I),  # how many nodes it lacked, or GPUs where any will do
        ("lacks_whole", I),  # whether whole nodes
        ("failed_key", F),
    ],
    align=True,
)

ALT = np.dtype(
    [
        ("gpus", I),  # of its largest node
        ("pool", I),  # its pools: State.ints[pool:pool_end]
        ("pool_end", I),
        ("gpu_type", I),  # -1 if it admits several
        ("rack_gpus", I),  # GPUs it admits in the rack that has most of them
    ],
    align=True,
)

RACK = np.dtype(
    [
        ("members", I),  # where its node indexes begin in State.ints
        ("nodes", I),
        ("tally", I),  # GPUs that would be free with the jobs released in State.g.attempt
        ("tally_attempt", I),
    ],
    align=True,
)

POD = np.dtype([("tally", I), ("tally_attempt", I)], align=True)

MODEL = np.dtype(
    [
        ("compute", F),  # s of an iteration
        ("bytes", F),  # of gradients
        ("delta", F),  # how far communication hides behind computing
        ("reference", F),  # s of an iteration as the job's duration was recorded; 0: nothing is known
        ("kind", I),  # its model's place in State.slowdowns
    ],
    align=True,
)

SUBBATCH = np.dtype(
    [
        ("compute", F),  # s of one step of accumulation
        ("stretch", F),  # how many times as long an iteration takes at the best locality as without accumulation
        ("bytes", I),  # of GPU memory; 0: the batch has too few samples for this many steps
        ("exact", I),  # whether the model learns with it what it learns without
    ],
    align=True,
)
ACCUMULATIONS = 12
"""Powers of two that accumulation may be, from 1 on."""

LINK = np.dtype(
    [
        ("bandwidth", F),  # bytes/s of each GPU when all `sharers` use it
        ("sharers", F),  # GPUs of a node that share it
        ("latency", F),  # s
    ],
    align=True,
)

UPLINK = np.dtype(
    [
        ("capacity", F),  # bytes/s, whole
        ("load", F),  # bytes/s that its rings want together
        ("rings", I),
        ("first", I),  # its first crossing, plus 1; 0 if none
        ("changed", I),  # whether its rings changed since rates were last shared out
        ("left", F),  # what the rings still rising may share
        ("full", F),  # the common share at which they fill it
        ("rising", I),
    ],
    align=True,
)

CROSSING = np.dtype(
    [
        ("job", I),
        ("uplink", I),
        ("wants", F),  # bytes/s that the ring wants there
        ("before", I),  # of the same uplink, plus 1
        ("after", I),
        ("next", I),  # of the same job, plus 1
    ],
    align=True,
)

FLOW = np.dtype(
    [
        ("first", I),  # its first crossing, plus 1; 0 if the job crosses no uplink
        ("demand", F),  # bytes/s that its ring wants on each uplink, whole
        ("share", F),  # bytes/s that it gets
        ("stretch", F),  # how many times longer its network phase takes than alone; 0 is 1
        ("slowdown", F),  # of whole iterations, where rings are charged by their average; 0 is 1
        ("reached", I),
    ],
    align=True,
)

STEP = np.dtype(
    [
        ("fw", I),  # ms of a forward task
        ("bw", I),  # ms of a backward task
        ("transfer_ms", F),  # ms of the all-reduce between nodes, alone and less the latency
        ("solo", F),  # ms of an iteration at the best locality, alone
    ],
    align=True,
)

RATE_STEP = np.dtype(
    [
        ("passes", F),  # of an iteration; 0 where all of it computes, or it is not in State.goodputs
        ("exchange", F),  # time of its all-reduce over that of a pass
    ],
    align=True,
)

TRANSFER = np.dtype(
    [
        ("state", I),  # NO_TRANSFER, WAITS or UNDER_WAY
        ("fresh", I),  # whether it became ready at this instant
        ("ready", I),  # ms; since when
        ("left", F),  # ms alone
        ("rate", F),  # ms alone per ms; 0 before its first
        ("rated", I),  # ms; from when that holds
        ("sharers", I),  # most transfers under way on a node of it, itself included; 0 before its rate
        ("end", I),  # ms
        ("place", I),  # position in the list of those that wait
    ],
    align=True,
)

NIC = np.dtype(
    [
        ("senders", I),  # RUNNING jobs that send from this node
        ("under_way", I),  # transfers
        ("waiting", I),  # transfers
        ("freed", I),  # ms; when a transfer last ended or left
    ],
    align=True,
)

GROUP = np.dtype([("failed_pass", I), ("failed_gpus", I)], align=True)

REACH = np.dtype(
    [
        ("pool", I),  # its pools: State.ints[pool:pool_end]
        ("pool_end", I),
        ("blocked", I),  # the pass in which a job ahead of it blocked its nodes, or some of them
        ("until", F),  # the first instant at which such a job is expected to start
        ("failed_row", I),  # 1 + the row of the job that found no place last time
        ("failed_changes", I),  # State.g.changes then
    ],
    align=True,
)

QUEUE = np.dtype([("limit", I), ("held", I), ("closed", I)], align=True)

PART = np.dtype([("node", I), ("mask", I), ("gpus", I), ("next", I)], align=True)

BUCKET = np.dtype(
    [
        ("root", I),
        ("first", I),
        ("last", I),
        ("count", I),
        ("by_key", I),  # whether priorities do not count
        ("newest", I),  # head of the list of jobs that have yet to be put in order
        ("leader", I),  # the first job without a follower yet; -1
        ("trail", I),  # how many have come behind it
    ],
    align=True,
)

LOG = np.dtype(
    [
        ("time", I),
        ("seq", I),
        ("kind", I),  # Verb or Event
        ("row", I),
        ("attempt", I),
        ("arg", I),
        ("reason", I),
        ("node", I),
        ("mask", I),
    ],
    align=True,
)

SPEED = np.dtype(
    [
        ("time", I),
        ("row", I),
        ("rate", F),  # nominal ms per ms; 0 where jobs have no rates
        ("slow", F),  # how many times as long an iteration takes by factors on iterations
        ("slow_computing", F),  # likewise by factors on computing
    ],
    align=True,
)

SCALARS = np.dtype(
    [
        ("address", I),  # of the handle, for what is compiled apart
        ("now", I),
        ("pass_id", I),
        ("happened", I),  # bit k: an event of kind k was applied at this instant
        ("wake", I),  # ms; the policy's own timer
        ("round_ms", I),  # passes only at its multiples; 0: at every instant
        ("placement", I),
        ("within", I),  # Locality beyond which no gang is placed, where the placement is TIGHTEST
        ("gpus", I),
        ("free", I),
        ("pending", I),
        ("running", I),
        ("starting", I),
        ("stopping", I),
        ("queued_gpus", I),
        ("start_ms", I),
        ("stop_ms", I),
        ("restore_ms", I),
        ("rebatch_ms", I),
        ("lost_ms", F),
        ("checkpoint_ms", F),
        ("loses_since_checkpoint", I),  # whether a preempted job does, as one whose node fails
        ("active", I),  # classes with waiting jobs
        ("classes", I),
        ("schedulers", I),  # each has a class of each demand, one after another
        ("decision_us", I),  # that a scheduler takes to decide about a job
        ("queues", I),
        ("has_queue_limits", I),  # whether any queue has one
        ("placed", I),  # nodes in State.place
        ("reserved", I),  # nodes in State.reserve
        ("attempt", I),  # evictions tried so far
        ("freed", I),  # how many changes were noted in State.freed so far
        ("changes", I),  # of what is free or may be preempted, so far
        ("claims", I),  # rows of State.claims in use
        ("idle_claimed", I),  # GPUs that jobs claim and none holds
        ("unclaimed", I),  # GPUs of stopping jobs that no job claims
        ("came_free", I),  # since the last cycle: 1: GPUs that are claimed, 2: others, 3: both
        ("victims", I),
        ("off_rate", I),
        ("dirty", I),
        ("free_part", I),  # head of the list of free parts
        ("network", I),  # address of what shares out the network; 0: no jobs share a link
        ("contention", I),  # Contention
        ("base_model", I),  # its position in `rate_models.registry.BASE_MODELS`
        ("counts_iterations", I),  # whether jobs have no rates, and the network's unit moves them on
        ("sharing", I),  # address of what keeps account of GPUs that jobs share
        ("factors", I),  # rows of State.factors
        ("node_factor", I),  # row of the factor that counts what jobs take of nodes, plus 1; 0: none does
        ("wrong_factor", I),  # row of one whose answer was no slow-down, plus 1
        ("staging", I),  # address of what knows the stages of jobs' progress
        ("rating", I),  # address of the base model's own code, see `rate_models.rates.RATE`; 0: tables
        ("rack_cost", F),  # of communication, for each rack that a gang is on
        ("node_cost", F),
        ("gpu_cost", F),
        ("least_cost", F),  # below which a gang's does not fall
        ("latency", I),  # ms before a transfer's first byte
        ("admits", I),  # whether the policy admits transfers
        ("waiting", I),  # transfers that wait
        ("penalty", F),  # share of the time that a further ring costs a node's link besides its own bytes
        ("bcube", I),  # n of the BCube(n, 1) where rings share links, whose nodes have two cards; 0: they have one
        ("free_crossing", I),  # head of the list of free crossings, plus 1
        ("changed_uplinks", I),  # uplinks in State.changed_uplinks
        ("row_mask", I),  # what of a row is its place in the arrays by row; -1: all of it
        ("outside", I),  # Outside
        ("min_run_ms", I),  # ms that a job runs before it may be preempted
        ("slots", I),  # job slots used so far
        ("free_slot", I),  # head of the list of those free again; -1
        ("log_on", I),
        ("logged", I),
        ("seq", I),
        ("types", I),  # GPU types
        ("jobs_per_gpu", I),  # jobs a GPU may hold
        ("singled", I),  # how many jobs were noted in State.singles so far
        ("sole_occupants", I),  # jobs in State.lists[SOLE_OCCUPANTS]
        ("fractions", I),  # GPUs with jobs that ask for a fraction
        ("kinds", I),  # models in State.slowdowns
        ("stages", I),  # of progress; 0: rates do not depend on it
        ("inbox_on", I),
        ("inbox", I),
        ("preempts", I),
        ("preempted_gpu_ms", F),  # that preemptions have cost: work lost, stops, and starts anew
        ("on_event", I),  # addresses of the policy's hooks; 0: it does nothing there
        ("on_run", I),
        ("decide", I),
        ("scripted_events", I),  # address of what applies them
        ("history", I),  # address of what estimates work from the jobs that have finished; 0: nothing does
        ("audit", I),
        ("log_speeds", I),
        ("speeds_logged", I),
    ],
    align=True,
)

TRUTH = np.dtype(
    [
        ("work", F),
        ("finish", I),
        ("due", I),
        ("turn", I),  # ms; when its stage ends
        ("pos", I),
    ],
    align=True,
)

FACTOR = np.dtype(
    [
        ("unit", I),  # address of its code
        ("on_computing", I),  # whether it slows computing alone, or the whole of an iteration
        ("role", I),  # whether jobs are slowed by it, policies forecast by it, or both: see `OF_BOTH`
        ("numbers", I),  # where its own begin in State.factor_numbers
        ("loads", I),  # where its own begin in State.factor_loads
        ("found", F),  # how many times as long it lets the job take of which it was asked last
    ],
    align=True,
)
"""A factor of a run: what slows jobs besides the base model."""

CHAIN = np.dtype(
    [
        ("left", I),  # iterations still to be done, as of `since` where it leaps
        ("leaps", I),  # whether it goes from iteration to iteration without steps
        ("since", I),  # ms; when the iteration began, where it leaps
        ("begun", I),  # whether any task of this iteration has begun
        ("over", I),  # workers that are done with this iteration
        ("extra", I),  # 1/2**16: how much longer its tasks take in this iteration, or in all while it leaps
        ("owed", I),  # 1/2**16 ms: what earlier tasks were shorter than that, for times are whole ms
    ],
    align=True,
)

HEAP = np.dtype([("time", I), ("order", I)], align=True)

TRACE = np.dtype(
    [
        ("submit", I),
        ("work", F),
        ("estimate", F),
        ("cls", I),
        ("queue", I),
        ("neg_priority", I),
        ("speed", I),
        ("pinned", I),  # whether it may not be preempted
    ],
    align=True,
)

SCRIPT = np.dtype(
    [
        ("time", I),
        ("kind", I),  # Event or Told
        ("subject", I),  # a node, or the row of a job
        ("state", I),  # NodeState; of a job that ends, the JobState in which it does
        ("slot", I),  # where the job is looked for first
        ("value", F),  # of Told.ESTIMATE and Told.OBSERVE
    ],
    align=True,
)

OUTCOME = np.dtype(
    [
        ("start", I),
        ("end", I),
        ("run", I),
        ("pended", I),
        ("held", I),
        ("attained", I),
        ("estimate", F),  # nominal ms; NaN if nothing is known
        ("lost", F),
        ("waited", F),
        ("slowed", F),
        ("preempts", "i4"),
        ("nodes", "i4"),
        ("locality", "i4"),
        ("state", "i4"),
    ],
    align=True,
)

SAMPLE = np.dtype(
    [
        ("time", I),
        ("used", I),
        ("running", I),
        ("pending", I),
        ("queued_gpus", I),
        ("largest_free", I),
        ("whole_free", I),
        ("head_gpus", I),
    ],
    align=True,
)

CLOCK = np.dtype(
    [
        ("heap", I),  # entries of the event heap
        ("arrived", I),
        ("jobs", I),
        ("ended", I),
        ("scripted", I),
        ("script", I),
        ("decisions", I),
        ("events", I),
        ("sample_every", I),
        ("sample_next", I),
        ("samples", I),
        ("audit", I),
        ("audit_failed", I),
        ("audit_subject", I),
        ("fail_rate", F),
        ("seed", I),
        ("resume", I),
        ("ends_as", I),  # JobState in which a job ends that finishes
        ("ignored", I),  # what was told of jobs that were in no state for it
    ],
    align=True,
)


class State(NamedTuple):
    """What a policy may see. Arrays of capacity; lists inside them are linked by index, -1 ends."""

    g: np.ndarray  # SCALARS, (1,)
    jobs: np.ndarray  # JOB, (slots,), recycled
    nodes: np.ndarray  # NODE, (M,)
    gpus: np.ndarray  # GPU, (G,)
    occupants: np.ndarray  # i8, (G, limit): job slots on a GPU, -1
    pools: np.ndarray  # POOL, (P,)
    racks: np.ndarray  # RACK, (R,)
    pods: np.ndarray  # POD
    rack_free: np.ndarray  # i8, (P, R): free GPUs on UP nodes
    counts: np.ndarray  # i8, (P, 65): UP nodes with k free GPUs
    words: np.ndarray  # i8: bitmaps of nodes by pool and free count
    ints: np.ndarray  # i8: members of pools, then of racks, then pools of alternatives, then of reaches
    classes: np.ndarray  # CLASS, (C,)
    alts: np.ndarray  # ALT
    groups: np.ndarray  # GROUP
    reaches: np.ndarray  # REACH: sets of nodes on which jobs are eligible, each once
    queues: np.ndarray  # QUEUE
    buckets: np.ndarray  # BUCKET: classes first, then queues of each reach, then RUNNING and what a policy needs
    parts: np.ndarray  # PART: what jobs hold
    lists: np.ndarray  # i8, (LISTS, slots): active classes, dirty jobs, victims, OFF_RATE, WAITING, SOLE_OCCUPANTS
    place: np.ndarray  # PART, (M,): the placement just found
    reserve: np.ndarray  # PART, (M,): a reservation
    freed: np.ndarray  # PART, (1024,): a ring of GPUs freed, or held by a job (next; -1) that became worse
    claims: np.ndarray  # PART, (G,): of the places that waiting jobs claim, by claim; see `actions.claims`
    log: np.ndarray  # LOG
    speed_log: np.ndarray  # SPEED
    inbox: np.ndarray  # i8, (n, 2): events of this instant, for hosted policies
    params: np.ndarray  # f8, (PARAMETERS,): the policy's parameters, read by name (`views`)
    memory: np.ndarray  # f8, (at least 8192,): the policy's memory, likewise
    job_numbers: np.ndarray  # f8, (slots, k): what the policy worked out of each job before the run
    rates: np.ndarray  # f8, (speed rows, LOCALITIES), of gangs of the usual shapes
    models: np.ndarray  # MODEL, (speed rows,)
    links: np.ndarray  # LINK, (GPU types * LOCALITIES,)
    flows: np.ndarray  # FLOW, (slots,): what running jobs send over uplinks
    uplinks: np.ndarray  # UPLINK: of nodes, then racks, then pods, or first cards, then second; or of whole levels
    crossings: np.ndarray  # CROSSING
    changed_uplinks: np.ndarray  # i8: uplinks whose rings changed
    steps: np.ndarray  # STEP, (speed rows,)
    workers: np.ndarray  # i8, (G, limit): what the worker of each occupant is at
    transfers: np.ndarray  # TRANSFER, (slots,)
    nics: np.ndarray  # NIC, (M,)
    subbatches: np.ndarray  # SUBBATCH, (speed rows * ACCUMULATIONS,)
    slowdowns: np.ndarray  # f8, (GPU types * kinds, kinds): of a job of one kind beside one of another
    factors: np.ndarray  # FACTOR, those of the run
    factor_numbers: np.ndarray  # f8: constants that factors were made with
    factor_loads: np.ndarray  # i8: what factors keep of running jobs; 0 where none runs
    singles: np.ndarray  # i8, (1024,): a ring of jobs that got GPUs to themselves
    goodputs: np.ndarray  # f8, (speed rows * stages, (most GPUs + 1) * LOCALITIES): rates of elastic jobs;
    # with the rate model tree, (speed rows, racks + 1): rates by the number of racks, at communication cost 1
    rate_steps: np.ndarray  # RATE_STEP, as goodputs, where a factor slows computing: the iterations behind these rates
    told_rates: np.ndarray  # f8, as rates, as policies are told
    told_goodputs: np.ndarray  # f8, as goodputs, as policies are told
    told_slowdowns: np.ndarray  # f8, as slowdowns, as policies are told
    history: np.ndarray  # f8: what estimates from history have learnt; see `estimates.history`
    history_keys: np.ndarray  # i8, (N, keys): where what is learnt of jobs like each begins there, by row; or (1, 1)
    history_features: np.ndarray  # f8, (slots, COLUMNS): what was known of jobs as they were submitted; or (1, 1)


class World(NamedTuple):
    """What only the simulated world knows."""

    clock: np.ndarray  # CLOCK, (1,)
    truth: np.ndarray  # TRUTH, (slots,)
    chains: np.ndarray  # CHAIN, (slots,)
    heap: np.ndarray  # HEAP, (slots + event_heap.AROUND,)
    trace: np.ndarray  # TRACE, (N,), shared, and never written by compiled code
    script: np.ndarray  # SCRIPT
    outcomes: np.ndarray  # OUTCOME, (N,); state 0 until the job has ended
    told_numbers: np.ndarray  # f8, (N, k): State.job_numbers of jobs to come, by row
    samples: np.ndarray  # SAMPLE


ACTIVE, DIRTY, VICTIMS, OFF_RATE, WAITING, SOLE_OCCUPANTS, LISTS = 0, 1, 2, 3, 4, 5, 6
"""Rows of State.lists, and how many there are."""

CLAIMING, TRIED = 1, 2
"""State of a waiting job's claim: the job waits for that place alone, or is queued again, to be tried on free GPUs."""

ENTER, EXIT, DIVIDE, UNPLACE = 0, 1, 2, 3
"""What is asked of the code at State.g.sharing: a job comes onto a GPU (both in one number) or is about to leave it;
which GPU has a fraction left for a class, which is then noted as a place; the place is given back."""

SLOW, BEGIN, CEASE = 0, 1, 2
"""What is asked of the code of a factor: how many times as long computing, or an iteration, of a running job takes
where it is, which is then noted as its `found`; the job begins to run there, or is about to cease."""

OF_BOTH, OF_RUN, OF_POLICY = 0, 1, 2
"""Role of a factor: jobs are slowed by it and policies forecast by it, or one of these."""

FACTOR_SHIFT = 2
"""Bits of what is asked of a factor; its row in State.factors is above them."""

SEAT_BITS = 32
"""Bits of the job in a number that has a job and, above it, a GPU."""

TURN, NEXT = 0, 1
"""What is asked of the code at State.g.staging: when a job's stage ends at its rate; and the next is to begin."""

SHARE, LEAVE, AUDIT, STEP_ON, ALERT, ADMIT = 0, 1, 2, 3, 4, 5
"""What is asked of the code at State.g.network: share the links out, let a job leave them, look for faults; and of
that of iterations also: take the step of a job that is due, see before the pass to what became ready, admit a job's
transfer."""

NO_TRANSFER, WAITS, UNDER_WAY = 0, 1, 2
"""States of a transfer."""
