"""Figures of runs on clusters of several sizes: each run is simulated once, whatever asks for it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from pointsman.api import simulate
from pointsman.capacity.scaling import scaled, size_of
from pointsman.cluster import Cluster, load_cluster
from pointsman.errors import TooWideError
from pointsman.experiment import CellSpec
from pointsman.parallel.workers import Workers
from pointsman.report import summarise
from pointsman.report.metrics.price import preempts
from pointsman.sweeps.choices import call_of
from pointsman.sweeps.digests import run_digest, workload_digest
from pointsman.sweeps.kept import Store, finish
from pointsman.sweeps.runs import Run, runs_of
from pointsman.workload import Workload

Figures = dict[str, float | None]
"""By metric, and ``preempts``: 1 if a job was preempted, else 0. None: a job is too wide for the cluster, or the policy
left jobs waiting.
"""
PREEMPTS = "preempts"


@dataclass(frozen=True)
class Trials:
    """The policies and seeds of `spec` on its cluster with fewer or more nodes; figures that `store` has are not made
    again.
    """

    spec: CellSpec
    workload: Workload
    workers: Workers
    store: Store
    metrics: Sequence[str]
    """What is kept of each run."""
    _known: dict[tuple[str, int, int], Figures] = field(default_factory=dict)
    _clusters: dict[int, Cluster] = field(default_factory=dict)

    @cached_property
    def whole(self) -> Cluster:
        """The cluster of `spec`."""
        return load_cluster(self.spec.cluster)

    @cached_property
    def runs(self) -> dict[str, list[Run]]:
        """List the runs of each policy, by its label."""
        found: dict[str, list[Run]] = {}
        for run in runs_of(self.spec):
            found.setdefault(run.label, []).append(run)
        return found

    def cluster_of(self, nodes: int) -> Cluster:
        """Make the cluster with this number of nodes."""
        if nodes not in self._clusters:
            self._clusters[nodes] = scaled(self.whole, nodes)
        return self._clusters[nodes]

    def figures(self, label: str, nodes: int | None = None) -> list[Figures]:
        """Look up the figures of a policy with each seed, made by `simulate`; by default on the whole cluster."""
        at = size_of(self.whole) if nodes is None else nodes
        return [self._known[label, run.seed, at] for run in self.runs[label]]

    def simulate(self, asked: Sequence[tuple[str, int]], tell: Callable[[float], None] = lambda _: None) -> None:
        """Simulate policies on clusters of these numbers of nodes, with each seed, where the figures are not known.

        `tell` is told the share that is done.
        """
        wanted = [(run, n) for label, n in asked for run in self.runs[label]]
        new = [(run, n, self._digest(run, n)) for run, n in wanted if (run.label, run.seed, n) not in self._known]
        missing = [(run, n, digest) for run, n, digest in new if not self.store.has(digest)]
        calls = [(self.spec, self.workload, run, self.cluster_of(n), self.metrics) for run, n, _ in missing]
        digests = [digest for _, _, digest in missing]
        for done, _ in enumerate(finish(digests, figures_of, calls, self.workers, self.store), 1):
            tell(done / len(calls))
        self._known.update(((run.label, run.seed, n), self.store.take(digest)) for run, n, digest in new)

    def _digest(self, run: Run, nodes: int) -> str:
        return run_digest(self._jobs, self.cluster_of(nodes), self.spec, run, self.metrics, self.spec.window)

    @cached_property
    def _jobs(self) -> str:
        return workload_digest(self.workload)


def figures_of(spec: CellSpec, workload: Workload, run: Run, cluster: Cluster, metrics: Sequence[str]) -> Figures:
    """Some figures of one run."""
    policy, params = call_of(run.choice)
    options = dict(spec.run_options(run.seed, log=False))
    try:
        result = simulate(workload, cluster, policy, params=params, **options)
    except TooWideError:
        return dict.fromkeys((*metrics, PREEMPTS))
    told: Figures = {PREEMPTS: float(preempts(result))}
    if (result.jobs["state"] == "PENDING").any():
        return told | dict.fromkeys(metrics)
    summary = summarise(result, window=spec.window)
    return told | {metric: summary[metric] for metric in metrics}
