"""The factor of jobs on different GPUs of one node, which share its cores, its paths to memory and the link between its
sockets (``docs/reference/semantics.md`` §15).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.engine.rate_models.factors.learned_interference import NO_JOB_INTERFERES, LearnedInterference
from pointsman.errors import UsageError
from pointsman.inputs.option import option

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic.fields import FieldInfo

    from pointsman.cluster.layout import Host, Layout
    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds
    from pointsman.speed.interference.node_law import NodeLaw
    from pointsman.speed.profiles.profiles import NodeDemand

MILLI = 1000
"""Loads are in thousandths of cores and of 10^6 bytes per second: whole numbers, so that sums are exact."""

HEAD = 4
"""Numbers of the factor before those of nodes: see `node_neighbours`."""
NUMBERS = 7
"""Columns of ``Speeds.node_demands``: see `_row`; then 1 and where the model is among those with residuals. All are 0
where nothing is known.
"""


@dataclass(frozen=True)
class NodeInterference(Factor):
    """Computing takes ψ times as long beside jobs on other GPUs of the worst node of a gang."""

    source: str
    """See `speed.interference.node_law.load_node_law`."""
    kappa: float
    models: tuple[str, ...] = ()
    """Those that slow each other beyond what they take of nodes, if any do."""
    pairs: tuple[tuple[float, ...], ...] = ()
    """How many times as long each of them takes beside each."""

    name = "node-interference"
    counts_nodes = True
    hooks = "pointsman.engine.rate_models.factors.node_neighbours"
    options: ClassVar[Mapping[str, tuple[Any, "FieldInfo"]]] = {
        "node_interference": (
            str,
            option(
                "Slowdown of jobs on different GPUs of a node",
                "none",
                values={
                    "none": "jobs do not slow each other on nodes",
                    "table": "from the cores and traffic of their models, as in model profiles",
                    "FILE": "from cores and traffic in a file, or from a file of 'pointsman profile interference'",
                    "table:kappa=K,sigma=S,seed=N": "table or FILE, with weight K of other jobs' traffic (default 4) "
                    "and random slowdowns by pair of models with deviation S (default 0)",
                },
                metavar="SOURCE",
                see="../guides/node-interference.md",
                panel="Assumptions",
            ),
        ),
    }

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> Factor | None:
        """Unless it is ``none``: for every policy and base model; by a learnt file the factor of such files.

        Raises:
            UsageError: there is no such source.
        """
        given = options.get("node_interference")
        source = "none" if given is None else str(given)
        if source == "none":
            return None
        from pointsman.speed.interference.learned.file import is_learned

        if is_learned(source):
            return LearnedInterference.of_file(source, options.get("profiles", ()))
        from pointsman.speed.interference.node_law import load_node_law, pair_residual
        from pointsman.speed.profiles.catalogue import load_catalogue

        law = load_node_law(source, load_catalogue(*options.get("profiles", ())))
        models = tuple(sorted(law.demands)) if law.sigma > 0 else ()
        pairs = tuple(tuple(pair_residual(law.seed, law.sigma, a, b) for b in models) for a in models)
        return cls(source, law.kappa, models, pairs)

    def speeds(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds what each demand takes of nodes.

        Raises:
            UsageError: a GPU's worth of a model takes more of a node than there is.
        """
        import numpy as np

        types = len(named.layout.gpu_types)
        if named.nameless:
            named.assumptions.append(NO_JOB_INTERFERES)
            return replace(speeds, node_demands=np.zeros((types, NUMBERS)))
        from pointsman.speed.interference.node_law import load_node_law

        law = load_node_law(self.source, named.catalogue)
        rows = np.zeros((len(named.demands), types, NUMBERS))
        for i, (model, _, batch, _) in enumerate(named.demands):
            name = None if model is None else named.catalogue.model_name(model)
            if name is not None and name in law.demands:
                _check(name, law.demands[name], named.layout.hosts)
                number = 1.0 + (self.models.index(name) if self.models else 0)
                rows[i] = [(*_row(law, named, name, gpu_type, batch), number) for gpu_type in named.layout.gpu_types]
        unknown = rows[:, 0, -1] == 0.0
        without = int(unknown[named.rows // types].sum())
        named.assumptions.append(_sentence(law, self.kappa, without, int(np.size(named.rows))))
        return replace(speeds, node_demands=rows.reshape(-1, NUMBERS))

    def numbers(self, layout: "Layout", speeds: "Speeds") -> "NDArray[np.float64]":
        """Those of the factor; of each node its capacities, sockets and where the loads of these begin; then the rows
        of ``Speeds.node_demands``; then `pairs`.
        """
        import numpy as np

        hosts = [layout.hosts[k] for k in layout.node_type]
        sockets = np.array([host.sockets for host in hosts])
        nodes = [
            (host.cores * MILLI, host.pcie_mb_per_s * MILLI, host.memory_mb_per_s * MILLI, host.link_mb_per_s * MILLI)
            for host in hosts
        ]
        begins = 3 * len(hosts) + np.cumsum(sockets) - sockets
        table = np.column_stack([np.array(nodes), sockets, begins])
        pairs = HEAD + table.size + speeds.node_demands.size
        head = [self.kappa, len(self.models), pairs, _resources(layout)]
        return np.concatenate([head, table.ravel(), speeds.node_demands.ravel(), np.ravel(self.pairs)])

    def loads(self, layout: "Layout") -> int:
        """Loads: of each node cores, traffic to memory and traffic between sockets; then the traffic of each socket;
        then, if there are residuals, of each node the workers of each model.
        """
        return _resources(layout) + len(layout.node_type) * len(self.models)


def _resources(layout: "Layout") -> int:
    """How many loads are those of resources."""
    return sum(3 + layout.hosts[k].sockets for k in layout.node_type)


def _row(law: "NodeLaw", named: "NamedModels", name: str, gpu_type: str, batch: int | None) -> tuple[float, ...]:
    """Cores and traffic of a GPU, what of the traffic counts for others, and traffic between the sockets of a node, in
    thousandths; and both sensitivities.
    """
    demand, model = law.demands[name], named.catalogue.model(name)
    step_s = named.catalogue.compute(name, gpu_type)[0].time_s(batch or model.batch.per_gpu)
    traffic, ring = demand.traffic.mb_per_s_per_gpu, 2 * model.gradient.bytes / 1e6 / step_s
    loads = (demand.cores.per_gpu, traffic, min(traffic, law.capped_mb_per_s), ring)
    return (*(float(round(MILLI * load)) for load in loads), demand.cores.theta, demand.traffic.theta)


def _check(name: str, demand: "NodeDemand", hosts: "tuple[Host, ...]") -> None:
    for host in hosts:
        if demand.cores.per_gpu > host.cores:
            raise UsageError(
                f"model {name!r} keeps {demand.cores.per_gpu:g} cores busy for each GPU, and a node of type "
                f"{host.name!r} has {host.cores:g}: give its cpus in the cluster file, or lower the demand in a profile"
            )
        if demand.traffic.mb_per_s_per_gpu > min(host.pcie_mb_per_s, host.memory_mb_per_s):
            raise UsageError(
                f"model {name!r} moves {demand.traffic.mb_per_s_per_gpu:g} MB/s for each GPU, and a node of type "
                f"{host.name!r} less: give its host.pcie and host.memory in the cluster file, or lower the demand in a "
                "profile"
            )


def _sentence(law: "NodeLaw", kappa: float, without: int, jobs: int) -> str:
    known = f"{without} of {jobs} jobs are of models without known demands on nodes: they cause and suffer none"
    alone = "a duration is without contention on servers, also by the job's own GPUs"
    drawn = f", sigma = {law.sigma:g}, seed = {law.seed}" if law.sigma > 0 else ""
    return f"node interference {law.name}: kappa = {kappa:g}{drawn}, {law.source}; {known}; {alone}"
