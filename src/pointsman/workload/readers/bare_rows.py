"""Lines of cells without quotes, split at once; those with too many or too few delimiters are told apart."""

import re
from typing import Final, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from pointsman.errors import InputError

_STAND_INS: Final = bytes(k for k in range(1, 32) if k not in b"\t\n\r")
"""Bytes that stand in for a delimiter of several, if the text does not have them."""


class BareRows(NamedTuple):
    """The lines of a text."""

    frame: pl.DataFrame
    """Cells of the lines that have as many as there are names; empty ones are null."""
    at: NDArray[np.int64]
    """Which lines these are, from 0."""
    odd: dict[int, str]
    """The other lines."""


def bare_rows(data: bytes, names: list[str], delimiter: str, sound: pl.Expr, path: str) -> BareRows:
    """The lines of `data`, which ends none with a carriage return; a delimiter more at the end of a line is left out,
    with blanks behind it, and lines whose cells are not `sound` are odd, too.

    Raises:
        InputError: the text has every byte that could stand in for its delimiter.
    """
    mark, data = _single(data, delimiter, path)
    if b" \n" in data or data.endswith(b" "):
        data = re.sub(re.escape(mark) + rb" +(?=\n|\Z)", mark, data)
    text = np.frombuffer(data, np.uint8)
    ends = np.append(np.flatnonzero(text == ord("\n")), len(text))
    begins = np.append(0, ends[:-1] + 1)
    count = np.diff(np.searchsorted(np.flatnonzero(text == mark[0]), ends), prepend=0)
    trailing = (count == len(names)) & (text[np.maximum(ends - 1, 0)] == mark[0])
    width = len(names) + int(trailing.sum() * 2 > len(count))
    whole = (count == width - 1) & (trailing if width > len(names) else True)
    frame = _frame(_stretches(data, begins, ends, whole), names, width, mark)
    good = frame.select(sound.fill_null(False)).to_series()
    at = np.flatnonzero(whole)
    if not good.all():
        whole[at] = good.to_numpy()
        frame, at = frame.filter(good), np.flatnonzero(whole)
    odd = {k: data[begins[k] : ends[k]] for k in np.flatnonzero(~whole).tolist()}
    return BareRows(frame, at, {k: line.replace(mark, delimiter.encode()).decode() for k, line in odd.items()})


def _stretches(data: bytes, begins: NDArray[np.int64], ends: NDArray[np.int64], whole: NDArray[np.bool_]) -> bytes:
    """The whole lines alone."""
    if whole.all():
        return data
    turns = np.flatnonzero(np.diff(np.concatenate([[False], whole, [False]]).astype(np.int8)))
    return b"\n".join(data[begins[a] : ends[b - 1]] for a, b in zip(turns[::2], turns[1::2], strict=True))


def _single(data: bytes, delimiter: str, path: str) -> tuple[bytes, bytes]:
    """A delimiter of one byte, and the text with it."""
    mark = delimiter.encode()
    if len(mark) == 1:
        return mark, data
    free = next((bytes([byte]) for byte in _STAND_INS if bytes([byte]) not in data), None)
    if free is None:
        fix = "export with `sacct --parsable2`, whose delimiter is a bar"
        raise InputError(f"the delimiter {delimiter!r:.20} cannot be told from the text", path=path, fix=fix)
    return free, data.replace(mark, free)


def _frame(lines: bytes, names: list[str], width: int, mark: bytes) -> pl.DataFrame:
    if not lines:
        return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    columns = [*names, *([" after the last"] if width > len(names) else [])]
    frame = pl.read_csv(
        lines, has_header=False, new_columns=columns, separator=mark.decode(), quote_char=None, infer_schema=False
    )
    return frame.select(names)
