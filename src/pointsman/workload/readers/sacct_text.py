"""The text of an `sacct` export as rows of named cells: whatever is between cells, before the header and in names.

Several exports may have been joined, each with its header. Lines that hold no row are counted, by what they are.
"""

from collections import Counter
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from pointsman.errors import InputError
from pointsman.inputs.messages import counted
from pointsman.workload.readers.bare_rows import BareRows, bare_rows
from pointsman.workload.readers.quoted_cells import quoted_records
from pointsman.workload.readers.rows import Rows
from pointsman.workload.readers.sacct_fields import COMMAND, ID, canonical
from pointsman.workload.readers.sacct_header import MOST_BEFORE, Header, header_of, is_headless
from pointsman.workload.readers.source import Source
from pointsman.workload.readers.torn_rows import Vocabulary, mended
from pointsman.workload.rules.clean import LINE

_HEAD: Final = 1 << 18
"""Bytes in which a header is looked for to tell the format."""
_HEADERS, _STRANGE, _BLANK, _INNER = "headers", "lines that hold no row", "blank lines", "further lines of a row"


def is_sacct_text(source: Source) -> bool:
    """Whether the first lines have a header of `sacct`, or look like its rows without one."""
    if source.data[:1] in (b"{", b"["):
        return False
    text = source.utf8[:_HEAD].decode("utf-8", "replace").replace("\r", "\n")
    head = [line for line in text.split("\n", MOST_BEFORE)[:MOST_BEFORE] if line.strip()]
    return any(header_of(line) for line in head) or any(is_headless(line) for line in head[:3])


def read_text(source: Source) -> Rows:
    """The rows of all tables in the text; `LINE` of the frame says where each stands.

    Raises:
        InputError: there is no header, or the columns are of fixed width.
    """
    data = source.utf8.rstrip(b"\r\n").replace(b"\r\n", b"\n")
    data = data if b"\n" in data else data.replace(b"\r", b"\n")
    found = _Found(source.path, data.count(b"\n") + 1)
    header, begin, line = _first_header(source, data), 0, 1
    while header is not None:
        header, begin, line = _add(found, data, header, begin, line)
    return found.rows()


def _first_header(source: Source, data: bytes) -> Header:
    """The first header; most often it is one of the first lines, but in a file that was sorted one of the last."""
    head = data[:_HEAD].decode("utf-8", "replace").split("\n", MOST_BEFORE)[:MOST_BEFORE]
    header = next((header for line in head if (header := header_of(line))), None) or _header_anywhere(data)
    if header is None:
        cause = "this looks like rows of sacct without their header line"
        raise InputError(cause, path=source.path, line=1, fix=f"export with it: `{COMMAND}`, without -n")
    if not header.delimiter:
        cause = "this is sacct's output in columns of fixed width, which cuts names and lists of resources short"
        raise InputError(cause, path=source.path, line=1, fix=f"export with `{COMMAND}`")
    return header


def _header_anywhere(data: bytes) -> Header | None:
    folded, at = data.lower(), -1
    while (at := folded.find(b"jobid", at + 1)) >= 0:
        begin, end = data.rfind(b"\n", 0, at) + 1, data.find(b"\n", at)
        header = header_of(data[begin : end if end >= 0 else len(data)].decode())
        if header is not None:
            return header
    return None


@dataclass
class _Found:
    path: str
    total: int
    """Lines of the file."""
    frames: list[pl.DataFrame] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)
    mended: list[int] = field(default_factory=list)
    strange: list[int] = field(default_factory=list)
    continued: list[int] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)

    def rows(self) -> Rows:
        empty = pl.DataFrame(schema={LINE: pl.Int64})
        frame = self.frames[0] if len(self.frames) == 1 else pl.concat([empty, *self.frames], how="diagonal").sort(LINE)
        return Rows(
            frame, frame[LINE].to_numpy(), self.lost, read={LINE}, others=self.others, total=self.total,
            notes=self.notes(),
        )  # fmt: skip

    def notes(self) -> list[str]:
        again = self.others[_HEADERS] - 1
        return [
            *([f"header lines repeated in the file: {again:,}"] if again else []),
            *([f"{_STRANGE}: {_at(self.strange)}"] if self.strange else []),
            *([f"lines that go on with text of users' own: {_at(self.continued)}"] if self.continued else []),
            *([f"rows put together that text of users' own had torn: {_at(self.mended)}"] if self.mended else []),
        ]


