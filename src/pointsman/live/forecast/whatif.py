"""What would be if something else were done from now on: the same draws, with and without it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median
from typing import Final, NamedTuple

from pointsman.live.control.succession import successor
from pointsman.live.forecast.arrivals import HOUR_MS, WEEK
from pointsman.live.forecast.calibration import Start, quantiles, start_of
from pointsman.live.forecast.futures import DRAWS, Future, futures_of
from pointsman.live.forecast.present import Present
from pointsman.live.forecast.record import Record
from pointsman.live.records.job import Job
from pointsman.live.world.growing import grow
from pointsman.live.world.live_world import LiveWorld
from pointsman.live.world.opinion import let_decide
from pointsman.live.world.plan import Action, actions_of
from pointsman.live.world.roster import Deciding, Roster
from pointsman.types import NodeState, Verb

MOST_SHOWN: Final = 10
NOTICED_S: Final = 60.0
"""A job that ends no more than that sooner or later neither gains nor loses."""


@dataclass(frozen=True)
class Change:
    """What is asked about."""

    deciding: Deciding | None = None
    """Another policy."""
    drained: tuple[int, ...] = ()
    cancelled: tuple[int, ...] = ()
    submitted: tuple[Job, ...] = ()
    """Their kinds may be new."""


class Figure(NamedTuple):
    """Means over futures, s, as things are and as they would be, and by how much they differ: the mean, and what 5 %
    of the futures are below and above.
    """

    now_s: float
    then_s: float
    change_s: float
    low_s: float
    high_s: float


class Answer(NamedTuple):
    """What would be."""

    until_start: Figure | None
    """The mean time until pending jobs start."""
    until_end: Figure | None
    """The mean time until all present jobs end."""
    jobs: dict[int, Figure]
    """The time until the jobs that gain or lose most end."""
    gain: int
    """Jobs that end more than a minute sooner, on average."""
    lose: int
    new: dict[int, Start]
    """When the submitted jobs start."""
    decisions: list[tuple[int, str, int, str]]
    """(ms from now, verb, job, who decides so) of the first that differ, in one future."""


def what_if(
    present: Present, change: Change, roster: Roster, record: Record, draws: int = DRAWS, *, then: Present | None = None
) -> Answer:
    """What would be if this were done from now on. `roster` is that of the present. `then`: the present in which it is
    done, if that is not to be worked out.

    Raises:
        UsageError: the policy cannot run live, or nothing can be foretold under it. InputError: the cluster could never
            run a job that is asked about.
    """
    futures = Both(
        list(futures_of(present, record, draws, to_the_end=True)),
        list(futures_of(then or changed(present, change, roster), record, draws, to_the_end=True)),
        frozenset(change.cancelled),
    )
    calibration = record.calibration(present.now_ms)
    jobs = {row: _figure(*futures.ends_s({row})) for row in futures.there}
    most = sorted(jobs, key=lambda row: -abs(jobs[row].change_s))[:MOST_SHOWN]
    return Answer(
        _figure(*futures.starts_s(futures.waiting)) if futures.waiting else None,
        _figure(*futures.ends_s(futures.there)) if futures.there else None,
        {row: jobs[row] for row in most if abs(jobs[row].change_s) > NOTICED_S},
        sum(figure.change_s < -NOTICED_S for figure in jobs.values()),
        sum(figure.change_s > NOTICED_S for figure in jobs.values()),
        {row: calibration.widen(start_of([future.starts_ms[row] for future in futures.then])) for row in futures.new},
        _first_differences(present.now_ms, futures.now[0], futures.then[0]),
    )


def changed(present: Present, change: Change, roster: Roster) -> Present:
    """The present in which it is done."""
    deciding = change.deciding or roster.deciding
    kinds = [*roster.kinds, *(job.kind for job in change.submitted)]
    other = present
    if change.deciding is not None or change.submitted:
        to_be = Roster(roster.cluster, deciding, kinds)
        world = _under(present, to_be) if change.deciding is not None else _grown(present, to_be)
        other = replace(present, world=world, kinds=to_be.numbers)
    cancelled = (*present.cancelled, *change.cancelled)
    return replace(other, drained=change.drained, cancelled=cancelled, submitted=change.submitted)


def stand_in(deciding: Deciding) -> Deciding:
    """What stands for the scheduler that is observed: it knows time limits, and takes them for durations."""
    assert deciding.observes is not None
    return Deciding(deciding.observes, {}, {**deciding.options, "estimate": "limit"}, observes=deciding.observes)


def under(present: Present, deciding: Deciding, roster: Roster) -> tuple[Present, Roster]:
    """The present, of a world of `roster`, in which another policy decides; and the roster of its world."""
    to_be = Roster(roster.cluster, deciding, roster.kinds)
    return replace(present, world=_under(present, to_be), kinds=to_be.numbers), to_be


def under_own_policy(present: Present) -> Present:
    """The present in which the policy of an observed world decides from now on, by what it has learnt."""
    world = present.world.copy()
    let_decide(world, present.now_ms)
    return replace(present, world=world)


def _under(present: Present, roster: Roster) -> LiveWorld:
    """All jobs take their seats under another policy."""
    before, world = present.world, successor(present.world, present.jobs, roster)
    for node, state in enumerate(before.simulation.handle.state.nodes["state"].tolist()):
        if state != NodeState.UP:
            world.tell_node(node, NodeState(state), before.now_ms)
    return world


def _grown(present: Present, roster: Roster) -> LiveWorld:
    """The world knows kinds of jobs that have never come."""
    world = present.world.copy()
    grow(world, roster.prepared, roster.briefing, {row: roster.numbers[job.kind] for row, job in present.jobs.items()})
    return world


class Both(NamedTuple):
    """Futures without and with the change, draw by draw."""

    now: list[Future]
    then: list[Future]
    cancelled: frozenset[int]
    """Jobs that are not compared, because they end."""

    @property
    def waiting(self) -> set[int]:
        """Jobs that wait now."""
        return (set(self.now[0].starts_ms) & set(self.then[0].starts_ms)) - self.cancelled

    @property
    def there(self) -> set[int]:
        """Jobs that are there now."""
        return (set(self.now[0].ends_ms) & set(self.then[0].ends_ms)) - self.cancelled

    @property
    def new(self) -> list[int]:
        """Jobs that are asked about."""
        return sorted(set(self.then[0].starts_ms) - set(self.now[0].starts_ms))

    def starts_s(self, rows: set[int]) -> tuple[list[float], list[float]]:
        """The mean start of these jobs in each future, without and with the change."""
        return [_mean_s(f.starts_ms, rows) for f in self.now], [_mean_s(f.starts_ms, rows) for f in self.then]

    def ends_s(self, rows: set[int]) -> tuple[list[float], list[float]]:
        """Their mean end in each future, without and with the change."""
        return [_mean_s(f.ends_ms, rows) for f in self.now], [_mean_s(f.ends_ms, rows) for f in self.then]


def _mean_s(times_ms: Mapping[int, float], rows: set[int]) -> float:
    """What is later than a week counts as a week."""
    return fmean(min(times_ms[row], float(WEEK * HOUR_MS)) for row in rows) / 1000


def _figure(now_s: Sequence[float], then_s: Sequence[float]) -> Figure:
    changes = [b - a for a, b in zip(now_s, then_s, strict=True)]
    low_s, _, high_s = quantiles(changes)
    return Figure(median(now_s), median(then_s), median(changes), low_s, high_s)


def _first_differences(at_ms: int, now: Future, then: Future) -> list[tuple[int, str, int, str]]:
    ours, theirs = ({_key(a) for a in actions_of(future.log)} for future in (now, then))
    differ = sorted([(*a, "now") for a in ours - theirs] + [(*a, "then") for a in theirs - ours])
    return [(max(0, ms - at_ms), Verb(verb).name.lower(), row, who) for ms, verb, row, who in differ[:MOST_SHOWN]]


def _key(action: Action) -> tuple[int, int, int]:
    return action.at_ms, int(action.verb), action.row
