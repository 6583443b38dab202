"""Nodes and partitions as ``sinfo`` prints them: a row for each node of each partition."""

from typing import Final

from pointsman.live.backends.facts import Unsure
from pointsman.live.backends.slurm.answers import cells, gpus
from pointsman.live.backends.slurm.answers.table import Row, Table
from pointsman.live.backends.slurm.records import SlurmNode, SlurmPartition
from pointsman.live.backends.slurm.states import node_state, node_words

NODES: Final = Table("sinfo", {
    "node": "NodeList", "partition": "Partition", "state": "StateComplete", "gres": "Gres", "used": "GresUsed",
    "up": "Available", "limit": "Time", "tier": "PriorityTier", "preempt": "PreemptMode", "reason": "Reason",
})  # fmt: skip
_STATES: Final = {"INACT": "INACTIVE"}


def read_sinfo(text: str, mark: str) -> tuple[list[SlurmNode], list[SlurmPartition]]:
    """The nodes of an answer, and its partitions by name, each once.

    Raises:
        Unsure: it is not whole, or a cell of it cannot be read.
    """
    of_nodes: dict[str, list[Row]] = {}
    of_partitions: dict[str, list[Row]] = {}
    for row in NODES.rows(text, mark):
        of_partitions.setdefault(row["partition"], []).append(row)
        for name in cells.names(row["node"]):
            of_nodes.setdefault(name, []).append(row)
    nodes = [_read_node(name, rows) for name, rows in of_nodes.items()]
    return nodes, [_partition(name, rows) for name, rows in sorted(of_partitions.items())]


def _read_node(name: str, rows: list[Row]) -> SlurmNode:
    try:
        return _node(name, rows)
    except ValueError as error:
        raise Unsure(f"sinfo: node {name:.40}: {error}") from None


def _node(name: str, rows: list[Row]) -> SlurmNode:
    first, states = rows[0], node_words(rows[0]["state"])
    return SlurmNode(
        name, node_state(states), states, cells.reason(first["reason"]), gpus.by_type(first["gres"]),
        sum(count for _, count in gpus.by_type(first["used"])), gpus.indexes(first["used"]),
        tuple(sorted({row["partition"].rstrip("*") for row in rows})),
    )  # fmt: skip


def _partition(name: str, rows: list[Row]) -> SlurmPartition:
    first = rows[0]
    state = first["up"].strip().upper()
    nodes = dict.fromkeys(node for row in rows for node in cells.names(row["node"]))
    return SlurmPartition(
        name.rstrip("*"), _STATES.get(state, state), name.endswith("*"), cells.limit_s(first["limit"]),
        cells.number_or(first["tier"], 1), cells.optional(first["preempt"]), tuple(nodes),
    )  # fmt: skip
