"""What a trace format is."""

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from pointsman.workload.provenance import Quality
from pointsman.workload.readers.source import Source


@dataclass(frozen=True)
class TraceFormat:
    """One format of job log."""

    name: str
    """What `--format` takes."""
    title: str
    """One line for people."""
    matches: Callable[[Source], bool]
    """Whether a file is of this format, from its first lines."""
    read: Callable[..., tuple[pl.DataFrame, Quality]]
    """From a `Source` (and the options named below) to a complete job table and its quality report."""
    options: frozenset[str] = frozenset()
    """Keyword arguments that `read` takes besides the source."""