def _at(lines: list[int]) -> str:
    return f"{len(lines):,}, the first in line {lines[0]:,}"


Next = tuple[Header | None, int, int]
"""The next header, if there is another; the byte from which it counts, and the line of that byte."""


def _add(found: _Found, data: bytes, header: Header, begin: int, line: int) -> Next:
    """Read the text from `begin` on, up to a header with other columns."""
    sound = _sound(header.names)
    text = data[begin:] if begin else data
    if header.quoted:
        _add_quoted(found, text.decode().split("\n"), header, line, sound)
        return None, 0, 0
    split = bare_rows(text, header.names, header.delimiter, sound, found.path)
    others = {k: other for k, odd in split.odd.items() if (other := header_of(odd)) and other != header}
    following = next((k for k, other in others.items() if other.delimiter), None)
    if following is None:
        _add_bare(found, split, header, line)
        return None, 0, 0
    stop = sum(len(one) + 1 for one in text.split(b"\n", following)[:following])
    _add_bare(found, bare_rows(text[: stop - 1], header.names, header.delimiter, sound, found.path), header, line)
    return others[following], begin + stop, line + following


def _sound(names: list[str]) -> pl.Expr:
    """Whether a line with the right number of cells is a row, and no part of a name that a user gave."""
    told = [pl.coalesce(name for name in ("JobIDRaw", "JobID") if name in names).str.contains(ID).fill_null(False)]
    told += [pl.col("State").str.contains(r"^\s*[A-Za-z_]+(?: by \S+)?\+?\s*$").fill_null(True)] * ("State" in names)
    told += [pl.col("Submit").str.contains(r"[0-9]|^\s*[A-Z/a-z]*\s*$").fill_null(True)] * ("Submit" in names)
    return pl.all_horizontal(told)


def _add_bare(found: _Found, split: BareRows, header: Header, line: int) -> None:
    found.frames.append(split.frame.with_columns(pl.Series(LINE, split.at + line)))
    odd = {k: text for k, text in split.odd.items() if header_of(text) != header}
    torn = mended(odd, header.names, header.delimiter, Vocabulary(split.frame))
    found.frames.append(_frame(torn.rows, header.names, np.asarray(torn.at, np.int64) + line))
    found.mended += [line + k for k in torn.at]
    found.lost += [line + k for k in torn.lost]
    found.strange += [line + k for k in torn.strange]
    found.continued += [line + k for k in torn.inner]
    found.others[_HEADERS] += len(split.odd) - len(odd)
    found.others += Counter({_INNER: len(torn.inner), _BLANK: len(torn.blank), _STRANGE: len(torn.strange)})


def _add_quoted(found: _Found, lines: list[str], header: Header, line: int, sound: pl.Expr) -> None:
    """Read a table that another program wrote, with quotes where it had to."""
    width = len(header.names)
    records = quoted_records(lines, ["\n"] * len(lines), header.delimiter, width)
    blank, whole, at, lost = 0, [], [], []
    for row, number in zip(records.rows, records.lines, strict=True):
        if not any(cell.strip() for cell in row):
            blank += 1
        elif len(row) < width or any(row[width:]):
            lost.append(line + number - 1)
        else:
            whole.append(row[:width])
            at.append(line + number - 1)
    if len(lost) >= len(whole):  # the header is among these
        have = counted(len(lost), "row has", "rows have")
        cause = f"{have} more or fewer cells than the header: are there commas in the cells?"
        raise InputError(cause, path=found.path, line=lost[0], fix=f"export with `{COMMAND}`")
    frame = _frame(whole, header.names, np.asarray(at, np.int64))
    rest = frame.filter(~sound.fill_null(False))
    headers = [row[-1] for row in rest.rows() if [canonical(str(name)) for name in row[:-1]] == header.names]
    strange = [row[-1] for row in rest.rows() if row[-1] not in {*headers}]
    found.frames.append(frame.filter(sound.fill_null(False)))
    found.lost += lost
    found.strange += strange
    found.others[_HEADERS] += len(headers)
    found.others += Counter({_INNER: records.inner, _BLANK: blank, _STRANGE: len(strange)})


def _frame(rows: list[list[str]], names: list[str], lines: np.ndarray) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")
    return frame.with_columns(pl.all().replace("", None)).with_columns(pl.Series(LINE, lines, pl.Int64))
