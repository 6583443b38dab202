"""What the runs of one job come to: GPUs and a run time at their GPU-hours."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Attempt(NamedTuple):
    """One run of a job, in seconds since 1970."""

    start_s: float | None
    end_s: float | None
    gpus: int


class Ran(NamedTuple):
    """What a job used."""

    gpus: float | None = None
    duration_s: float | None = None
    start_s: float | None = None
    end_s: float | None = None
    cut: bool = False
    """Some attempts have no start, or no end after it, and are left out."""
    overlapping: bool = False
    resized: bool = False
    """They ran on different numbers of GPUs."""


class _Span(NamedTuple):
    start_s: float
    end_s: float
    gpus: int


def ran(attempts: Sequence[Attempt]) -> Ran | None:
    """GPUs and run time of a job, and its first start and last end; None if no attempt has a start and an end.

    The GPUs are those on which it spent most GPU time. The run time is all GPU time divided by them, and at most from
    the first start to the last end. Where attempts overlap, the wider one counts; one whose GPUs are not known has
    those of the job.
    """
    whole = [_Span(a.start_s, a.end_s, a.gpus) for a in attempts if a.start_s is not None and a.end_s is not None]
    if not whole:
        return None
    spans = [span for span in whole if span.end_s >= span.start_s]
    if not spans:  # all of them backwards: a negative run time
        first = whole[0]
        backwards = sum(span.end_s - span.start_s for span in whole)
        return Ran(first.gpus, backwards, first.start_s, first.end_s, cut=len(whole) < len(attempts))
    start_s, end_s = min(span.start_s for span in spans), max(span.end_s for span in spans)
    widths = {span.gpus for span in spans if span.gpus}
    lengths = _time_on(spans)
    gpus = max(lengths, key=lambda width: (width * lengths[width], width), default=0) or max(widths, default=0)
    gpu_s = sum((width or gpus) * length for width, length in lengths.items())
    length_s = min(gpu_s / gpus, end_s - start_s) if gpus else sum(lengths.values())
    return Ran(
        gpus, length_s, start_s, end_s,
        cut=len(spans) < len(attempts),
        overlapping=sum(lengths.values()) < sum(span.end_s - span.start_s for span in spans),
        resized=len(widths) > 1,
    )  # fmt: skip


def _time_on(spans: Sequence[_Span]) -> dict[int, float]:
    """Seconds on each number of GPUs, of the time that at least one of the spans covers."""
    times = sorted({time for span in spans for time in span[:2]})
    found: dict[int, float] = defaultdict(float)
    for begin, end in pairwise(times):
        widths = [span.gpus for span in spans if span.start_s <= begin and span.end_s >= end]
        if widths:
            found[max(widths)] += end - begin
    return found
