"""The bytes of a log: from a file or standard input, decompressed, with their hash."""

import gzip
import hashlib
import io
import os
import re
import signal
import sys
import threading
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Final

from pointsman.errors import InputError, UsageError
from pointsman.inputs.binary_table import kind_of_table
from pointsman.workload.rules.kept_columns import Keep

MOST_UNPACKED: Final = "POINTSMAN_MOST_UNPACKED"
"""The environment variable that says how large a packed file may become."""
_PIECE, _STORED_PIECE = 1 << 24, 1 << 12
"""Bytes read at once: unpacked, and packed where a small piece may unpack to much."""

_REPLACEMENT: Final = "\ufffd".encode()
_NO_TEXT: Final = b"\xff"
"""In the place of a NUL byte: it is no UTF-8 either."""
_MOST_BROKEN: Final = 0.25
"""Share of a file's bytes that are not UTF-8 from which on it is no text."""

_BINARY = {
    b"PK\x03\x04": "a zip archive (or spreadsheet); unpack it, or save the sheet as CSV",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG picture",
    b"\x89HDF": "an HDF5 file; write the table as CSV or Parquet",
    b"SQLite": "an SQLite database; export the table as CSV",
    b"BZh": "bzip2; decompress it, or use gzip or zstd",
    b"\xfd7zXZ": "xz; decompress it, or use gzip or zstd",
    b"\x80\x04": "a Python pickle, which is not read because it can run code",
    b"\x80\x05": "a Python pickle, which is not read because it can run code",
}


@dataclass(frozen=True)
class Source:
    """A log in memory: its name for messages, its decompressed bytes, the hash of the bytes as stored."""

    path: str
    data: bytes
    sha256: str
    keep: Keep = field(default_factory=dict)
    """Columns of its own that are kept."""

    @property
    def is_parquet(self) -> bool:
        return self.data[:4] == b"PAR1"

    @property
    def is_binary_table(self) -> bool:
        """Whether it is Parquet or Arrow."""
        return kind_of_table(self.data) != ""

    @cached_property
    def text(self) -> str:
        """The bytes as UTF-8 text without a byte order mark.

        Raises:
            InputError: binary or wrongly encoded bytes.
        """
        return self.utf8.decode("utf-8")

    @cached_property
    def first_line(self) -> str:
        """The first line of the text, without its end."""
        data = self.utf8
        end = data.find(b"\n")
        return (data if end < 0 else data[:end]).decode().strip("\r")

    @property
    def utf8(self) -> bytes:
        """The content, checked but still bytes; a byte that is no UTF-8, or NUL, becomes U+FFFD, REPLACEMENT
        CHARACTER.
        """
        return self._checked[0]

    @property
    def broken(self) -> tuple[int, int]:
        """How many bytes were no UTF-8, of what was read as text, and the line of the first."""
        return self._checked[1:] if "_checked" in self.__dict__ else (0, 0)

    @property
    def replaced(self) -> str:
        """A note on bytes that were no UTF-8; empty if there are none, or if nothing was read as text."""
        count, line = self.broken
        how = "`iconv -f latin1 -t utf-8` converts the file, if it is in Latin-1"
        return (
            f"bytes that are not UTF-8 text, replaced in their cells: {count:,}, the first in line {line:,}; {how}"
            if count
            else ""
        )

    @cached_property
    def _checked(self) -> tuple[bytes, int, int]:
        """The text's bytes, how many were no UTF-8, and the line of the first that was not."""
        data = self.data.removeprefix(b"\xef\xbb\xbf").replace(b"\0", _NO_TEXT)
        if data.isascii():
            return data, 0, 0
        try:
            data.decode("utf-8")
        except UnicodeDecodeError as error:
            return self._mend(data, _line(data, error.start))
        return data, 0, 0

    def _mend(self, data: bytes, line: int) -> tuple[bytes, int, int]:
        mended = data.decode("utf-8", "replace").encode()
        broken = mended.count(_REPLACEMENT) - data.count(_REPLACEMENT)
        if broken > _MOST_BROKEN * len(data):
            raise self.no_text(line)
        return mended, broken, line

    def no_text(self, line: int) -> InputError:
        """The error for a file with bytes that are no text, the first of them in `line`."""
        if b"\0" in self.data:
            fix = "give a text file; one in UTF-16 becomes one with `iconv -f utf-16 -t utf-8`"
            return InputError("not a text file: it holds NUL bytes", path=self.path, line=line, fix=fix)
        return InputError("not UTF-8", path=self.path, line=line, fix="convert it, e.g. `iconv -f latin1 -t utf-8`")


