"""The factor of jobs on different GPUs of one node, by a learnt file (``docs/reference/semantics.md`` §15)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Self

from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pointsman.cluster.layout import Layout
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.speed.interference.learned.combinations import Combination, Server
    from pointsman.speed.interference.learned.file import LearnedSpec, Otherwise

NO_JOB_INTERFERES = "no job names a model, so none slows another on its nodes (--assign-models SEED gives them some)"
HEAD = 8
"""Numbers before those of nodes: see `learned_neighbours`."""


@dataclass(frozen=True)
class LearnedInterference(Factor):
    """Computing takes as long as a file says of the combination of jobs on the worst node of a gang."""

    source: str
    spec: "LearnedSpec"

    name = "learned-interference"
    hooks = "pointsman.engine.rate_models.factors.learned_neighbours"

    @classmethod
    def of_file(cls, source: str, profiles: "Any" = ()) -> Self:
        """By the file `source`.

        Raises:
            UsageError: it is wrong.
        """
        from pointsman.speed.interference.learned.file import read_learned
        from pointsman.speed.profiles.catalogue import load_catalogue

        return cls(source, read_learned(source, load_catalogue(*profiles)))

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> Factor | None:
        """None: `NodeInterference` chooses it."""
        return None

    @property
    def models(self) -> list[str]:
        """All that the file names, in order."""
        return self.spec.models

    def speeds(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds the models of jobs.

        Raises:
            UsageError: the cluster has nodes that the file does not know.
        """
        import numpy as np

        _kinds_of(self, named.layout)
        types = len(named.layout.gpu_types)
        if named.nameless:
            named.assumptions.append(NO_JOB_INTERFERES)
            return replace(speeds, names=(None,) * types)
        names = [None if model is None else named.catalogue.model_name(model) for model, *_ in named.demands]
        unknown = np.array([name not in self.models for name in names])
        without = int(unknown[named.rows // types].sum())
        named.assumptions.append(
            f"node interference {self.source}: learnt from runs, {self.spec.source}; {without} of "
            f"{np.size(named.rows)} jobs are of models that it does not know: they cause and suffer none"
        )
        return replace(speeds, names=tuple(name for name in names for _ in range(types)))

    def numbers(self, layout: "Layout", speeds: "Speeds") -> "NDArray[np.float64]":
        """Those of the factor; of each node its kind; of each row of speeds its model, from 1; of each kind of node,
        model and number of own GPUs where its combinations begin and end; these, in order; how many times as long each
        takes; and the law for others.
        """
        import numpy as np

        nodes = _kinds_of(self, layout)
        place = {model: i for i, model in enumerate(self.models)}
        jobs = [0 if name not in place else 1 + place[name] for name in speeds.names]
        most_gpus = max(server.gpus for server in self.spec.servers)
        keys: list[int] = []
        times: list[float] = []
        index: list[int] = []
        laws: list[float] = []
        for server in self.spec.servers:
            rows = _by_own(server.slow_downs, place)
            for model in self.models:
                for gpus in range(most_gpus + 1):
                    found = sorted(rows.get((model, gpus), ()))
                    index += [len(keys), len(keys) + len(found)]
                    keys += [key for key, _ in found]
                    times += [longer for _, longer in found]
                figures = server.models.get(model)
                laws += [1.0] * (2 + 2 * len(place)) if figures is None else _law(figures.otherwise, self.models)
        begins = np.cumsum([HEAD + len(nodes), len(jobs), len(index), len(keys), len(times)])
        head = [
            len(place),
            most_gpus,
            max((c.gpus_of_others for c in self._combinations()), default=0),
            *begins.tolist(),
        ]
        return np.concatenate([np.array(part, np.float64) for part in (head, nodes, jobs, index, keys, times, laws)])

    def loads(self, layout: "Layout") -> int:
        """Loads: on each node the GPUs that jobs of each model have there."""
        return len(layout.node_gpus) * len(self.models)

    def _combinations(self) -> "list[Combination]":
        return [combination for server in self.spec.servers for combination in server.slow_downs]


def _by_own(
    slow_downs: "Mapping[Combination, float]", place: Mapping[str, int]
) -> dict[tuple[str, int], list[tuple[int, float]]]:
    """By model and own GPUs: of each combination a whole number that stands for the others, and its slow-down in whole
    1/2^30.
    """
    from pointsman.engine.rate_models.rates import FINEST
    from pointsman.speed.interference.learned.combinations import number_of

    found: dict[tuple[str, int], list[tuple[int, float]]] = {}
    for combination, times in slow_downs.items():
        own, number = (combination.model, combination.gpus), number_of(combination.others, place)
        found.setdefault(own, []).append((number, round(times * FINEST) / FINEST))
    return found


def _law(law: "Otherwise", models: list[str]) -> list[float]:
    pairs = [law.beside.get(model) for model in models]
    met = [1.0 if pair is None else pair.met for pair in pairs]
    return [law.alone, law.per_own_gpu, *met, *(1.0 if pair is None else pair.per_gpu for pair in pairs)]


def servers_of(layout: "Layout") -> "list[Server]":
    """The GPU type and size of each node."""
    from pointsman.speed.interference.learned.combinations import Server

    kinds = zip(layout.node_gpu_type.tolist(), layout.node_gpus.tolist(), strict=True)
    return [Server.of(layout.gpu_types[kind], gpus) for kind, gpus in kinds]


def _kinds_of(factor: LearnedInterference, layout: "Layout") -> list[int]:
    """Finds the kind of server that each node is."""
    known = {server.server: i for i, server in enumerate(factor.spec.servers)}
    nodes = servers_of(layout)
    for node in nodes:
        if node not in known:
            there_are = ", ".join(map(str, known))
            raise UsageError(
                f"{factor.source}: no data about nodes of {node} (only {there_are}): fit it to a run on "
                "such nodes, or describe them in a copy of the file"
            )
    return [known[node] for node in nodes]
