"""The run: instants, passes, rounds, and the schedule that comes out."""

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from . import (
    conservative,
    dally,
    gandiva,
    gittins,
    kueue,
    multifactor,
    pick_place,
    placers,
    reserving,
    tiresias_skew,
)
from .dally_pass import dally as decide_dally
from .dally_waiting import PatientDallyWorld
from .gpu_pickers import Edges
from .history import History
from .model import Job, LogEntry, Node, Place, Schedule
from .placement import PLACEMENTS, every_gpu, place
from .placers import PLACERS
from .policies import by_estimate, by_row, easy, srtf, strict, tiresias
from .schedulers import PlacerWorld
from .waiting import OPTIONS, Options, TurnsWorld
from .world import Life, Rules, World, to_ms

POLICIES: dict[str, Callable[[World], None]] = {
    "fifo": lambda world: strict(world, by_row),
    "sjf": lambda world: strict(world, by_estimate),
    "fifo-backfill": lambda world: reserving.backfill(world, by_row),
    "sjf-backfill": lambda world: reserving.backfill(world, by_estimate),
    "easy": easy,
    "conservative": conservative.conservative,
    "multifactor": multifactor.multifactor,
    "kueue": kueue.kueue,
    "srtf": srtf,
    "tiresias": tiresias,
    "las": tiresias,
    "tiresias-skew": tiresias_skew.tiresias_skew,
    "gandiva": gandiva.gandiva,
    **dict.fromkeys(dally.VARIANTS, decide_dally),
    "gittins": decide_dally,
    "pick-place": pick_place.pick_place,
    "pick-place-sjf": pick_place.pick_place,
    **PLACERS,
}
BY_NETWORK = ("tiresias-skew", "gandiva", *dally.VARIANTS, "gittins")
"""They look at the network."""
OWN_PLACEMENT = {
    **dict.fromkeys((*BY_NETWORK, "pick-place", "pick-place-sjf", *PLACERS), "tightest"),
    "dally-whole-nodes": "consolidated",
}
"""They say themselves how they place: under tightest, any free GPUs will do for pick-place."""
OVERHEADS = ("start_s", "stop_s", "restore_s", "lost_s", "checkpoint_every_s")
NODE_EVENTS = ("NODE_DOWN", "NODE_UP", "NODE_DRAIN")
THRESHOLDS_GPU_S = {"tiresias": (3250, 7200), "las": (28_800,), "tiresias-skew": (3250, 7200)}
PARAMS = {
    **dict.fromkeys(("fifo-backfill", "sjf-backfill"), reserving.PARAMS),
    "conservative": conservative.PARAMS,
    "multifactor": multifactor.PARAMS,
    "kueue": kueue.PARAMS,
    "srtf": {"margin_s"} | OPTIONS,
    "tiresias": {"thresholds_gpu_s", "promote_knob"} | OPTIONS,
    "las": {"thresholds_gpu_s", "promote_knob"} | OPTIONS,
    "tiresias-skew": tiresias_skew.PARAMS,
    "gandiva": gandiva.PARAMS,
    **dict.fromkeys(dally.VARIANTS, dally.PARAMS),
    "gittins": gittins.PARAMS,
    **dict.fromkeys(PLACERS, placers.SHARED),
    **placers.PARAMS,
    "pick-place": pick_place.PARAMS,
    "pick-place-sjf": pick_place.PARAMS - {"picker"},
}


def simulate(
    nodes: Sequence[Node],
    jobs: Sequence[Job],
    policy: str,
    *,
    params: Mapping[str, Any] = {},
    placement: str = "consolidated",
    overheads: Mapping[str, float] = {},
    queue_limits: Mapping[str, int] = {},
    script: Sequence[tuple[int, str, int]] = (),
    rate: Callable[[Job, int], float] | None = None,
    rate_on: Callable[[Job, Place], float] | None = None,
    edges: Edges | None = None,
    round_ms: int = 0,
    until_ms: int | None = None,
    knows_work: bool = True,
    history: bool = False,
    told: Sequence[LogEntry] = (),
    seed: int = 0,
    make: Callable[..., World] | None = None,
    decide: Callable[[World], None] | None = None,
) -> Schedule:
    """Run `jobs` (in row order) to the end, or through the instants up to and including `until_ms`.

    `overheads` has keys of `OVERHEADS`, `script` entries (time_ms, one of `NODE_EVENTS`, node index) or
    (time_ms, "CANCEL", row);
    `rate(job, locality)` is nominal ms of work per ms (locality 0 GPU .. 4 cluster), `rate_on(job, place)` the same
    where more counts; `edges` are those of the tree by which `pick-place` chooses; `round_ms > 0`
    makes it rounds(policy, round_ms); without `knows_work` the policy is told nothing of the jobs' work, with `history`
    what the jobs that have finished say of it; `told` is another program's log, which is followed where a policy leaves
    a choice to chance; `seed` is the run's; `make`, with the fields of a World, and `decide` are a policy that has no
    name here.
    Raises ValueError for input that section 2 or 4 refuses.
    """
    check(nodes, jobs, policy, params, placement, overheads, queue_limits, script)
    rules = Rules(
        placement=placement,
        rate=rate or (lambda job, locality: 1.0),
        rate_on=rate_on,
        queue_limits=dict(queue_limits),
        start_ms=to_ms(overheads.get("start_s", 0)),
        stop_ms=to_ms(overheads.get("stop_s", 0)),
        restore_ms=to_ms(overheads.get("restore_s", 0)),
        lost_ms=to_ms(overheads.get("lost_s", 0)),
        checkpoint_every_ms=to_ms(overheads.get("checkpoint_every_s", 0)),
        loses_since_checkpoint=bool(overheads.get("loses_since_checkpoint", False)),
        reestimates=policy in ("easy", "conservative", "multifactor"),
        margin_ms=to_ms(params.get("margin_s", 0)),
        thresholds_gpu_ms=[to_ms(s) for s in params.get("thresholds_gpu_s", THRESHOLDS_GPU_S.get(policy, ()))],
        promote_knob=params.get("promote_knob", 0),
        knows_work=knows_work,
    )
    lives = [Life(row, job) for row, job in enumerate(jobs)]
    world = World(
        nodes, lives, list(script), rules, node_state=["UP"] * len(nodes), history=History() if history else None
    )
    world = make(**vars(world)) if make else world_for(policy, params, world, seed)
    if isinstance(world, pick_place.PickPlaceWorld):
        world.told, world.edges = list(told), edges or Edges()
    run(world, decide or POLICIES[policy], round_ms, until_ms)
    return schedule_of(world)


