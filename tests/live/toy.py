"""A cluster that knows how much work its jobs have, and tells a live world of their starts, stops and ends.

How fast a job runs, and so when it ends, it reads from the world's own records: the live world is right if it then
decides as `simulate` does, which is told of nothing.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from pointsman.api import open_simulation
from pointsman.cluster import Cluster, load_cluster
from pointsman.engine.estimates.keys import NOTHING
from pointsman.engine.run.assembly import assemble
from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.setup.build import Rules
from pointsman.engine.setup.overheads import load_overheads
from pointsman.engine.setup.prepare import Prepared
from pointsman.experiment import RunOptions
from pointsman.live.world.live_world import Ask, LiveWorld
from pointsman.live.world.plan import Action, actions_of
from pointsman.policies.registry import get_policy
from pointsman.types import NEVER_MS, Event, JobState, Outside, Verb
from pointsman.workload import Workload


class Case:
    """Jobs, a cluster and a policy, by which simulations and live worlds are made."""

    def __init__(
        self, workload: Workload, cluster: str, policy: str, params: dict[str, Any] | None = None, **options: Any
    ) -> None:
        self.workload, self.cluster = workload, load_cluster(cluster)
        self.spec, self.params = get_policy(policy), params
        checked = RunOptions.checked(options)
        self.options = checked.model_copy(update={"overheads": load_overheads(checked.overheads).stated()})
        self.prepared, self.rules, self.briefing = self._assemble(self.policy())

    def policy(self) -> Any:
        return self.spec.make(self.params)

    def _assemble(self, policy: Any) -> tuple[Prepared, Rules, Briefing | None]:
        *whole, options = self._whole(policy)
        return assemble(*whole, dict(options))

    def _whole(self, policy: Any) -> tuple[Workload, Cluster, Any, Any, RunOptions]:
        return self.workload, self.cluster, self.spec, policy, self.options

    def world(self, room: int = 1 << 12, outside: Outside = Outside.EVENTS) -> LiveWorld:
        """A live world before its first job."""
        policy = self.policy()
        prepared, rules, briefing = self._assemble(policy)
        rules = replace(rules, outside=outside)
        return LiveWorld(prepared, rules, policy, briefing, room)

    def simulated(self) -> list[Action]:
        """What `simulate` decides."""
        simulation, _ = open_simulation(*self._whole(self.policy()))
        simulation.run()
        return actions_of(simulation.log())

    def asks(self) -> list[Ask]:
        return asks_of(self.prepared, self.briefing)


def asks_of(prepared: Prepared, briefing: Briefing | None) -> list[Ask]:
    """The jobs of a log as they would be submitted."""
    keys = prepared.history.keys if prepared.history is not NOTHING else np.zeros((len(prepared.trace), 0), np.int64)
    numbers = briefing.numbers if briefing else np.zeros((len(prepared.trace), 0))
    return [
        Ask(
            *(int(job[name]) for name in ("cls", "queue", "neg_priority", "speed")),
            float(job["estimate"]),
            numbers=tuple(numbers[row].tolist()),
            keys=tuple(keys[row].tolist()),
        )
        for row, job in enumerate(prepared.trace)
    ]


class Toy:
    """What runs the jobs of `case` for `world`, and has taken `turns` so far."""

    def __init__(self, case: Case, world: LiveWorld) -> None:
        self.case, self.world, self.rules = case, world, case.rules
        self.work, self.submits, self.asks = case.prepared.trace["work"], case.prepared.trace["submit"], case.asks()
        self.submitted = 0
        self.due: dict[int, tuple[int, Event]] = {}
        """By row, when a start or a stop is over."""
        self.actions: list[Action] = []

    def copy(self, world: LiveWorld) -> "Toy":
        """The same cluster, for another world that is to go on from here."""
        other = object.__new__(Toy)
        other.__dict__.update(self.__dict__ | {"world": world, "due": dict(self.due), "actions": []})
        return other

    def next_ms(self, ends: dict[int, int] | None = None) -> int:
        """When something happens, or the policy wants to be called; `ends` of `_ends`, if they are known."""
        submit = int(self.submits[self.submitted]) if self.submitted < len(self.submits) else NEVER_MS
        own = min((at for at, _ in self.due.values()), default=NEVER_MS)
        return min(submit, own, min((ends or self._ends()).values(), default=NEVER_MS), self.world.due_ms)

    def turn(self) -> bool:
        """All that happens next; False if nothing does any more."""
        ends = self._ends()
        now = self.next_ms(ends)
        if now >= NEVER_MS:
            return False
        for row, at in ends.items():
            if at <= now:
                self.world.tell(Event.FINISH, row, now)
        for row, (at, event) in [*self.due.items()]:
            if at <= now:
                del self.due[row]
                self.world.tell(event, row, now)
        while self.submitted < len(self.submits) and self.submits[self.submitted] <= now:
            self.world.submit(self.asks[self.submitted], now)
            self.submitted += 1
        for action in self.world.advance(now):
            self._carry_out(action)
        return True

    def run(self, until: Callable[[], bool] = lambda: False) -> list[Action]:
        while not until() and self.turn():
            pass
        return self.actions

    def _carry_out(self, action: Action) -> None:
        self.actions.append(action)
        if action.verb == Verb.START:
            again = self._record(action.row)["started"] >= 0
            takes_ms = self.rules.start_ms + (self.rules.restore_ms if again else 0)
            self.due[action.row] = action.at_ms + takes_ms, Event.STARTED
        else:
            self.due[action.row] = action.at_ms + self.rules.stop_ms, Event.STOPPED

    def _record(self, row: int) -> Any:
        jobs = self.world.simulation.handle.jobs
        return jobs[np.flatnonzero((jobs["row"] == row) & (jobs["state"] != 0))[0]]

    def _ends(self) -> dict[int, int]:
        """When running jobs end at their present rates, by row."""
        jobs = self.world.simulation.handle.jobs
        run = jobs[(jobs["state"] == JobState.RUNNING) & (jobs["rate"] > 0.0)]
        ends = run["rated"] + np.ceil((self.work[run["row"]] - run["done_when_rated"]) / run["rate"]).astype(np.int64)
        return dict(zip(run["row"].tolist(), ends.tolist(), strict=True))
