"""Measured step times: the CSV that ``pointsman profile fit`` reads."""

from collections.abc import Sequence
from math import nan
from pathlib import Path
from typing import Final, NamedTuple

from pointsman.errors import InputError
from pointsman.inputs.messages import counted
from pointsman.speed.laws.allreduce import GangShape
from pointsman.speed.measured_rows import ABOUT, Columns, Row, read_rows
from pointsman.speed.profiles.catalogue import Catalogue, load_catalogue

COLUMNS: Final = Columns(
    required=("model", "gpu_type", "gpus", "nodes", "batch_per_gpu", "step_s"),
    optional=("sync_s", "gpus_per_node", "gradient_bytes", "memory_bytes", "parts"),
    about=("samples_per_s", *ABOUT),
)

GpusOfNodes = tuple[int, ...]
"""GPUs on each node, most first."""


class Step(NamedTuple):
    """One measured step time."""

    line: int
    """The line of the file; 0 where there is none."""
    model: str
    gpu_type: str
    placement: GpusOfNodes
    batch_per_gpu: float
    step_s: float
    sync_s: float
    """The part of the step that waited for communication; NaN if not measured."""
    gradient_bytes: float
    """What each GPU puts into the all-reduce; NaN if it takes part in none and nothing is known of it."""
    memory_bytes: float = nan
    """GPU memory that the step took, without that of the CUDA context; NaN if not measured."""
    is_unsteady: bool = False
    """Whether the rounds of the measurement differ by more than the default limit."""

    @property
    def shape(self) -> GangShape:
        """The gang's nesting; its nodes count as one rack."""
        nodes = len(self.placement)
        return GangShape((self.placement[0], nodes, 1, 1), (self.placement[-1], nodes, 1, 1))


def read_steps(path: str | Path, catalogue: Catalogue | None = None) -> list[Step]:
    """The rows of a measurements file (``docs/formats/measurements.md``), names as the catalogue has them.

    Rows of batches that were cut into parts are passed over: the law is of one pass.

    Raises:
        InputError: it cannot be read, or a row is wrong; the message has file, line, cause and fix.
    """
    known = catalogue or load_catalogue()
    rows = [row for row in read_rows(path, COLUMNS) if row.is_whole("parts")]
    if not rows:
        raise InputError("no step computes its batch at once", path=path, fix="measure batches in one part, too")
    steps = [_step(row, known) for row in rows]
    _check_gradients(steps, path)
    return steps


def placement_text(placement: GpusOfNodes) -> str:
    """``4-4-2``: GPUs on each node."""
    return "-".join(map(str, placement))


def _step(row: Row, catalogue: Catalogue) -> Step:
    step_s, sync_s = row.number("step_s"), row.number("sync_s", least=0, optional=True)
    if sync_s >= step_s:
        raise row.wrong(f"sync_s is {sync_s:g} of a step of {step_s:g} s", "it is the part that waited, in seconds")
    model = row.text("model")
    known = catalogue.knows(model)
    placement = _placement(row)
    gradient = row.number("gradient_bytes", optional=True)
    if gradient != gradient and known:
        gradient = catalogue.model(model).gradient.bytes
    if gradient != gradient and sum(placement) > 1:
        fix = "add a column gradient_bytes, or describe the model with --profiles FILE"
        raise row.wrong(f"model {model!r} is not in the catalogue, so its gradient's size is unknown", fix)
    name = catalogue.model_name(model) if known else model
    batch, kind = row.number("batch_per_gpu"), row.gpu_type(catalogue)
    memory = row.number("memory_bytes", optional=True)
    return Step(row.line, name, kind, placement, batch, step_s, sync_s, gradient, memory, row.is_unsteady)


def _placement(row: Row) -> GpusOfNodes:
    gpus, nodes = row.count("gpus"), row.count("nodes")
    if not row.has("gpus_per_node"):
        if nodes > gpus:
            raise row.wrong(f"{counted(gpus, 'GPU')} on {counted(nodes, 'node')}", "every node has at least one")
        return tuple((gpus + i) // nodes for i in reversed(range(nodes)))
    text = row.text("gpus_per_node")
    parts = text.split("-")
    if not all(part.isascii() and part.isdecimal() and int(part) for part in parts):
        raise row.wrong(f"gpus_per_node is {text!r}", "write it like 4-4-2")
    placement = tuple(sorted(map(int, parts), reverse=True))
    if (len(placement), sum(placement)) != (nodes, gpus):
        said = f"{counted(gpus, 'GPU')} on {counted(nodes, 'node')}"
        raise row.wrong(f"gpus_per_node {text!r} is not {said}", "one number for each node, together gpus")
    return placement


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