def world_for(policy: str, params: Mapping[str, Any], world: World, seed: int) -> World:
    """The world with what the policy remembers."""
    if policy == "gandiva":
        return gandiva.GandivaWorld(**vars(world), **gandiva.params_of(params))
    if policy in ("fifo-backfill", "sjf-backfill"):
        return reserving.ReservingWorld(**vars(world), reserving=params)
    if policy == "conservative":
        return conservative.PlanWorld(**vars(world), settings=params)
    if policy == "multifactor":
        return multifactor.FairWorld(**vars(world), settings=multifactor.DEFAULTS | dict(params))
    if policy == "kueue":
        return kueue.KueueWorld(**vars(world), settings=params, reserving=params)
    if policy == "tiresias-skew":
        skew = {name: value for name, value in params.items() if name == "skew"}
        return tiresias_skew.SkewWorld(**vars(world), settings=options_of(params), **skew)
    if policy in ("srtf", "tiresias", "las"):
        return TurnsWorld(**vars(world), settings=options_of(params))
    if policy in ("pick-place", "pick-place-sjf"):
        return pick_place.PickPlaceWorld(**vars(world), **pick_place.settings_of(policy, params))
    if policy in PLACERS:
        return PlacerWorld(**vars(world), seed=seed, reserving=params, **placers.settings_of(policy, params))
    if policy == "gittins":
        return gittins.world_of(world, params)
    if policy in dally.VARIANTS:
        return PatientDallyWorld(**vars(world), settings=dally.settings_of(policy, params))
    return world


def options_of(params: Mapping[str, Any]) -> Options:
    return Options(**{name: value for name, value in params.items() if name in OPTIONS})


def run(world: World, decide: Callable[[World], None], round_ms: int, until_ms: int | None) -> None:
    round_timer_ms: int | None = None
    while True:
        due = [time_ms for time_ms in (world.next_event_ms(), round_timer_ms) if time_ms is not None]
        if not due or (until_ms is not None and min(due) > until_ms):
            break
        world.now = min(due)
        world.apply_events()
        if round_ms == 0 or world.now % round_ms == 0:
            round_timer_ms = None
            decide(world)
        else:
            round_timer_ms = (world.now // round_ms + 1) * round_ms
        world.end_of_instant()
    if due and until_ms is not None:
        world.now = until_ms


def schedule_of(world: World) -> Schedule:
    """Jobs that still hold GPUs or run are booked up to now."""
    lives = world.lives
    return Schedule(
        first_start_ms=[life.first_start_ms for life in lives],
        end_ms=[life.end_ms for life in lives],
        run_ms=[life.run_ms + world.elapsed(life) for life in lives],
        preemptions=[life.preemptions for life in lives],
        lost_ms=[life.lost_ms for life in lives],
        held_gpu_ms=[life.held_gpu_ms + len(life.place) * (world.now - life.held_since_ms) for life in lives],
        cancelled=[life.state == "CANCELLED" for life in lives],
        log=world.log,
    )


def check(
    nodes: Sequence[Node],
    jobs: Sequence[Job],
    policy: str,
    params: Mapping[str, Any],
    placement: str,
    overheads: Mapping[str, float],
    queue_limits: Mapping[str, int],
    script: Sequence[tuple[int, str, int]],
) -> None:
    refuse(policy not in POLICIES, f"no policy {policy}")
    refuse(not set(params) <= PARAMS.get(policy, set()), f"{policy} has no such parameter: {params}")
    refuse(placement not in PLACEMENTS, f"no placement {placement}")
    refuse(not set(overheads) <= {*OVERHEADS, "loses_since_checkpoint"}, f"no such overhead: {overheads}")
    refuse(OWN_PLACEMENT.get(policy, placement) != placement, f"{policy} does not place by {placement}")
    for time_ms, what, subject in script:
        if what == "CANCEL":
            refuse(not 0 <= subject < len(jobs) or time_ms <= jobs[subject].submit_ms, f"bad cancellation of {subject}")
        else:
            known = what in NODE_EVENTS and time_ms >= 0 and 0 <= subject < len(nodes)
            refuse(not known, f"bad entry {what} {subject}")
    for before, after in pairwise(jobs):
        refuse(before.submit_ms > after.submit_ms, "jobs are not in row order")
    for row, job in enumerate(jobs):
        refuse(job.gpus < 1 or job.work_ms < 0 or job.submit_ms < 0, f"job {row} is malformed")
        refuse(place(nodes, job, every_gpu(nodes), placement) is None, f"job {row} fits no empty cluster")
        refuse(job.gpus > queue_limits.get(job.queue, job.gpus), f"job {row} is wider than its queue's limit")


def refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise ValueError(why)
