"""Adapting a network to the jobs of a run: episodes are made of those that came last, they run in the compiled
simulator with what is known of interference, and the network takes a few steps in them from its meta-learnt weights
(Yang et al., IEEE TCC 2023). Before it is used it must have been better than the scorer in other such episodes (ours).
"""

import json
from collections import deque
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from pointsman.learn.policies.adaptation.regimes import Regimes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pointsman.cluster.cluster import Cluster
    from pointsman.engine.run.view import View
    from pointsman.learn.checkpoint import Checkpoint
    from pointsman.learn.policies.judge import Judge
    from pointsman.speed.interference.learned.file import LearnedSpec

ADAPTATIONS: Final = "adaptations.jsonl"
ADAPTED, META, SCORER = "adapted weights", "meta-learnt weights", "scorer"
LAST: Final = 200
"""Jobs that episodes are made of: so many of those that came last."""
EPISODES: Final = 16
"""To practise in, and as many to be tried in."""
JOBS: Final = 400
"""Of an episode."""
DECISIONS: Final = 256
"""At which choices are tried, for a step."""
TOGETHER: Final = 8
"""Simulations in step, while it practises."""


class Came(NamedTuple):
    """What is known of a job that came."""

    submit_s: float
    gpus: int
    duration_s: float
    model: str


@dataclass(frozen=True)
class Adapted:
    """What came of an adaptation."""

    time_s: float
    why: str
    decides: str
    """Who does from then on: `ADAPTED`, `META` or `SCORER`."""
    shorter: float
    """By what share of it mean JCT was shorter than with the scorer, with the adapted weights, in other episodes."""
    error: float
    """Standard error of that."""
    meta_shorter: float
    """The same, with the weights as they were."""
    meta_error: float


class Adapting:
    """The network of a run, and when it adapts.

    Args:
        made: the network, with meta-learnt weights.
        patience: of the scorer that it mends.
        order: of jobs.
        steps: of an adaptation; 0: it never adapts, and the weights are used as they are.
        seed: of the episodes and of what is tried.
    """

    def __init__(self, made: "Checkpoint", patience: float, order: str, steps: int, seed: int) -> None:
        self._made, self._patience, self._order, self._steps, self._seed = made, patience, order, steps, seed
        self._begin()

    def _begin(self) -> None:
        self.judge: Judge | None = None
        """Who decides; None: the scorer does."""
        self.done: list[Adapted] = []
        self._regimes, self._came = Regimes(), deque[Came](maxlen=LAST)

    def on_cluster(self, cluster: "Cluster") -> None:
        """Be told of the cluster of a run, before it."""
        self._begin()
        self._cluster = cluster
        if self._steps == 0:
            self._use(self._made.network)

    def came(self, model: int, job: Came) -> None:
        """A job was submitted, of this model by number."""
        if self._steps > 0 and model >= 0 and job.duration_s > 0:
            self._regimes.came(model)
            self._came.append(job)

    def ended(self, error: float) -> None:
        """A job ended; since the last one did, forecasts of slow-downs were wrong by this share."""
        self._regimes.ended(error)

    @property
    def change(self) -> str | None:
        """What has changed, so that it must adapt."""
        return self._regimes.change() if self._steps > 0 else None

    def adapt(self, view: "View", spec: "LearnedSpec", profiles: "Sequence[str | Path]", why: str) -> None:
        """From the meta-learnt weights to those for the jobs that came last, slowed as `spec` has it."""
        from pointsman.learn.policies.adaptation.rehearsals import written

        with written(spec) as expected:
            self._adapt(view, expected, profiles, why)

    def _adapt(self, view: "View", expected: "Path", profiles: "Sequence[str | Path]", why: str) -> None:
        from pointsman.learn.algorithms.adaptation import Adaptation, gains

        own = [int(n) for n in np.random.SeedSequence([self._seed, len(self.done)]).generate_state(3)]
        adaptation = Adaptation(
            self._made.network, self._episodes(expected, profiles, own[0], TOGETHER), own[1], DECISIONS
        )
        for _ in range(self._steps):
            adaptation.step()
        trial = self._episodes(expected, profiles, own[2], EPISODES)
        tried = {ADAPTED: adaptation.network, META: self._made.network}
        found = dict(zip(tried, gains(list(tried.values()), trial), strict=True))
        best = max(found, key=lambda name: found[name].shorter)
        decides = best if found[best].shorter > found[best].error else SCORER
        self.done.append(Adapted(view.now_s, why, decides, *found[ADAPTED], *found[META]))
        self._use(tried.get(decides))
        self._regimes.adapted()

    def files(self) -> dict[str, bytes]:
        """For the directory of a run: the weights that it adapts from, and a line for each adaptation."""
        from pointsman.learn.checkpoint import CARD, WEIGHTS, card_yaml, tensors_bytes

        lines = "".join(f"{json.dumps(asdict(one))}\n" for one in self.done)
        weights = tensors_bytes(self._made.network.state_dict())
        return {CARD: card_yaml(self._made.card).encode(), WEIGHTS: weights, ADAPTATIONS: lines.encode()}

    def _use(self, network: Any) -> None:
        from pointsman.learn.policies.judge import Judge

        self._network = network
        self.judge = None if network is None else Judge(replace(self._made, network=network), self._cluster)

    def _episodes(self, expected: "Path", profiles: "Sequence[str | Path]", seed: int, together: int) -> Any:
        """Simulations in step, of jobs like those that came last."""
        import polars as pl

        from pointsman.learn.policies.adaptation.rehearsals import like, rehearsals_by

        draw, came = np.random.default_rng(seed), pl.DataFrame(list(self._came), orient="row")
        drawn = [like(came, JOBS, draw) for _ in range(EPISODES)]
        return rehearsals_by(expected, together, self._cluster, drawn, self._patience, self._order, profiles)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Adapting":
        """One that goes on by itself; weights are never changed where they are, so both have the same."""
        twin = Adapting(self._made, self._patience, self._order, self._steps, self._seed)
        twin.done, twin._cluster = list(self.done), self._cluster
        twin._regimes, twin._came = deepcopy(self._regimes), deque(self._came, LAST)
        if self.judge is not None:
            twin._use(self._network)
        return twin
