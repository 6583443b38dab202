"""What a simulation looks like, as text or as pixels: which job holds each GPU, and the queue. NumPy alone draws."""

from collections.abc import Iterator
from colorsys import hsv_to_rgb
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.sdk.environments import State
from pointsman.types import JobState

RenderMode = Literal["ansi", "rgb_array"]
RENDER_FPS: Final = 4
"""Frames per second of a film of decisions."""
FREE: Final = -1
TALLEST, WIDEST_QUEUED = 32, 16
"""Nodes in one column of the picture; squares of a queued job, the rest of which is cut off."""
PITCH_PX, GAP_PX = 12, 2
PAPER, IDLE = (255, 255, 255), (225, 228, 232)
HUE_STEP = 0.618034
"""The golden ratio: consecutive jobs have colours far apart."""
_HOLDING = (int(JobState.STARTING), int(JobState.RUNNING), int(JobState.STOPPING))


def holders(state: State) -> NDArray[np.int64]:
    """(GPUs,) the job, by its row in the workload, to which each GPU is allocated; FREE where it is to none."""
    found = np.full(len(state.gpus), FREE, np.int64)
    jobs = state.jobs[: int(state.g["slots"][0])]
    for j in np.flatnonzero(np.isin(jobs["state"], _HOLDING)):
        for gpu in _gpus_of(state, int(jobs["part"][j])):
            found[gpu] = jobs["row"][j]
    return found


def _gpus_of(state: State, part: int) -> Iterator[int]:
    while part >= 0:
        node, mask, _, part = state.parts[part].tolist()
        first, count = state.nodes[["gpu0", "gpus"]][node].tolist()
        yield from (first + b for b in range(count) if mask >> b & 1)


def as_text(state: State, window: NDArray[np.int64], layout: Layout) -> str:
    """A line for the cluster, one for each node with the job on each of its GPUs, and one for the queue."""
    g, held, queued = state.g[0], holders(state), window[window >= 0]
    now, free = int(g["now"]) / 1000.0, int(g["free"])
    lines = [
        f"{now:,.0f} s: {len(held) - free} of {len(held)} GPUs allocated; jobs: {g['running']} running, "
        f"{g['pending']} pending"
    ]
    digits = len(str(max(held.max(), 0)))
    name_width = max(map(len, layout.node_names))
    for name, gpus in zip(layout.node_names, np.split(held, np.cumsum(layout.node_gpus)[:-1]), strict=True):
        jobs = " ".join(("." if job == FREE else str(job)).rjust(digits) for job in gpus.tolist())
        lines.append(f"{name:{name_width}}  {jobs}")
    shown = [f"job {job['row']} ({job['asked']} GPU{'' if job['asked'] == 1 else 's'})" for job in state.jobs[queued]]
    beyond = int(g["pending"]) - len(shown)
    shown += [f"{beyond} more"] if beyond else []
    return "\n".join([*lines, f"queue: {', '.join(shown) or 'empty'}"])


def as_pixels(state: State, window: NDArray[np.int64], layout: Layout) -> NDArray[np.uint8]:
    """(height, width, 3) pixels: a square for each GPU, a line for each node, a column for each rack, and on the right
    a line of squares for each queued job. A job keeps its colour; idle GPUs are grey. The shape depends on the cluster
    and the number of slots alone.
    """
    lines, columns = _places(layout)
    left = int(columns.max()) + int(layout.node_gpus.max()) + 2
    cells = np.full((max(int(lines.max()) + 1, len(window)), left + WIDEST_QUEUED, 3), PAPER, np.uint8)
    gpu_in_node = np.concatenate([np.arange(n) for n in layout.node_gpus])
    node_of = np.repeat(np.arange(len(layout.node_gpus)), layout.node_gpus)
    cells[lines[node_of], columns[node_of] + gpu_in_node] = [_colour(job) for job in holders(state).tolist()]
    for line, job in enumerate(state.jobs[window[window >= 0]]):
        cells[line, left : left + int(job["asked"])] = _colour(int(job["row"]))
    return _enlarge(cells)


def _places(layout: Layout) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(M,) line of each node and column of its first GPU."""
    lines, columns = np.zeros((2, len(layout.node_gpus)), np.int64)
    for n in range(1, len(lines)):
        below = layout.node_rack[n] == layout.node_rack[n - 1] and lines[n - 1] + 1 < TALLEST
        lines[n] = lines[n - 1] + 1 if below else 0
        columns[n] = columns[n - 1] + (0 if below else int(layout.node_gpus.max()) + 1)
    return lines, columns


def _colour(job: int) -> tuple[int, int, int]:
    if job == FREE:
        return IDLE
    red, green, blue = (round(255 * part) for part in hsv_to_rgb(job * HUE_STEP % 1.0, 0.7, 0.85))
    return red, green, blue


def _enlarge(cells: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Enlarges each cell to `PITCH_PX` pixels, `GAP_PX` of them the gap before it, with such a gap at the end."""
    pixels = np.pad(cells.repeat(PITCH_PX, 0).repeat(PITCH_PX, 1), ((0, GAP_PX), (0, GAP_PX), (0, 0)))
    for gap in range(GAP_PX):
        pixels[gap::PITCH_PX] = pixels[:, gap::PITCH_PX] = PAPER
    return pixels
