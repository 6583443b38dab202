"""``pointsman cluster``: ready clusters, and cluster files checked, shown and imported."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli.suggest import suggest

if TYPE_CHECKING:
    from pointsman.cluster import Cluster, ClusterGraph

app = typer.Typer(no_args_is_help=True, help="Clusters: list, show, import and check them.")

Named = Annotated[
    str,
    typer.Argument(
        metavar="CLUSTER", help="Built-in cluster, shorthand (16x4/rack=4 or fat-tree:8), YAML file or node list."
    ),
]


class ListFormat(StrEnum):
    """How a list is printed."""

    table = "table"
    json = "json"
    csv = "csv"


class DocumentFormat(StrEnum):
    """How a cluster is printed."""

    yaml = "yaml"
    json = "json"


@app.command("list")
def list_clusters(
    format: Annotated[ListFormat, typer.Option("--format", help="Output format.")] = ListFormat.table,
) -> None:
    """List the built-in clusters."""
    from pointsman.cluster import load_cluster, ready_clusters

    rows = [_row(load_cluster(name)) for name in ready_clusters()]
    if format is ListFormat.json:
        _print_json(rows)
    elif format is ListFormat.csv:
        _print_csv(rows)
    else:
        _print_table(rows)


@app.command()
def show(
    name: Named,
    format: Annotated[DocumentFormat, typer.Option("--format", help="Output format.")] = DocumentFormat.yaml,
) -> None:
    """Print a cluster file, to save and edit."""
    from pointsman.cluster import load_cluster

    cluster = load_cluster(name)
    if format is DocumentFormat.json:
        _print_json(cluster.to_dict())
    else:
        typer.echo(cluster.to_yaml(), nl=False)


@app.command()
def graph(
    name: Named,
    format: Annotated[
        ListFormat,
        typer.Option(
            "--format",
            help="Output format: table has kinds of links, json every node, switch and link, csv every link.",
        ),
    ] = ListFormat.table,
) -> None:
    """Print a cluster's nodes, switches and links, with their bandwidth in Gb/s per direction."""
    from pointsman.cluster import load_cluster

    graph = load_cluster(name).graph()
    if format is ListFormat.json:
        _print_json(graph.to_dict())
    elif format is ListFormat.csv:
        _print_csv(graph.to_dict()["links"])
    else:
        _print_table(_kinds_of_links(graph))


@app.command("import")
def import_node_list(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="What 'scontrol show node', 'sinfo -N -o \"%N %P %G %c %X %m\"', 'kubectl get nodes -o json' or "
            "'nvidia-smi topo -m' prints; slurm.conf; an inventory (CSV: name,gpus,gpu_type) or an openb node list; "
            "'-' is standard input.",
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="Cluster file to write; '-' prints it.")],
    gpu_type: Annotated[
        list[str],
        typer.Option(
            metavar="[NAME=]TYPE",
            default_factory=list,
            show_default=False,
            help="GPU type: a100 for nodes without a type, tesla=v100 for nodes of type tesla, own=own for a type that "
            "the catalogue lacks. Repeatable.",
        ),
    ],
    topology: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Racks and pods of the nodes: Slurm's topology.conf, or what 'scontrol show topo' prints.",
        ),
    ] = None,
    gpu_topology: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="CPU sockets of the nodes: what 'nvidia-smi topo -m' prints on one of them."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")] = False,
) -> None:
    """Convert a list of nodes to a cluster file."""
    from pointsman.cluster.imports.read import import_nodes
    from pointsman.inputs.output_path import write_new

    read = import_nodes(file, _gpu_types(gpu_type), topology, gpu_topology)
    if str(output) == "-":
        typer.echo(read.cluster.to_yaml(), nl=False)
    else:
        write_new(output, read.cluster.to_yaml(), force=force)
    typer.echo("\n  ".join([f"{output}: {read.cluster.size}", *read.notes]), err=True)


app.command()(suggest)


def _gpu_types(texts: list[str]) -> dict[str, str]:
    """Types by what the list calls them: the catalogue's, or, where both names are the same, one of its own."""
    from pointsman.cluster.imports.gpu_types import own_name
    from pointsman.errors import UsageError
    from pointsman.inputs.did_you_mean import did_you_mean
    from pointsman.inputs.gpu_names import NAMES, known_name

    found = {}
    for text in texts:
        name, _, gpu_type = text.rpartition("=")
        own = own_name(name) if name and own_name(gpu_type) == own_name(name) else None
        known = known_name(gpu_type) or own
        if known is None:
            raise UsageError(f"--gpu-type {text!r:.60}: unknown type ({did_you_mean(gpu_type, NAMES)})")
        found[name] = known
    return found


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Cluster file (YAML or JSON) or node list (CSV).")],
) -> None:
    """Check a cluster file. The exit code is 0 if it is valid."""
    from pointsman.cluster import load_cluster

    typer.echo(f"{file}: valid: {load_cluster(file).size}")


@app.command()
def schema() -> None:
    """Print the JSON Schema of cluster files, for editors."""
    from pointsman.cluster import cluster_schema

    _print_json(cluster_schema())


def _row(cluster: "Cluster") -> dict[str, Any]:
    return {
        "name": cluster.name,
        "nodes": cluster.nodes,
        "gpus": cluster.gpus,
        "gpu_types": "|".join(cluster.gpu_types),
        "description": cluster.metadata.description,
    }


def _kinds_of_links(graph: "ClusterGraph") -> list[dict[str, Any]]:
    """Links of the same tiers and bandwidth together, from the nodes up."""
    from collections import Counter

    ends = ([graph.tiers[vertex] for vertex in link] for link in graph.links.tolist())
    kinds = Counter((*tiers, f"{rate:.6g}") for tiers, rate in zip(ends, graph.gbps.tolist(), strict=True))
    count = Counter(graph.tiers)
    return [
        {"from": f"{count[lower]:,} {lower}", "to": f"{count[upper]:,} {upper}", "links": links, "Gb/s": rate}
        for (lower, upper, rate), links in kinds.items()
    ]


def _print_json(data: Any) -> None:
    import json

    typer.echo(json.dumps(data, indent=2, ensure_ascii=False))


def _print_csv(rows: list[dict[str, Any]]) -> None:
    import csv

    writer = csv.DictWriter(sys.stdout, rows[0], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)


def _print_table(rows: list[dict[str, Any]]) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    for key in rows[0]:
        right = key in ("nodes", "gpus", "links", "Gb/s")
        title = key if key == "Gb/s" else key.upper()
        table.add_column(title, justify="right" if right else "left", no_wrap=key == "name")
    for row in rows:
        table.add_row(*(f"{value:,}" if isinstance(value, int) else value for value in row.values()))
    Console(file=sys.stdout, width=None if sys.stdout.isatty() else 160).print(table)
