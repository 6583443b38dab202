"""What a waiting job needs of the nodes, and what they have free."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.demand import Demand
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.state.records import ACCUMULATIONS
from pointsman.inputs.messages import counted
from pointsman.types import SCATTERED, Locality, NodeState, Reason


class Room:
    """Why a job of a simulation finds no place, by the GPUs that are free now."""

    def __init__(self, simulation: Simulation, prepared: Prepared) -> None:
        self.prepared, self.state = prepared, simulation.handle.state
        self.nodes: NDArray[np.void] = np.asarray(self.state.nodes)
        own = getattr(simulation.policy, "rate_model", None) == "iterations"
        self.shares = own and int(self.state.g[0]["jobs_per_gpu"]) > 1
        """Whether the policy puts jobs on GPUs that others hold."""

    def of_shape(self, job: Any) -> bool:
        """Whether the job has a shape."""
        return self._demand(job).per_node > 0

    def reason(self, job: Any) -> tuple[Reason, str]:
        """For the alternative with the most of what the job needs: too few GPUs, or too scattered."""
        if self.shares:
            return Reason.Resources, self._said_beside_others(job)
        if self.of_shape(job):
            return self._reason_of_shape(self._demand(job))
        free, size = max(
            (self._free(members) for members in self._alternatives(job)), key=lambda found: int(found[0].sum())
        )
        needed, total = int(job["asked"]), int(free.sum())
        if total < needed:
            return Reason.Resources, f"needs {gpus_in_words(needed)}; {total} of those it may use are free"
        scatters = int(self.state.g[0]["placement"]) in SCATTERED or self.state.classes[job["cls"]]["scatters"]
        if scatters or not len(free):
            return Reason.Topology, f"needs {gpus_in_words(needed)} of one kind"
        if needed <= size:
            best = int(free.max())
            return Reason.Fragmentation, f"needs {gpus_in_words(needed)} on one node; best node has {best} free"
        whole, rest = divmod(needed, size)
        more = f" and {gpus_in_words(rest)} on another" if rest else ""
        found = int((free == size).sum())
        of = gpus_in_words(size)
        nodes = counted(whole, f"whole node of {of}", f"whole nodes of {of}")
        return Reason.Fragmentation, f"needs {nodes}{more}; {found} such nodes are free"

    def _reason_of_shape(self, demand: Demand) -> tuple[Reason, str]:
        frees = (self._free(members)[0] for members in demand.alternatives)
        free = max(frees, key=partial(_roomy, demand))
        reason = Reason.Resources if int(free.sum()) < demand.gpus else Reason.Fragmentation
        return reason, f"needs {_nodes_with(demand, 'free GPU')}; {_have_them(_roomy(demand, free))}"

    def within(self, job: Any, level: Locality) -> str:
        """What the node or rack that has most has free, under the alternative that has most there."""
        where = "on one node; best node" if level == Locality.NODE else "in one rack; best rack"
        needs = gpus_in_words(job["asked"])
        if self.of_shape(job):
            needs = _nodes_with(self._demand(job), "free GPU")
        best = max(self._most_within(job, members, level) for members in self._alternatives(job))
        return f"needs {needs} {where} has {best}{'' if self.of_shape(job) else ' free'}"

    def _most_within(self, job: Any, pools: tuple[int, ...], level: Locality) -> int:
        """Free GPUs of a node or rack; of a shape, nodes with room for a part."""
        free, _ = self._free(pools)
        if self.of_shape(job):
            free = (free >= self._demand(job).per_node).astype(np.int64)
        if level == Locality.NODE:
            return int(free.max())
        return int(np.bincount(self.nodes["rack"][np.isin(self.nodes["pool"], pools)], free).max())

    def beside_others(self, job: Any) -> int:
        """GPUs with room for the job, or for parts of its shape, under the alternative that has most."""
        return self._most_roomy(job)[0]

    def _said_beside_others(self, job: Any) -> str:
        """How many GPUs have room for the job beside those that are on them."""
        roomy, memory = self._most_roomy(job)
        limit = int(self.state.g[0]["jobs_per_gpu"])
        room = f"{memory / 2**30:.3g} GiB of memory, and fewer than {limit} jobs"
        if self.of_shape(job):
            demand = self._demand(job)
            nodes = _have_them(roomy // demand.per_node)
            return f"needs {_nodes_with(demand, 'GPU')} that have room for it ({room}); {nodes}"
        return f"needs {gpus_in_words(job['asked'])}; {roomy} of those it may use have room for it ({room})"

    def _most_roomy(self, job: Any) -> tuple[int, int]:
        """The GPUs of `beside_others`, and what the job takes of their memory."""
        gpus, limit = np.asarray(self.state.gpus), int(self.state.g[0]["jobs_per_gpu"])
        node = np.repeat(np.arange(len(self.nodes)), self.nodes["gpus"])
        takes = np.asarray(self.state.subbatches)["bytes"][
            (job["speed"] + self.nodes["gpu_type"][node]) * ACCUMULATIONS
        ]
        room = (gpus["used"] < limit) & (gpus["free_bytes"] >= takes) & (self.nodes["state"][node] == NodeState.UP)
        mine = [np.isin(self.nodes["pool"][node], pools) for pools in self._alternatives(job)]
        usable = [_usable(self._demand(job), np.bincount(node[room & members])) for members in mine]
        best = int(np.argmax(usable))
        return usable[best], int(takes[mine[best]].max())

    def _demand(self, job: Any) -> Demand:
        return self.prepared.demands[int(job["cls"])]

    def _alternatives(self, job: Any) -> tuple[tuple[int, ...], ...]:
        return self._demand(job).alternatives

    def _free(self, pools: tuple[int, ...]) -> tuple[NDArray[np.int64], int]:
        """(nodes,) free GPUs of the UP nodes of these pools, and the largest node's size."""
        mine = self.nodes[np.isin(self.nodes["pool"], pools)]
        return np.where(mine["state"] == NodeState.UP, mine["free"], 0), int(mine["gpus"].max())


def gpus_in_words(n: int) -> str:
    """1 GPU, 2 GPUs."""
    return counted(n, "GPU")


def names_of(nodes: NDArray[np.int64], names: Sequence[str]) -> str:
    """The names of the first four nodes."""
    return ", ".join([names[node] for node in nodes[:4]] + ["..."] * (len(nodes) > 4))


def one(level: Locality) -> str:
    """One node, or one rack."""
    return "one node" if level == Locality.NODE else "one rack"


def _roomy(demand: Demand, gpus: NDArray[np.int64]) -> int:
    """Counts the nodes, given by their GPUs, that have room for a part of the shape."""
    return int((gpus >= demand.per_node).sum())


def _usable(demand: Demand, gpus: NDArray[np.int64]) -> int:
    """Counts the GPUs that the job could use, of nodes given by their GPUs."""
    return _roomy(demand, gpus) * demand.per_node if demand.per_node else int(gpus.sum())


def _nodes_with(demand: Demand, what: str) -> str:
    """The nodes of a shape in words: ``4 nodes with 2 free GPUs each``."""
    each = counted(demand.per_node, what)
    return counted(demand.nodes, f"node with {each}", f"nodes with {each} each")


def _have_them(nodes: int) -> str:
    return "none has them" if nodes == 0 else "1 has them" if nodes == 1 else f"{nodes:,} have them"
