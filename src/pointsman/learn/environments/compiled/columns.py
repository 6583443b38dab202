"""What the compiled code of the environments reads and writes: columns of plain arrays, numbers of ``State.memory`` and
of ``State.params``.
"""

ADDRESS, TURN, NEXT, EPISODE, OVER, REFUSED, DESK = 0, 1, 2, 3, 4, 5, 6
"""Columns of `desk`, one row a simulation: its handle; how many episodes have begun; the episode asked for (-1: the
next in order); the one it is in; whether that is over; how often the engine refused what the mask allowed; how many
columns.
"""

REWARD, ELAPSED, TERMINATED, TRUNCATED, ANSWER = 0, 1, 2, 3, 4
"""Columns of `answer`, one row a simulation: the reward of the last step, the ms it took, how the episode ended."""

REWARDING, HORIZON, HOW, SLOTS, UNITS, TRACE_AT, RULES = 0, 1, 2, 3, 4, 5, 6
"""Entries of `rules`: the address of the reward's code, ms until episodes are cut, the GPU picker, jobs of the window,
what a place is made of, where the trace stands in a row of the arena."""

CONFIGURED = -1
"""The GPU picker that is the engine's own placement."""

BY_GPU, BY_NODE = 0, 1
"""What PlaceJob chooses one after another."""

RUN_RATE, RATES, WAIT_URGENCY, URGENCY, FLOW, GRANTED = 0, 1, 2, 3, 4, 5
"""``State.memory``: Σ GPUs x rate of running jobs; Σ their rates; Σ 1/length (1/ms) of waiting jobs; of all in the
system; reward per τ as things are; rewards granted at once since the last decision."""

RETURN, STEPS, WORK, ENDED, JCT, SLOWDOWN = 6, 7, 8, 9, 10, 11
COST, NEARNESS, STARTED, GANGS, INVALID, METRICS = 12, 13, 14, 15, 16, 17
"""``State.memory``: of the episode so far: Σ rewards; steps; nominal GPU-ms done; jobs ended, and Σ of their completion
times (ms) and bounded slow-downs; Σ communication costs of jobs started, and normalised proximities; how many have
started, and how many of these have several GPUs; invalid actions. METRICS is the end of them."""

HOLD, TAU, ORDER, DECAY, BEST = 5, 6, 7, 8, 9
"""``State.params``: the price of a waiting GPU; ms of the unit of time of rewards; the order of jobs (PlaceJob); how
fast rewards lose their worth (1/ms); from where on the least and then the greatest communication cost of a gang of 0,
1, ... GPUs stand. Those before are the placers' (`placers.placer`)."""

IN_ORDER, SHORTEST, WIDEST, NARROWEST, AT_RANDOM = 0, 1, 2, 3, 4
"""Orders of waiting jobs: FCFS, SJF, Tetris, DRF, random."""

FLOWING, STARTING = 0, 1
"""What is asked of the reward's code: the reward per τ as things are, into FLOW; what a job that has just been given
its GPUs is worth, added to GRANTED."""

LATER, OVER_LIMIT, NOW = 0, 1, 2
"""What `deciding.look_at` answers of a job: it does not fit, its queue is at its limit, or it can start."""

NOTED_ROW, NOTED_SLOW, NOTED = 0, 1, 2
"""What `watching.watch` saw last of a slot: the row of its job and the combination as one number, and its slow-down;
how many columns.
"""
