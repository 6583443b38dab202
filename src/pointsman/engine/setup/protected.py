"""Jobs that may not be preempted."""

import polars as pl

from pointsman.cluster.layout import Layout


def preemptible_of(jobs: pl.DataFrame, layout: Layout) -> pl.Series:
    """Whether each job may be preempted: neither the log forbids it, nor a partition that the job names."""
    own = jobs["preemptible"].fill_null(True)
    if not layout.protected_partitions:
        return own
    names = jobs["partition"].unique().drop_nulls().to_list()
    protected = [name for name in names if layout.protected_partitions & {one.strip() for one in name.split(",")}]
    return own & ~jobs["partition"].is_in(protected).fill_null(False)
