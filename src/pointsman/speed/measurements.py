"""Measured step times: the CSV that ``pointsman profile fit`` reads."""

import csv
from collections.abc import Iterator, Sequence
from math import isfinite, nan
from pathlib import Path
from typing import Any, Final, NamedTuple, TextIO

from pointsman.errors import InputError, UsageError
from pointsman.speed.allreduce import GangShape
from pointsman.speed.catalogue import Catalogue, load_catalogue
from pointsman.suggestion import did_you_mean

REQUIRED: Final = ("model", "gpu_type", "gpus", "nodes", "batch_per_gpu", "step_s")
OPTIONAL: Final = ("sync_s", "gpus_per_node", "gradient_bytes")

Placement = tuple[int, ...]
"""GPUs on each node, most first."""


class Step(NamedTuple):
    """One measured step time."""

    line: int
    """Of the file; 0 where there is none."""
    model: str
    gpu_type: str
    placement: Placement
    batch_per_gpu: float
    step_s: float
    sync_s: float
    """The part of the step that waited for communication; NaN if not measured."""
    gradient_bytes: float
    """What each GPU puts into the all-reduce; NaN if it takes part in none and nothing is known of it."""

    @property
    def shape(self) -> GangShape:
        """The gang's nesting; its nodes count as one rack."""
        nodes = len(self.placement)
        return GangShape((self.placement[0], nodes, 1, 1), (self.placement[-1], nodes, 1, 1))


def read_steps(path: str | Path, catalogue: Catalogue | None = None) -> list[Step]:
    """The rows of a measurements file (``docs/formats/measurements.md``), names as the catalogue has them.

    Raises:
        InputError: it cannot be read, or a row is wrong; the message has file, line, cause and fix.
    """
    known = catalogue or load_catalogue()
    with _opened(path) as file:
        try:
            steps = list(_steps(csv.reader(file, strict=True), str(path), known))
        except UnicodeDecodeError:
            raise InputError("binary data, not UTF-8 text", path=path, fix="give a CSV file") from None
    if not steps:
        raise InputError("no measurements: only a header", path=path)
    _check_gradients(steps, path)
    return steps


def placement_text(placement: Placement) -> str:
    """``4-4-2``: GPUs on each node."""
    return "-".join(map(str, placement))


def _opened(path: str | Path) -> TextIO:
    try:
        return Path(path).open(encoding="utf-8-sig", newline="")
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path=path) from None


def _steps(rows: Any, path: str, catalogue: Catalogue) -> Iterator[Step]:
    header: list[str] | None = None
    while True:
        try:
            cells = next(rows, None)
        except csv.Error as error:
            raise InputError(f"not valid CSV: {error}", path=path, line=rows.line_num) from None
        if cells is None:
            break
        if not any(cell.strip() for cell in cells):
            continue
        if header is None:
            header = _header(cells, path, rows.line_num)
        else:
            yield _Row(header, cells, path, rows.line_num).step(catalogue)
    if header is None:
        raise InputError("the file is empty", path=path, fix=f"its header is {','.join(REQUIRED)}")


def _header(cells: Sequence[str], path: str, line: int) -> list[str]:
    names = [cell.strip() for cell in cells]
    for i, name in enumerate(names):
        if name not in REQUIRED + OPTIONAL:
            fix = did_you_mean(name, REQUIRED + OPTIONAL)
            raise InputError(f"unknown column {name!r}", path=path, line=line, fix=fix)
        if name in names[:i]:
            raise InputError(f"column {name!r} is there twice", path=path, line=line, fix="leave one out")
    for name in REQUIRED:
        if name not in names:
            fix = f"columns: {', '.join(REQUIRED)}; optional: {', '.join(OPTIONAL)}"
            raise InputError(f"no column {name!r}", path=path, line=line, fix=fix)
    return names


