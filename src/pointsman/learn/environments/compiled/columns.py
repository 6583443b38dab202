"""What the compiled code of the environments reads and writes: columns of plain arrays, and numbers of a state."""

from pointsman.policies.placers.declared import Placer, PlacerMemory, WhileRunning
from pointsman.policies.sdk import OPEN, OfGpu, Record, flag, number, numbers, part, view_of, whole

ADDRESS, TURN, NEXT, EPISODE, OVER, REFUSED, SIM_COLUMNS = 0, 1, 2, 3, 4, 5, 6
"""Columns of `sims`, one row a simulation: its handle; how many episodes have begun; the episode asked for (-1: the
next in order); the one it is in; whether that is over; how often the engine refused what the mask allowed; how many
columns.
"""

REWARD, ELAPSED, TERMINATED, TRUNCATED, ANSWER = 0, 1, 2, 3, 4
"""Columns of `answer`, one row a simulation: the reward of the last step, the ms it took, how the episode ended."""

REWARDING, HORIZON, HOW, SLOTS, UNITS, TRACE_AT, RULES = 0, 1, 2, 3, 4, 5, 6
"""Entries of `rules`: the address of the reward's code, ms until episodes are cut, the GPU picker, jobs of the window,
what a place is made of, where the trace stands in a row of `states`."""

CONFIGURED = -1
"""The GPU picker that is the engine's own placement."""

BY_GPU, BY_NODE = 0, 1
"""What PlaceJob chooses one after another."""

IN_ORDER, SHORTEST, WIDEST, NARROWEST, AT_RANDOM = 0, 1, 2, 3, 4
"""Orders of waiting jobs: FCFS, SJF, Tetris, DRF, random."""

FLOWING, STARTING = 0, 1
"""What is asked of the reward's code: the reward per τ as things are, into `Sums.flow`; what a job that has just been
given its GPUs is worth, added to `Sums.granted`."""

LATER, OVER_LIMIT, NOW = 0, 1, 2
"""What `deciding.look_at` answers of a job: it does not fit, its queue is at its limit, or it can start."""

NOTED_ROW, NOTED_SLOW, NOTED = 0, 1, 2
"""What `watching.watch` saw last of a slot: the row of its job and the combination as one number, and its slow-down;
how many columns.
"""


class AgentParameters(Placer.parameter_record()):  # ty: ignore[unsupported-base]
    """What an environment is set to, behind what placers are."""

    hold = number("price of a waiting GPU")
    tau_ms = number("unit of time of rewards", unit="ms")
    job_order = whole("order of waiting jobs (PlaceJob): one of `columns.IN_ORDER` to `AT_RANDOM`")
    decay = number("how fast rewards lose their worth, per ms")
    least_cost = numbers(OPEN, "the least communication cost of a gang of 0, 1, ... GPUs")
    greatest_cost = numbers(OPEN, "the greatest")


class Sums(Record):
    """Sums for rewards."""

    run_rate = number("GPUs times rate of running jobs")
    rates = number("rates of running jobs")
    wait_urgency = number("1 / length of waiting jobs", unit="1/ms")
    urgency = number("1 / length of all jobs in the system", unit="1/ms")
    flow = number("reward per τ as things are")
    granted = number("rewards granted at once since the last decision")


class Episode(Record):
    """Sums of the episode so far."""

    reward = number("rewards")
    steps = number("steps")
    work = number("nominal work done", unit="GPU-ms")
    jobs_ended = number("jobs that have ended")
    jct = number("their completion times", unit="ms")
    slowdown = number("their bounded slow-downs")
    cost = number("communication costs of jobs started")
    nearness = number("their normalised proximities")
    jobs_started = number("jobs that have started")
    gangs_started = number("those with several GPUs")
    invalid_actions = number("actions that were not allowed")


class AgentMemory(PlacerMemory):
    """What an environment keeps, behind what placers do."""

    sums = part(Sums, "for rewards")
    episode = part(Episode, "for the metrics of the episode")


class Watched(WhileRunning):
    """What is kept of a job that runs."""

    gpu_rate = number("its GPUs times its rate")


class Chosen(OfGpu):
    """What is kept of a GPU."""

    chosen = flag("it is chosen for the job that is being placed")


params, memory = view_of(AgentParameters), view_of(AgentMemory)
watched, gpu = view_of(Watched), view_of(Chosen)
