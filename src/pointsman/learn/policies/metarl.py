"""Meta-RL placement: a scheduler that measures how jobs slow each other, and corrects the model by which it places them
(Yang et al., IEEE TCC 11(4), 2023; ``docs/papers/metarl.md``).
"""

import json
from copy import copy, deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import numpy as np

from pointsman.errors import InputError, UsageError
from pointsman.learn.policies.adaptation.adapting import Came
from pointsman.learn.policies.gang_order import LIMIT_S, QUANTILE, GangOrder
from pointsman.learn.policies.holding_back import held_back
from pointsman.learn.policies.learned import OK, SHIPPED
from pointsman.policies.placers.candidates import weights as shipped
from pointsman.policies.placers.declared import IN_WHAT_ORDER, MOST_CANDIDATES, PlacerMemory
from pointsman.types import Event, Profile, Progress, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from pointsman.cluster.cluster import Cluster
    from pointsman.policies.sdk import View

EXPLORED = "explored.jsonl"
NOTHING = "none"
"""Instead of a checkpoint: it knows nothing of interference yet."""


class MetaRl(GangOrder):
    """Each gang goes to the candidate placement of least cost, as of `scorer`, by a model of the interference that is
    corrected by the speeds of running jobs.
    """

    name: ClassVar[str] = "metarl"
    profiles: ClassVar[tuple[Profile, ...]] = ("places", "nodes")
    progress: ClassVar[Progress] = "work"
    source: ClassVar[str] = "Yang et al., On a meta learning-based scheduler, IEEE TCC 11(4), 2023"

    def __init__(
        self,
        patience: Annotated[float, "share of its duration in which a job would rather wait"] = shipped.PATIENCE,
        refit_ends: Annotated[int, "jobs that end before the model is fitted anew"] = 20,
        explore: Annotated[float, "share of decisions that may place a job to learn from it"] = 0.2,
        budget: Annotated[float, "share of the GPU time so far that such placements may take"] = 0.02,
        bound: Annotated[float, "how much longer than in the best place they may take, as a share"] = 0.15,
        directed: Annotated[
            bool, "whether they go where the model is least certain; else anywhere within the bound"
        ] = True,
        seed: Annotated[int, "random seed of the model's estimate of its uncertainty"] = 0,
        steps: Annotated[int, "steps of the network when it adapts to other jobs; 0: it never does"] = 0,
        reviewed: Annotated[
            bool, "whether the network decides only while it would have been no worse with the jobs that came"
        ] = True,
        learn: Annotated[bool, "whether it measures how fast jobs run, and corrects its model"] = True,
        checkpoint: Annotated[
            str, "directory of a training, or of a run that it goes on from; by default the shipped one, or none"
        ] = "",
        order: Annotated[str, IN_WHAT_ORDER] = "sjf",
        patience_s: Annotated[float, LIMIT_S] = 0.0,
        run_time_quantile: Annotated[float, QUANTILE] = 0.75,
    ) -> None:
        """A policy that knows what runs under other truths have in common, what one run taught it, or nothing."""
        from pointsman.engine.sdk.environments import unit
        from pointsman.learn.environments.compiled.gangs import ACTIONS
        from pointsman.learn.environments.loading import GANG_DECIDING
        from pointsman.learn.policies.adaptation.adapting import Adapting
        from pointsman.learn.policies.adaptation.meta_network import has_network, network_in
        from pointsman.learn.policies.closed_loop import ClosedLoop
        from pointsman.learn.policies.exploration import Exploration
        from pointsman.speed.interference.online.file import NAME, read_experience
        from pointsman.speed.interference.online.learner import InterferenceLearner

        self._order(True, patience, order, patience_s, run_time_quantile)
        if not 1 <= refit_ends <= 1_000_000:
            raise UsageError(f"metarl.refit_ends = {refit_ends}: it must be from 1 to 1,000,000")
        if not 0 <= steps <= 1000:
            raise UsageError(f"metarl.steps = {steps}: it must be from 0 to 1,000")
        if not 0 <= seed < 1 << 62:
            raise UsageError(f"metarl.seed = {seed}: it must be from 0 to 2^62 - 1")
        for name, value in (("explore", explore), ("budget", budget), ("bound", bound)):
            if not 0 <= value <= 1:
                raise UsageError(f"metarl.{name} = {value:g}: it must be from 0 to 1")
        place = _place(checkpoint)
        learner = InterferenceLearner(read_experience(place / NAME) if place else [], seed)
        self.interference = ClosedLoop(learner, Exploration(explore if learn else 0.0, budget, bound, seed, directed))
        self._adapting = None
        if steps > 0 or (place and has_network(place)):
            self._made = network_in(place)
            self._adapting = Adapting(self._made, patience, order, steps, seed, reviewed)
        self._refit_ends, self._learn = refit_ends, learn
        self._forecasts: dict[int, float] = {}
        """How many times as long as alone each job that holds GPUs was to take, by row."""
        self._deciding = unit(GANG_DECIDING)
        self._weights = np.array(shipped.COSTS)
        self._window = np.full((1, 1), -1, np.int64)
        self._mask = np.zeros(ACTIONS, np.int8)

    def on_cluster(self, cluster: "Cluster") -> None:
        """Be told of the cluster before the run."""
        self._forecasts = {}
        if self._adapting is not None:
            self._adapting.on_cluster(cluster)

    def on_event(self, view: "View", kind: int, job: int) -> None:
        """Count the jobs that have ended, and note those that come."""
        loop = self.interference
        if kind == Event.FINISH:
            loop.ends += 1
            self._forecasts.pop(int(view.jobs[job]["row"]), None)
            if self._adapting is not None and (wrong := loop.take_error()) is not None:
                self._adapting.ended(wrong)
        elif kind == Event.SUBMIT and self._adapting is not None:
            model, one = loop.model_of(view, job), view.jobs[job]
            name = loop.learner.models[model] if model >= 0 else ""
            came = Came(float(one["submit"]) / 1e3, int(one["asked"]), float(one["estimate"]) / 1e3, name)
            self._adapting.came(model, came)

    def decide(self, view: "View") -> None:
        """See how fast jobs run, adapt if something has changed, then decide about one job after another, until each
        has its GPUs or waits.
        """
        loop = self.interference
        loop.exploration.time_passes(view)
        change = None if self._adapting is None else self._adapting.change
        if self._learn:
            loop.learn(view, refit=change is not None or loop.ends >= self._refit_ends)
        if change is not None:
            self._adapting.adapt(view, loop.learner.spec, loop.profiles, change)  # ty: ignore
        if self._adapting is not None and self._adapting.is_review_due:
            self._adapting.review(view, loop.learner.spec, loop.profiles)
        while self._deciding.look(view.address, self._window[0], self._mask):
            usual = self._usual(view)
            if usual < MOST_CANDIDATES and self._explores(view, usual):
                continue
            job = int(self._window[0, 0])
            loop.exploration.explored.pop(int(view.jobs[job]["row"]), None)
            if usual < MOST_CANDIDATES:
                self._note_forecast(view, job, usual)
            if self._deciding.act(view.address, self._window[0], usual) != OK:
                break
        loop.exploration.note_placed(view)

    def _usual(self, view: "View") -> int:
        """What is done with the job in the window if nothing is to be learnt from it."""
        judge = self._adapting.decides if self._adapting is not None else None
        if judge is not None:
            return judge.choose(view, self._window, self._mask)
        return self._deciding.scorers_choice(view.address, self._window[0], self._mask, self._weights)

    def _note_forecast(self, view: "View", job: int, choice: int) -> None:
        """How many times as long as alone the job is to take in the candidate placement that it goes to."""
        row = int(view.jobs[job]["row"])
        self._forecasts[row] = 1.0 + float(PlacerMemory(view.state.memory).features[choice].slow_down)

    def _explores(self, view: "View", usual: int) -> bool:
        """Place the job in the window to learn from it, if that is to be done."""
        exploration, job = self.interference.exploration, int(self._window[0, 0])
        gpu_ms = float(view.jobs[job]["estimate"]) * float(view.jobs[job]["asked"])
        if gpu_ms <= 0 or not exploration.is_due():
            return False
        slowness, unknown = self.interference.weigh(view, job, self._mask)
        choice = exploration.choice(usual, slowness, unknown, gpu_ms)
        if choice != usual:
            self._note_forecast(view, job, choice)
        if choice == usual or self._deciding.act(view.address, self._window[0], choice) != OK:
            return False
        exploration.note(int(view.jobs[job]["row"]), slowness[choice], slowness.min(), gpu_ms)
        return True

    def why_waiting(self, view: "View", job: int, name: "Callable[[int], str]") -> tuple[Reason, str] | None:
        """Says of a waiting job that fits until when it waits for a compact place."""
        return held_back(view, job, by="the policy")

    def why_there(self, view: "View", job: int, instant: "Callable[[int], str]") -> str | None:
        """Says of a job that has its GPUs what was forecast, what came of it, and whether it was placed to learn from
        it.
        """
        row, rate = int(view.jobs[job]["row"]), float(view.jobs[job]["rate"])
        if row not in self._forecasts:
            return None
        said = f"its placement was forecast to take {self._forecasts[row]:.3f} times as long as alone"
        said += f"; it now takes {1 / rate:.3f} times as long" if rate > 0 else "; it makes no progress yet"
        found = self.interference.exploration.explored.get(row)
        if found is None:
            return said
        return (
            f"{said}; it was placed there at {instant(found.began_ms)} to learn from it: with the harm to others "
            f"included, {found.slowness:.3f} times as long, and {found.least:.3f} times in the best place"
        )

    def learnt(self) -> dict[str, bytes]:
        """Files of what it knows, for the directory of the run: its model, a line for each job that was placed to learn
        from it, the weights that it adapts from, and a line for each adaptation.
        """
        from pointsman.speed.interference.online.file import NAME, experience_yaml

        explored = self.interference.exploration.explored
        lines = "".join(f"{json.dumps(explored[row].record(row))}\n" for row in sorted(explored))
        found = {NAME: experience_yaml(self.interference.learner.experience).encode(), EXPLORED: lines.encode()}
        return found if self._adapting is None else found | self._adapting.files()

    def copy(self) -> "MetaRl":
        """One that learns on its own from here on."""
        twin = copy(self)
        twin._forecasts = dict(self._forecasts)
        twin.interference, twin._adapting = deepcopy(self.interference), deepcopy(self._adapting)
        return twin


def _place(checkpoint: str) -> Path | None:
    """Where what it begins with is; None: it knows nothing.

    Raises:
        InputError: there is nothing there.
    """
    from pointsman.speed.interference.online.file import NAME

    if checkpoint == NOTHING:
        return None
    place = Path(checkpoint) if checkpoint else SHIPPED / MetaRl.name
    if not (place / NAME).is_file():
        fix = "give the directory of a training, of a run of 'pointsman simulate --policy metarl -o DIR', or none"
        raise InputError(f"there is no {NAME}", path=place, fix=fix)
    return place
