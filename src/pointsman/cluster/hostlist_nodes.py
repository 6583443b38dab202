"""Which nodes of a cluster hostlists name."""

from collections.abc import Iterable, Sequence

from pointsman.cluster.hostlist import expand


def nodes_named(texts: Iterable[str], node_names: Sequence[str]) -> dict[str, list[int | None]]:
    """Indices of the nodes that each hostlist names, in order, each once; None for a name that the cluster lacks.

    A text that is no hostlist has no entry.
    """
    index = {name: i for i, name in enumerate(node_names)}
    found: dict[str, list[int | None]] = {}
    for text in texts:
        try:
            names = dict.fromkeys(expand(text))
        except ValueError:
            continue
        found[text] = [index.get(name) for name in names]
    return found
