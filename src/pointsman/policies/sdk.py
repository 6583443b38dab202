"""All that a compiled policy imports: the contract, the state, the verbs, the indexes, placement and speed.

A policy imports this module, its own family and ``policies.parts``, and nothing else of the engine. Each name is
documented where it is defined; ``docs/guides/compiled-policies.md`` shows the most used ones at work.
"""

from pointsman.engine.actions.answers import may_preempt
from pointsman.engine.actions.claims import try_for_more
from pointsman.engine.actions.eviction import RESERVED, start_or_evict
from pointsman.engine.actions.eviction_cache import forget_failures, note_worse
from pointsman.engine.actions.moving import move
from pointsman.engine.actions.python_policy_hooks import on_event, on_run
from pointsman.engine.actions.reserving import reserve
from pointsman.engine.actions.resize import resize
from pointsman.engine.actions.running import since_checkpoint, work_done
from pointsman.engine.actions.verbs import (
    admit,
    delay_of_start,
    preempt,
    preempt_released,
    set_alarm,
    start,
    start_on,
    start_placed,
    wake_at,
)
from pointsman.engine.actions.worse import release_tentatively, take_back
from pointsman.engine.estimates.logarithm import ln
from pointsman.engine.index.bits import bit, count, lowest, without_lowest
from pointsman.engine.index.free_gpus import give, lowest_bits, take
from pointsman.engine.index.queues import (
    block,
    block_nodes,
    blocked,
    close_queue,
    dequeue,
    enqueue,
    first_waiting,
    nodes_blocked,
    over_limit,
    queue_index,
    reach_of,
    running_index,
)
from pointsman.engine.index.treap import before, first_after, first_below, insert, insert_later, next_below, remove
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.placement.eligible import admits, alternative_with_room, free_gpus, some_node_with
from pointsman.engine.placement.occupancy import SINGLES, WHOLE, bytes_of, jobs_on, note_single, sits
from pointsman.engine.placement.one_node import best_fit
from pointsman.engine.placement.placing import fits, note_place, place, unplace
from pointsman.engine.placement.tightest import free_in
from pointsman.engine.rate_models.chains.admission import next_transfer
from pointsman.engine.rate_models.chains.transfers import iterations_left, most_under_way, service_left, transfer_left
from pointsman.engine.rate_models.factors.node_room import free_core_share
from pointsman.engine.rate_models.forecast import (
    all_send,
    card_overload,
    rate_beside_others,
    send_at_once,
    slowed_beside_others,
    take_off,
    try_on,
)
from pointsman.engine.rate_models.rates import iteration_s, rate_at, row_of
from pointsman.engine.rate_models.told import slow_down, told_rate
from pointsman.engine.run.contract import (
    CompiledPolicy,
    Delay,
    Owner,
    Standing,
    column_numbers,
    parameter,
)
from pointsman.engine.run.view import View
from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.setup.parameters import choice, derived, milliseconds
from pointsman.engine.state.codes import FEW_RACKS, OK, PENDING, QUOTA, RESOURCES, RUNNING, STARTING, TIGHTEST
from pointsman.engine.state.due_times import NEVER, after
from pointsman.engine.state.layouts import OPEN
from pointsman.engine.state.named import (
    OfGpu,
    OfJob,
    OfNode,
    Record,
    bits,
    flag,
    number,
    numbers,
    part,
    rows,
    whole,
    wholes,
)
from pointsman.engine.state.records import (
    ACCUMULATIONS,
    ACTIVE,
    DIRTY,
    LARGEST,
    OFF_RATE,
    SOLE_OCCUPANTS,
    UNDER_WAY,
    VICTIMS,
    Int,
    State,
)
from pointsman.engine.state.state_pointer import open_state
from pointsman.engine.state.views import view_of
from pointsman.types import LOCALITIES, Event, Knowledge, Locality, Profile, Progress, Reason

__all__ = [  # noqa: RUF022 - by topic
    # What a policy is: its class, its parameters, how its hooks are compiled.
    "CompiledPolicy",
    "Briefing",
    "Delay",
    "Owner",
    "Standing",
    "View",
    "on_event",
    "on_run",
    "column_numbers",
    "choice",
    "derived",
    "milliseconds",
    "parameter",
    # What it keeps, by name: records of numbers in its memory, and of each job, node or GPU.
    "Record",
    "OfJob",
    "OfNode",
    "OfGpu",
    "OPEN",
    "bits",
    "flag",
    "number",
    "numbers",
    "part",
    "rows",
    "view_of",
    "whole",
    "wholes",
    "cold",
    "core",
    "Event",
    "Knowledge",
    "Profile",
    "Progress",
    "LOCALITIES",
    "Locality",
    "Reason",
    # The state, and the lists of it that hooks read.
    "ACCUMULATIONS",
    "ACTIVE",
    "DIRTY",
    "SOLE_OCCUPANTS",
    "Int",
    "OFF_RATE",
    "State",
    "UNDER_WAY",
    "VICTIMS",
    "open_state",
    "NEVER",
    "LARGEST",
    "after",
    "ln",
    # Verbs: each is validated in one place and answers with a reason.
    "OK",
    "PENDING",
    "QUOTA",
    "RESOURCES",
    "RUNNING",
    "STARTING",
    "admit",
    "delay_of_start",
    "may_preempt",
    "preempt",
    "preempt_released",
    "queue_index",
    "running_index",
    "set_alarm",
    "since_checkpoint",
    "start",
    "start_on",
    "start_placed",
    "wake_at",
    "work_done",
    "resize",
    "RESERVED",
    "release_tentatively",
    "start_or_evict",
    "take_back",
    "note_worse",
    "forget_failures",
    # Indexes of jobs: waiting jobs by demand class, ordered indexes, bits of a word.
    "block",
    "block_nodes",
    "blocked",
    "close_queue",
    "dequeue",
    "enqueue",
    "first_waiting",
    "nodes_blocked",
    "over_limit",
    "reach_of",
    "before",
    "first_after",
    "first_below",
    "insert",
    "insert_later",
    "move",
    "reserve",
    "next_below",
    "remove",
    "bit",
    "count",
    "lowest",
    # GPUs: which are free, which may be shared, and where a gang fits.
    "give",
    "lowest_bits",
    "without_lowest",
    "take",
    "admits",
    "alternative_with_room",
    "note_place",
    "free_gpus",
    "some_node_with",
    "FEW_RACKS",
    "TIGHTEST",
    "best_fit",
    "fits",
    "place",
    "try_for_more",
    "unplace",
    "free_in",
    "free_core_share",
    "SINGLES",
    "WHOLE",
    "bytes_of",
    "jobs_on",
    "note_single",
    "sits",
    # Speed: of a job where it is, beside others, and of its transfers.
    "all_send",
    "card_overload",
    "rate_beside_others",
    "send_at_once",
    "slowed_beside_others",
    "take_off",
    "try_on",
    "iteration_s",
    "rate_at",
    "row_of",
    "slow_down",
    "told_rate",
    "iterations_left",
    "most_under_way",
    "service_left",
    "transfer_left",
    "next_transfer",
]