def open_source(path: str | Path, keep: Keep = MappingProxyType({})) -> Source:
    """Read and decompress `path` (`-`: standard input); gzip and zstd are known by their first bytes. `keep`: columns
    of its own that readers keep.

    Raises:
        InputError: unreadable, truncated, binary or empty.
    """
    name = str(path)
    stored = _read_bytes(name)
    data = _decompress(stored, name)
    if not data or data.isspace():
        raise InputError("the file is empty", path=name, fix="give a job log with at least one job")
    for magic, what in _BINARY.items():
        if data.startswith(magic):
            kind, _, fix = what.partition("; ")
            raise InputError(f"this is {kind}", path=name, fix=fix or "give the job log as text or Parquet")
    return Source(name, data, hashlib.sha256(stored).hexdigest(), keep)


def _standard_input() -> bytes:
    """All of it. Ctrl-C ends the wait: polars' handler would have the read restarted."""
    if threading.current_thread() is threading.main_thread():
        signal.siginterrupt(signal.SIGINT, True)
    return sys.stdin.buffer.read()


def _read_bytes(name: str) -> bytes:
    try:
        return _standard_input() if name == "-" else _of_file(Path(name))
    except FileNotFoundError:
        raise InputError("no such file", path=name, fix=_neighbour(Path(name))) from None
    except IsADirectoryError:
        raise InputError("this is a directory", path=name, fix="name the job log inside it") from None
    except (OSError, ValueError) as error:
        cause = f"cannot be read: {getattr(error, 'strerror', None) or error}"
        raise InputError(cause, path=name, fix="check the path and your right to read it") from None


def _of_file(path: Path) -> bytes:
    if path.is_char_device() or path.is_block_device():
        raise InputError("this is a device, not a file", path=path, fix="give a job log")
    return path.read_bytes()


def _neighbour(path: Path) -> str:
    from difflib import get_close_matches

    try:
        near = get_close_matches(path.name, [p.name for p in path.parent.iterdir()], 1)
    except OSError:
        return f"the folder {path.parent} does not exist either"
    return f"did you mean {path.parent / near[0]}?" if near else "check the path"


def _decompress(data: bytes, name: str) -> bytes:
    fix = "fetch the file again"
    if data[:2] == b"\x1f\x8b":
        try:
            return _join(_gunzip(data), name)
        except EOFError:
            raise InputError("the gzip file is truncated", path=name, fix=fix) from None
        except (OSError, zlib.error) as error:
            raise InputError(f"the gzip file is damaged: {error}", path=name, fix=fix) from None
    if data[:4] == b"\x28\xb5\x2f\xfd":
        return _join(_unzstd(data, name, fix), name)
    return data


def most_unpacked_bytes() -> int:
    """How large a packed file may become.

    Raises:
        UsageError: the environment says something that is no size.
    """
    text = os.environ.get(MOST_UNPACKED, "4GiB")
    found = re.fullmatch(r"(\d{1,6})\s*([KMGT])iB", text.strip())
    if found is None:
        raise UsageError(f"{MOST_UNPACKED} = {text!r:.60}: write a size such as 16GiB")
    return int(found[1]) << {"K": 10, "M": 20, "G": 30, "T": 40}[found[2]]


def _join(parts: Iterator[bytes], name: str) -> bytes:
    """All of them, if that is not too much: a few megabytes can unpack to more than the memory holds."""
    most, size, kept = most_unpacked_bytes(), 0, []
    for part in parts:
        size += len(part)
        if size > most:
            fix = f"if it is a log that long, let {MOST_UNPACKED} name a larger size, such as 16GiB"
            raise InputError(f"it unpacks to more than {most / 2**30:.4g} GiB", path=name, fix=fix)
        kept.append(part)
    return b"".join(kept)


def _gunzip(data: bytes) -> Iterator[bytes]:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        while part := file.read(_PIECE):
            yield part


def _unzstd(data: bytes, name: str, fix: str) -> Iterator[bytes]:
    import zstandard

    at = 0
    while at < len(data):
        frame = zstandard.ZstdDecompressor().decompressobj()
        while not frame.eof and at < len(data):
            try:
                yield frame.decompress(data[at : at + _STORED_PIECE])
            except zstandard.ZstdError as error:
                raise InputError(f"the zstd file is damaged: {error}", path=name, fix=fix) from None
            at += _STORED_PIECE
        if not frame.eof:
            raise InputError("the zstd file is truncated", path=name, fix=fix)
        at = min(at, len(data)) - len(frame.unused_data)


def _line(data: bytes, offset: int) -> int:
    return data.count(b"\n", 0, offset) + 1
