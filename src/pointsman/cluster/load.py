"""From what a person types to a `Cluster`: a ready name, a shorthand, a YAML file or a node list."""

from functools import cache
from importlib.resources import files
from pathlib import Path

from pointsman.cluster.cluster import Cluster
from pointsman.cluster.openb import UnknownTableError, read_node_list
from pointsman.cluster.shorthand import is_shorthand, parse_shorthand
from pointsman.cluster.topologies.topology import KINDS
from pointsman.cluster.topology_shorthand import is_topology, parse_topology
from pointsman.errors import UsageError
from pointsman.inputs.did_you_mean import did_you_mean
from pointsman.inputs.file_name import names_file
from pointsman.inputs.messages import described, quoted

GivenCluster = Cluster | str | Path
"""A cluster in Python: itself, or what `load_cluster` takes."""


def load_cluster(text: str | Path) -> Cluster:
    """The cluster that ``text`` names.

    Tried in this order: a ready name (``philly``), a shorthand (``16x4/rack=4,gpu=v100``, or of a topology,
    ``fat-tree:8/gpus=4``), a file: an openb node list where the name ends in ``.csv``, otherwise YAML or JSON. A
    `Path` is always a file.

    Raises:
        UsageError: unknown name, wrong shorthand, or a cluster file that is not valid (exit code 2).
        InputError: a node list that is not valid (exit code 3).
    """
    name = str(text)
    if not isinstance(text, Path):
        if name in ready_clusters():
            return _ready(name)
        if is_shorthand(name):
            return parse_shorthand(name)
        if is_topology(name):
            return parse_topology(name)
        if not _looks_like_a_path(name):
            raise UsageError(
                f"no cluster is called {name!r:.200}; give a file, a shorthand such as 16x4 or fat-tree:8, or a ready "
                f"name ({did_you_mean(name.partition(':')[0], (*ready_clusters(), *KINDS))})"
            )
    from pointsman.cluster.yaml_file import read_cluster

    try:
        return read_node_list(name).cluster if name.endswith(".csv") else read_cluster(name)
    except (UsageError, UnknownTableError):
        _refuse_nodes(name)
        raise


def check_order(workload: object) -> None:
    """Refuse a workload that is a cluster: a `Cluster`, or a text that names one and no file.

    Raises:
        UsageError: it is.
    """
    is_one = isinstance(workload, Cluster)
    if isinstance(workload, str) and not names_file(workload):
        is_one = workload in ready_clusters() or is_shorthand(workload) or is_topology(workload)
    if is_one:
        raise UsageError(
            f"the workload {quoted(workload)} is a cluster: workload, cluster and policy are given in this order"
        )


def check_named(clusters: object) -> None:
    """Refuse clusters that are not named, which an experiment cannot be written with.

    Raises:
        UsageError: one is an object.
    """
    for one in clusters if isinstance(clusters, list | tuple) else [clusters]:
        if not isinstance(one, str):
            raise UsageError(
                f"the cluster is {described(one)}: give a name, a shorthand such as '16x8', or a file as text; only "
                "simulate takes a Cluster"
            )


def cluster_of(given: GivenCluster) -> Cluster:
    """The cluster itself, or that of a name, a shorthand or a file.

    Raises:
        UsageError: there is no such cluster, or it is something else. InputError: as of `load_cluster`.
    """
    if isinstance(given, Cluster):
        return given
    if isinstance(given, str | Path):
        return load_cluster(given)
    if isinstance(given, list | tuple):
        raise UsageError(f"simulate takes one cluster, not {len(given)}: pointsman.sweep takes several")
    raise UsageError(
        f"the cluster is {described(given)}: give a Cluster, a shorthand such as '16x8', or a file; workload, cluster "
        "and policy are given in this order"
    )


def _refuse_nodes(name: str) -> None:
    """A list of nodes as Slurm and Kubernetes print it becomes a cluster file first.

    Raises:
        UsageError: the file is one.
    """
    from pointsman.cluster.imports.read import made_by

    what = made_by(name)
    if what:
        fix = f"'pointsman cluster import {name} -o FILE' makes one"
        raise UsageError(f"{name}: a list of nodes ({what}), not a cluster file ({fix})") from None


@cache
def ready_clusters() -> tuple[str, ...]:
    """Names of the clusters that come with Pointsman, sorted."""
    here = files("pointsman.cluster") / "ready"
    return tuple(sorted(file.name.removesuffix(".yaml") for file in here.iterdir() if file.name.endswith(".yaml")))


@cache
def _ready(name: str) -> Cluster:
    from pointsman.cluster.yaml_file import parse_cluster

    file = files("pointsman.cluster") / "ready" / f"{name}.yaml"
    return parse_cluster(file.read_text(encoding="utf-8"), origin=str(file))


def _looks_like_a_path(name: str) -> bool:
    if "/" in name or "\\" in name or name.endswith((".yaml", ".yml", ".json", ".csv")):
        return True
    try:
        return names_file(name)
    except (OSError, ValueError):  # too long, or with a NUL: no file is called so
        return False
