"""Cluster files: YAML in, a validated `Cluster` out."""

from pathlib import Path

from pointsman.cluster.cluster import Cluster
from pointsman.inputs.config_file import parse_document, read_document


def read_cluster(path: str | Path) -> Cluster:
    """The cluster in a YAML (or JSON) file.

    Raises:
        UsageError: unreadable, no YAML, or not a valid `Cluster`; the message has file, line and fix.
    """
    return read_document(path, Cluster).content


def parse_cluster(text: str, *, origin: str) -> Cluster:
    """The cluster that the YAML ``text`` describes; ``origin`` is named in errors.

    Raises:
        UsageError: no YAML, or not a valid `Cluster`.
    """
    return parse_document(text, Cluster, origin=origin).content
