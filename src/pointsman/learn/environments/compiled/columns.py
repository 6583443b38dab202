"""What the compiled code of the environments reads and writes in plain arrays: their columns."""

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
