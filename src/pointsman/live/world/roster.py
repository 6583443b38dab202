"""What a live world is made for: a cluster, a policy, and the kinds of jobs that have come so far."""

import hashlib
import inspect
import random
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import polars as pl

from pointsman.cluster import Cluster
from pointsman.engine.sdk.live import NOTHING, Briefing, Prepared, Rules, assemble, homes_of
from pointsman.errors import InputError, UsageError
from pointsman.experiment import RunOptions
from pointsman.live.world.kind import Kind
from pointsman.live.world.live_world import ROOM, Ask, LiveWorld
from pointsman.live.world.suitable import check_reads_no_log
from pointsman.policies.registry import PolicySpec, get_policy
from pointsman.types import SCATTERED, Outside
from pointsman.workload import Workload

_UNKNOWN = {"submit_s": 0.0, "duration_s": 1.0, "time_limit_s": 1.0, "priority": 0}
"""What a table of jobs must say, and a kind of jobs does not."""


@dataclass(frozen=True)
class Deciding:
    """Which policy decides, with which parameters and options."""

    policy: str
    params: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    """As those of `simulate`. Estimates: ``limit`` are jobs' time limits; else what needs durations learns them."""
    min_run_s: float = 0.0
    """How long an attempt runs before it may be preempted."""
    observes: str | None = None
    """The policy that stands for another scheduler, which decides in place of this one, and is only observed."""

    @property
    def spec(self) -> PolicySpec:
        """The policy by its name.

        Raises:
            UsageError: there is none of that name.
        """
        return get_policy(self.policy)


