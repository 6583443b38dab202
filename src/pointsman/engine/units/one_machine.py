"""One machine that serves jobs by their shortest remaining time: what no schedule of a cluster can beat."""

from numpy.typing import NDArray

from pointsman.engine.jit.compile import core, exported
from pointsman.engine.state.records import Int

NOW, ENDS = 0, 1
"""Where `serve` writes the time of the last submission, and the sum of the ends before it."""


@exported("int64(float64[::1], float64[::1], float64[::1], float64[::1])")
def serve(submit: NDArray, work: NDArray, left: NDArray, told: NDArray) -> Int:
    """Serve jobs up to the last submission, whichever has least left; how many then wait. O(n log n).

    Args:
        submit: submit times (n,), ascending.
        work: the time each needs of the machine (n,).
        left: a binary heap (n,): of those that then wait, what each still needs.
        told: (2,) `NOW` and `ENDS`.
    """
    waiting = 0
    now = ends = 0.0
    for k in range(len(submit)):
        while waiting > 0 and now + left[0] <= submit[k]:
            now += left[0]
            ends += now
            waiting -= 1
            _sift_down(left, waiting, left[waiting])
        if waiting > 0:
            left[0] -= submit[k] - now  # the least of a heap only gets smaller, so it stays a heap
        now = submit[k]
        _sift_up(left, waiting, work[k])
        waiting += 1
    told[NOW] = now
    told[ENDS] = ends
    return waiting


@core
def _sift_up(heap: NDArray, at: Int, value: float) -> None:
    while at > 0 and value < heap[(at - 1) // 2]:
        heap[at] = heap[(at - 1) // 2]
        at = (at - 1) // 2
    heap[at] = value


@core
def _sift_down(heap: NDArray, size: Int, value: float) -> None:
    at = 0
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and heap[child + 1] < heap[child]:
            child += 1
        if value <= heap[child]:
            break
        heap[at] = heap[child]
        at = child
    heap[at] = value
