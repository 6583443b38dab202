"""Adapting a network to the jobs of a run: episodes are made of those that came last, they run in the compiled
simulator with what is known of interference, and the network takes a few steps in them from its meta-learnt weights
(Yang et al., IEEE TCC 2023). Before it is used it must have been better than the scorer in other such episodes. Now and
then the jobs that came are done again with the network and with the scorer, and it decides only while it would not
have been worse (both ours).
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

    import polars as pl

    from pointsman.cluster.cluster import Cluster
    from pointsman.learn.checkpoint import Checkpoint
    from pointsman.learn.policies.judge import Judge
    from pointsman.policies.sdk import View
    from pointsman.speed.interference.learned.file import LearnedSpec

ADAPTATIONS: Final = "adaptations.jsonl"
REVIEWS: Final = "reviews.jsonl"
ADAPTED, META, SCORER = "adapted weights", "meta-learnt weights", "scorer"
LAST: Final = 200
"""The number of jobs, those that came last, that episodes are made of."""
EPISODES: Final = 16
"""To practise in, and as many to be tried in."""
JOBS: Final = 400
"""Jobs of an episode."""
DECISIONS: Final = 256
"""At which choices are tried, for a step."""
REVIEWED, EVERY, LOOKS = 400, 100, 3
"""Jobs that are done again, those that came last; how many come from one review to the next; how many reviews count."""
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
    """How much shorter, with the weights as they were."""
    meta_error: float


@dataclass(frozen=True)
class Review:
    """The jobs that came last, done again."""

    time_s: float
    jobs: int
    shorter: float
    """By what share of it mean JCT would have been shorter than with the scorer."""
    decides: bool
    """Whether the network does from then on."""


class Adapting:
    """The network of a run, when it adapts, and whether it decides.

    Args:
        made: the network, with meta-learnt weights.
        patience: of the scorer that it mends.
        order: of jobs.
        steps: of an adaptation; 0: it never adapts, and the weights are used as they are.
        seed: of the episodes and of what is tried.
        reviewed: whether it decides only while it would have been no worse than the scorer with the jobs that came.
    """

    def __init__(self, made: "Checkpoint", patience: float, order: str, steps: int, seed: int, reviewed: bool) -> None:
        self._made, self._patience, self._order, self._steps, self._seed = made, patience, order, steps, seed
        self._reviewed = reviewed
        self._begin()

    def _begin(self) -> None:
        self.judge: Judge | None = None
        """Who decides; None: the scorer does."""
        self.done: list[Adapted] = []
        self.reviews: list[Review] = []
        self._regimes, self._came, self._unreviewed = Regimes(), deque[Came](maxlen=REVIEWED), 0
        self._network: Any = None
        self._shorter = deque[float](maxlen=LOOKS)
        """By what share mean JCT was shorter with this network, in its last reviews."""

    def on_cluster(self, cluster: "Cluster") -> None:
        """Be told of the cluster of a run, before it."""
        self._begin()
        self._cluster = cluster
        if self._steps == 0:
            self._use(self._made.network)

    def came(self, model: int, job: Came) -> None:
        """A job was submitted, of this model by number."""
        if model >= 0 and job.duration_s > 0:
            self._regimes.came(model)
            self._came.append(job)
            self._unreviewed += 1

    def ended(self, error: float) -> None:
        """A job ended; since the last one did, forecasts of slow-downs were wrong by this share."""
        self._regimes.ended(error)

    @property
    def change(self) -> str | None:
        """What has changed, so that it must adapt."""
        return self._regimes.change() if self._steps > 0 else None

    @property
    def is_review_due(self) -> bool:
        """Whether enough jobs have come since the last one."""
        return self._reviewed and self._unreviewed >= EVERY and self._network is not None

    def review(self, view: "View", spec: "LearnedSpec", profiles: "Sequence[str | Path]") -> None:
        """Do the jobs that came last again, slowed as `spec` has it; the network decides from then on unless it would
        have been worse on average in the last reviews.
        """
        from pointsman.learn.algorithms.adaptation import gains
        from pointsman.learn.policies.adaptation.rehearsals import as_they_came, rehearsals

        came = [as_they_came(_table(self._came))]
        again = rehearsals(1, self._cluster, came, spec, self._patience, self._order, profiles)
        self._shorter.append(gains([self._network], again)[0].shorter)
        self.reviews.append(Review(view.now_s, len(self._came), self._shorter[-1], self.decides is not None))
        self._unreviewed = 0

    @property
    def decides(self) -> "Judge | None":
        """Who does now; None: the scorer."""
        return None if sum(self._shorter) < 0 else self.judge

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

        done, reviews = ("".join(f"{json.dumps(asdict(one))}\n" for one in each) for each in (self.done, self.reviews))
        weights = tensors_bytes(self._made.network.state_dict())
        return {
            CARD: card_yaml(self._made.card).encode(),
            WEIGHTS: weights,
            ADAPTATIONS: done.encode(),
            REVIEWS: reviews.encode(),
        }

    def _use(self, network: Any) -> None:
        from pointsman.learn.policies.judge import Judge

        self._network = network
        self._shorter.clear()
        self.judge = None if network is None else Judge(replace(self._made, network=network), self._cluster)

    def _episodes(self, expected: "Path", profiles: "Sequence[str | Path]", seed: int, together: int) -> Any:
        """Simulations in step, of jobs like those that came last."""
        from pointsman.learn.policies.adaptation.rehearsals import like, rehearsals_by

        draw, came = np.random.default_rng(seed), _table(list(self._came)[-LAST:])
        drawn = [like(came, JOBS, draw) for _ in range(EPISODES)]
        return rehearsals_by(expected, together, self._cluster, drawn, self._patience, self._order, profiles)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Adapting":
        """One that goes on by itself; weights are never changed where they are, so both have the same."""
        twin = Adapting(self._made, self._patience, self._order, self._steps, self._seed, self._reviewed)
        twin.done, twin._cluster = list(self.done), self._cluster
        twin.reviews, twin._unreviewed = list(self.reviews), self._unreviewed
        twin._regimes, twin._came = deepcopy(self._regimes), deque(self._came, REVIEWED)
        if self.judge is not None:
            twin._use(self._network)
            twin._shorter.extend(self._shorter)
        return twin


def _table(came: "Sequence[Came]") -> "pl.DataFrame":
    import polars as pl

    return pl.DataFrame(list(came), orient="row")
