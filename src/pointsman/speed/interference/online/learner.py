"""What a scheduler knows of the slow-downs on all servers of its cluster, as the table that it forecasts by."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from pointsman.speed.interference.learned.combinations import Combination, Server, number_of, tabulated
from pointsman.speed.interference.learned.file import (
    MOST,
    Beside,
    LearnedSpec,
    ModelFigures,
    Otherwise,
    ServerFigures,
)
from pointsman.speed.interference.online.coefficients import Floats, Ints, Laws
from pointsman.speed.interference.online.file import ServerExperience, experience_of
from pointsman.speed.interference.online.performance_model import Expected, PerformanceModel

MOST_ROWS: Final = 50_000
"""Combinations of a kind of server that are tabulated at most; the law says the rest (ours)."""
SOURCE: Final = "a scheduler, while it ran"


class InterferenceLearner:
    """A performance model for each kind of server.

    Args:
        before: what was learnt before, by kind of server; of a kind that is not there, what is expected on the first.
        seed: of the draws.
    """

    def __init__(self, before: Sequence[ServerExperience] = (), seed: int = 0) -> None:
        self._before, self._seed = {one.server: one for one in before}, seed
        self.begin((), ())

    def begin(self, models: Sequence[str], servers: Sequence[Server]) -> None:
        """Be told of the models of jobs and the kinds of servers of a run, before it."""
        known = {name for one in self._before.values() for name in one.models} if servers else set()
        self.models, self.servers = sorted({*models, *known}), list(servers)
        self.of_server = [
            PerformanceModel(self.models, in_order(self.models, server.gpus), self._expected_of(server), self._seed)
            for server in servers
        ]
        for server, one in zip(servers, self.of_server, strict=True):
            if server in self._before:
                one.remember(self._before[server].combinations)
        self._ends = np.cumsum([len(one.combinations) for one in self.of_server])

    def _expected_of(self, server: Server) -> Expected:
        some = self._before.get(server, next(iter(self._before.values()), None))
        return some.expected if some else Expected()

    @property
    def experience(self) -> list[ServerExperience]:
        """What is known now, to begin with another time; of servers that this run has not, what was known before."""
        mine = zip(self.servers, self.of_server, strict=True)
        elsewhere = [one for server, one in self._before.items() if server not in self.servers]
        return [experience_of(server, one.known, one.observations) for server, one in mine] + elsewhere

    def see(self, rows: Ints, slow_downs: Floats) -> None:
        """Takes in that combinations `rows` (n) of the table were seen, `slow_downs` (n) times as slow as alone."""
        kinds = np.searchsorted(self._ends, rows, side="right")
        for kind in np.unique(kinds).tolist():
            mine = kinds == kind
            self.of_server[kind].see(rows[mine] - self._begin_of(kind), slow_downs[mine])

    def _begin_of(self, kind: int) -> int:
        return int(self._ends[kind - 1]) if kind > 0 else 0

    def refit(self) -> None:
        """Fit anew to all that was seen."""
        for one in self.of_server:
            one.refit()

    @property
    def predicted(self) -> Floats:
        """(n) log slow-downs of the table."""
        return np.concatenate([np.zeros(0), *(one.predicted for one in self.of_server)])

    @property
    def disagreement(self) -> Floats:
        """(n) by how much members' logarithms differ."""
        return np.concatenate([np.zeros(0), *(one.disagreement for one in self.of_server)])

    @property
    def laws(self) -> Floats:
        """(servers, models, 2 + 2 models) what predicts the rest, in the order of `Otherwise`, in logarithms."""
        found = [_law(one.laws) for one in self.of_server]
        return np.stack(found) if found else np.zeros((0, 0, 2))

    @property
    def spec(self) -> LearnedSpec:
        """The table."""
        if not self.models:  # then nothing is looked up
            nothing = [ServerFigures.model_construct(gpu_type=s.gpu_type, gpus=s.gpus, models={}) for s in self.servers]
            return LearnedSpec.model_construct(source=SOURCE, servers=nothing)
        return LearnedSpec(source=SOURCE, servers=[self._figures(kind) for kind in range(len(self.servers))])

    def _figures(self, kind: int) -> ServerFigures:
        one, server = self.of_server[kind], self.servers[kind]
        times, laws = times_of(one.predicted).tolist(), times_of(_law(one.laws), least=1 / MOST).tolist()
        pairs = list(zip(one.combinations, zip(times, one.disagreement.tolist(), strict=True), strict=True))
        return ServerFigures(
            gpu_type=server.gpu_type,
            gpus=server.gpus,
            models={
                name: ModelFigures(
                    predicted={c.text: pair for c, pair in pairs if c.model == name},
                    otherwise=self._otherwise(law),
                )
                for name, law in zip(self.models, laws, strict=True)
            },
        )

    def _otherwise(self, law: list[float]) -> Otherwise:
        met, per_gpu = law[2 : 2 + len(self.models)], law[2 + len(self.models) :]
        beside = {name: Beside(met=a, per_gpu=b) for name, a, b in zip(self.models, met, per_gpu, strict=True)}
        return Otherwise(alone=law[0], per_own_gpu=law[1], beside=beside)


def in_order(models: Sequence[str], gpus: int) -> list[Combination]:
    """The combinations of the table, in the engine's order."""
    place = {name: i for i, name in enumerate(models)}
    found = tabulated(models, gpus, MOST_ROWS)
    return sorted(found, key=lambda c: (place[c.model], c.gpus, number_of(c.others, place)))


def times_of(logs: Floats, least: float = 1.0) -> Floats:
    """Times as long, within the limits of a table."""
    return np.clip(np.exp(logs), least, MOST)


def _law(laws: Laws) -> Floats:
    return np.hstack([laws.alone[:, None], laws.per_own_gpu[:, None], laws.met, laws.per_gpu])
