"""Measured pairs of jobs on one GPU: the CSV that ``pointsman profile pairs`` reads."""

from pathlib import Path
from typing import Final

from pointsman.errors import InputError
from pointsman.speed.interference.file import MOST
from pointsman.speed.interference.fit import Pair
from pointsman.speed.measured_rows import ABOUT, Columns, Row, read_rows
from pointsman.speed.profiles.catalogue import Catalogue

NORMS: Final = ("norm_a", "norm_b")
TIMES: Final = ("alone_s_a", "step_s_a", "alone_s_b", "step_s_b")
UNREAD: Final = ("parts_a", "parts_b", "memory_bytes_a", "memory_bytes_b", *ABOUT)
COLUMNS: Final = Columns(("gpu_type", "model_a", "model_b"), (*NORMS, *TIMES, "batch_a", "batch_b"), UNREAD)
FASTEST: Final = 1.5
"""A speed beside another above this multiple of the speed alone is a slip, and no noise."""


def read_pairs(path: str | Path, catalogue: Catalogue) -> list[Pair]:
    """The rows of a file of pairs (``docs/formats/pairs.md``), names as the catalogue has them, or the user's own.

    Rows of batches that were cut into parts are passed over: other parts slow a neighbour differently.

    Raises:
        InputError: it cannot be read, or a row is wrong; the message has file, line, cause and fix.
    """
    rows = [row for row in read_rows(path, COLUMNS) if row.is_whole("parts_a") and row.is_whole("parts_b")]
    if not rows:
        raise InputError("no pair computes its batches at once", path=path, fix="measure pairs in one part, too")
    return [_pair(row, catalogue) for row in rows]


def _pair(row: Row, catalogue: Catalogue) -> Pair:
    models = (row.text("model_a"), row.text("model_b"))
    a, b = (catalogue.model_name(name) if catalogue.knows(name) else name for name in models)
    for batch in ("batch_a", "batch_b"):
        row.number(batch, optional=True)
    return Pair(row.gpu_type(catalogue), a, b, *_norms(row), row.is_unsteady)


def _norms(row: Row) -> tuple[float, float]:
    by_norms, by_times = (any(map(row.has, columns)) for columns in (NORMS, TIMES))
    if by_norms == by_times:
        said = "both normalised speeds and step times" if by_norms else "neither normalised speeds nor step times"
        raise row.wrong(said, f"give {', '.join(NORMS)} or {', '.join(TIMES)}; leave out pairs that did not run")
    if by_norms:
        return _check_norm(row, "a", row.number("norm_a")), _check_norm(row, "b", row.number("norm_b"))
    return _from_times(row, "a"), _from_times(row, "b")


def _from_times(row: Row, side: str) -> float:
    return _check_norm(row, side, row.number(f"alone_s_{side}") / row.number(f"step_s_{side}"))


def _check_norm(row: Row, side: str, norm: float) -> float:
    if not 1 / MOST <= norm <= FASTEST:
        cause = f"{row.text(f'model_{side}')} runs at {norm:.4g} of its speed alone"
        raise row.wrong(
            cause, f"norm_{side} is a share from {1 / MOST:g} to {FASTEST:g}; leave out pairs that did not run"
        )
    return norm
