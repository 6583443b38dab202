"""That no row of a log is lost: rows read = jobs kept + rows dropped + rows merged into other rows' jobs."""

from pointsman.workload.provenance import Quality


class RowsLostError(Exception):
    """A reader lost count of its rows: a fault in its code, not in the log."""


def check_count(quality: Quality) -> None:
    """That the rows of the file, counted apart, are those that the report accounts for.

    Raises:
        RowsLostError: they are not.
    """
    dropped, merged = sum(quality.dropped.values()), sum(quality.merged.values())
    if quality.rows_read != quality.kept + dropped + merged:
        raise RowsLostError(
            f"{quality.rows_read:,} rows are in the file, but {quality.kept:,} are kept, {dropped:,} dropped and "
            f"{merged:,} merged"
        )