class _Row:
    """The cells of a line, by column."""

    def __init__(self, header: list[str], cells: list[str], path: str, line: int) -> None:
        self._path, self._line = path, line
        if len(cells) != len(header):
            raise self._wrong(f"{len(cells)} cells under {len(header)} columns", "give each column one cell")
        self._cells = {name: cell.strip() for name, cell in zip(header, cells, strict=True)}

    def step(self, catalogue: Catalogue) -> Step:
        step_s, sync_s = self._number("step_s"), self._number("sync_s", least=0, optional=True)
        if sync_s >= step_s:
            raise self._wrong(
                f"sync_s is {sync_s:g} of a step of {step_s:g} s", "it is the part that waited, in seconds"
            )
        model = self._text("model")
        known = catalogue.knows(model)
        placement = self._placement()
        gradient = self._number("gradient_bytes", optional=True)
        if gradient != gradient and known:
            gradient = catalogue.model(model).gradient.bytes
        if gradient != gradient and sum(placement) > 1:
            fix = "add a column gradient_bytes, or describe the model with --profiles FILE"
            raise self._wrong(f"model {model!r} is not in the catalogue, so its gradient's size is unknown", fix)
        name = catalogue.model_name(model) if known else model
        batch, kind = self._number("batch_per_gpu"), self._gpu_type(catalogue)
        return Step(self._line, name, kind, placement, batch, step_s, sync_s, gradient)

    def _gpu_type(self, catalogue: Catalogue) -> str:
        name = self._text("gpu_type")
        try:
            return catalogue.gpu_name(name)
        except UsageError:
            fix = f"{did_you_mean(name, catalogue.gpu_types)}; --profiles FILE describes another"
            raise self._wrong(f"unknown GPU type {name!r}", fix) from None

    def _placement(self) -> Placement:
        gpus, nodes = self._count("gpus"), self._count("nodes")
        text = self._cells.get("gpus_per_node", "")
        if not text:
            if nodes > gpus:
                raise self._wrong(f"{gpus} GPUs on {nodes} nodes", "every node has at least one")
            return tuple((gpus + i) // nodes for i in reversed(range(nodes)))
        parts = text.split("-")
        if not all(part.isascii() and part.isdecimal() and int(part) for part in parts):
            raise self._wrong(f"gpus_per_node is {text!r}", "write it like 4-4-2")
        placement = tuple(sorted(map(int, parts), reverse=True))
        if (len(placement), sum(placement)) != (nodes, gpus):
            said = f"{gpus} GPUs on {nodes} nodes"
            raise self._wrong(f"gpus_per_node {text!r} is not {said}", "one number for each node, together gpus")
        return placement

    def _text(self, column: str) -> str:
        if not self._cells[column]:
            raise self._wrong(f"{column} is empty", "name it in every row")
        return self._cells[column]

    def _count(self, column: str) -> int:
        number = self._number(column)
        if number != int(number) or number > 1e6:
            raise self._wrong(f"{column} is {self._cells[column]!r}", "a whole number, 1 to 1000000")
        return int(number)

    def _number(self, column: str, *, least: float | None = None, optional: bool = False) -> float:
        """A finite number above 0, or at least `least`; NaN for what is optional and not there."""
        text = self._cells.get(column, "")
        if optional and not text:
            return nan
        try:
            number = float(text)
        except ValueError:
            number = nan
        if not isfinite(number) or (number <= 0 if least is None else number < least):
            raise self._wrong(f"{column} is {text!r}", f"a number {'above 0' if least is None else f'from {least:g}'}")
        return number

    def _wrong(self, cause: str, fix: str) -> InputError:
        return InputError(cause, path=self._path, line=self._line, fix=fix)


def _check_gradients(steps: Sequence[Step], path: str | Path) -> None:
    first: dict[str, Step] = {}
    for step in steps:
        other = first.setdefault(step.model, step)
        if other.gradient_bytes == other.gradient_bytes != step.gradient_bytes == step.gradient_bytes:
            raise InputError(
                f"{step.model} has gradients of {step.gradient_bytes:g} bytes here and of {other.gradient_bytes:g} "
                f"on line {other.line}",
                path=path,
                line=step.line,
                fix="a model has one size; give the other another name",
            )