class Roster:
    """The kinds of jobs that have come so far, numbered in order."""

    def __init__(self, cluster: Cluster, deciding: Deciding, kinds: Iterable[Kind] = (Kind(),)) -> None:
        """Without a world yet.

        Raises:
            UsageError: the policy, a parameter or an option is wrong, or asks for the durations of jobs.
            InputError: the cluster could never run a kind of jobs.
        """
        self.cluster, self.deciding = cluster, deciding
        self.kinds = list(dict.fromkeys(kinds))
        self.numbers = {kind: number for number, kind in enumerate(self.kinds)}
        self.options = _options(deciding)
        self._draw = random.Random(0)
        self.policy = deciding.spec.make(dict(deciding.params))
        check_reads_no_log(self.policy)
        try:
            self.prepared, self.rules, self.briefing = self._assemble(self.kinds)
        except InputError as error:
            raise _of_a_job(error) from None

    def _assemble(self, kinds: list[Kind]) -> tuple[Prepared, Rules, Briefing | None]:
        jobs = pl.DataFrame([kind._asdict() | _UNKNOWN for kind in kinds], infer_schema_length=None)
        workload = Workload.of(jobs, source="a submission")
        spec, options = self.deciding.spec, dict(self.options)
        prepared, rules, briefing = assemble(workload, self.cluster, spec, self.policy, options)
        outside = Outside.EVENTS if self.deciding.observes is None else Outside.DECISIONS
        min_run_ms = round(1000 * self.deciding.min_run_s)
        return prepared, replace(rules, min_run_ms=min_run_ms, outside=outside), briefing

    def admit(self, kind: Kind) -> int:
        """The number of a kind, which is new if it was not there before.

        Raises:
            InputError: the cluster could never run such a job. UsageError: the policy could not.
        """
        if kind not in self.numbers:
            try:
                self.prepared, self.rules, self.briefing = self._assemble([*self.kinds, kind])
            except InputError as error:
                raise _of_a_job(error) from None
            self.numbers[kind] = len(self.numbers)
            self.kinds.append(kind)
        return self.numbers[kind]

    def admit_all(self, kinds: Iterable[Kind]) -> None:
        """Those of these kinds that the cluster could run have numbers: together that takes no longer than one does.

        Raises:
            UsageError: the policy could not run one.
        """
        new = [kind for kind in dict.fromkeys(kinds) if kind not in self.numbers]
        try:
            if new:
                self.prepared, self.rules, self.briefing = self._assemble([*self.kinds, *new])
        except InputError:
            if len(new) > 1:
                self.admit_all(new[: len(new) // 2])
                self.admit_all(new[len(new) // 2 :])
            return
        self.numbers |= {kind: len(self.kinds) + number for number, kind in enumerate(new)}
        self.kinds += new

    def first(self, many: int) -> "Roster":
        """The roster with its first `many` kinds only."""
        return self if many == len(self.numbers) else Roster(self.cluster, self.deciding, self.kinds[:many])

    def world(self, room: int = ROOM, first_row: int = 1) -> LiveWorld:
        """A world before its first job."""
        made_of = _digest_of_files(self.deciding)
        return LiveWorld(self.prepared, self.rules, self.policy, self.briefing, room, first_row, made_of)

    def ask(self, kind: int, *, priority: int = 0, limit_ms: int | None = None, pinned: bool = False) -> Ask:
        """What the engine is told of a job of a kind. Where several schedulers divide the cluster, its own is drawn."""
        ask = ask_of(self.prepared, self.briefing, kind, priority=priority, limit_ms=limit_ms, pinned=pinned)
        if self.prepared.pools.schedulers == 1:
            return ask
        scattered = self.prepared.terms.placement in SCATTERED
        homes = homes_of(ask.cls, self.prepared.demands, self.prepared.pools, scattered=scattered)
        return ask._replace(cls=self._draw.choice(homes))

    def asked_anew(self, ask: Ask, kind: Kind, limit_ms: int | None) -> Ask:
        """What a job of a kind, which asked for `ask` in another world, asks for in one of this roster."""
        like = self.ask(self.numbers[kind], limit_ms=limit_ms)
        return like._replace(neg_priority=ask.neg_priority, pinned=ask.pinned)


def roster_of(cluster: Cluster, deciding: Deciding, jobs: Mapping[int | str, Kind]) -> Roster:
    """One that knows the kinds of these jobs, by their ids.

    Raises:
        UsageError: the cluster or the policy could never run one of them.
    """
    try:
        return Roster(cluster, deciding, [Kind(), *jobs.values()])
    except InputError:
        for kind, id_ in {kind: id_ for id_, kind in reversed([*jobs.items()])}.items():
            try:
                Roster(cluster, deciding, [Kind(), kind])
            except InputError as error:
                raise UsageError(
                    f"job {id_} cannot go on here: {error.cause}; start the daemon as before, and cancel the job"
                ) from None
        raise


def ask_of(
    prepared: Prepared, briefing: Briefing | None, kind: int, *, priority: int, limit_ms: int | None, pinned: bool
) -> Ask:
    """What a world of `prepared` is told of a job of a kind."""
    like = prepared.trace[kind]
    knows_limits = prepared.terms.knowledge == "limit" and limit_ms is not None
    return Ask(
        *(int(like[name]) for name in ("cls", "queue")),
        -priority,
        int(like["speed"]),
        float(limit_ms) if knows_limits and limit_ms else float("nan"),
        pinned or bool(like["pinned"]),
        tuple(briefing.numbers[kind].tolist()) if briefing else (),
        tuple(prepared.history.keys[kind].tolist()) if prepared.history is not NOTHING else (),
    )


def _digest_of_files(deciding: Deciding) -> str:
    """Digests the file of a policy, and those that its parameters name."""
    spec = deciding.spec
    named = [*deciding.params.values(), *spec.given.values(), getattr(spec.factory, "hooks", None)]
    places = [Path(inspect.getfile(spec.factory)), *(Path(one) for one in named if isinstance(one, str) and one)]
    inside = [sorted(place.rglob("*")) if place.is_dir() else [place] for place in places]
    digest = hashlib.sha256()
    for path in (path for some in inside for path in some if path.is_file()):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _of_a_job(error: InputError) -> InputError:
    """Rewords an error about a row of a log for a job that is not in one."""
    cause = re.sub(r"^(job '\d+' \(row \d+\)|row \d+:)", "the job", error.cause)
    return InputError(cause.replace("nodes_requested", "nodes"), fix="see 'pointsman nodes'")


def _options(deciding: Deciding) -> RunOptions:
    options = RunOptions.checked(deciding.options)
    needs = getattr(deciding.spec.make(dict(deciding.params)), "durations", deciding.spec.needs)
    if options.estimate is None and needs in ("estimate", "oracle"):
        return options.model_copy(update={"estimate": "history"})
    if options.estimate not in (None, "none", "limit", "history"):
        raise UsageError(
            f"estimate {options.estimate!r}: how long jobs will run is not known here; use limit or history"
        )
    return options
