"""Tables of measured cells, as Markdown."""

from collections.abc import Iterable, Sequence
from statistics import median

from benchmarks.network.cells import BASE, Entry
from benchmarks.network.runs import Measured
from benchmarks.results.figures import markdown
from pointsman.report.metrics.confidence import Interval
from pointsman.report.units import NOTHING, count, digits, duration, percent

DETAIL = (
    "network", "policy", "knows", "mean JCT", "Dally against it", "95 % CI", "p99 JCT", "mean queueing", "p99",
    "waits for communication, a job", "Dally against it", "95 % CI", "of GPU time",
    "gangs on a node / in a rack / beyond", "above bound", "preemptions a job",
)  # fmt: skip
VERIFIED = ("fifo", "fifo-backfill", "srtf", "tiresias")
OPEN, BATCH = ("allocated", "counted / censored"), ("makespan", "bound", "Dally against it", "95 % CI")


def detail(found: Iterable[Measured]) -> str:
    """Every figure of every policy; those of batches have a makespan, others a window."""
    rows = [(f"{one.cell.congestion:g}x", *_detail_row(one, entry)) for one in found for entry in one.entries]
    return markdown((*DETAIL, *(BATCH if len(rows[0]) > len(DETAIL) + len(OPEN) else OPEN)), rows, words=3)


def _detail_row(one: Measured, entry: Entry) -> tuple[str, ...]:
    def mean(figure: str) -> float:
        return one.mean(entry.label, figure)

    return (
        named(entry),
        entry.knows,
        duration(mean("jct_s")),
        *_change(one, "jct_s", entry),
        duration(mean("jct_p99_s")),
        duration(mean("queued_s")),
        duration(mean("queued_p99_s")),
        duration(mean("comm_s")),
        *_change(one, "comm_s", entry),
        percent(mean("comm_share")),
        " / ".join(f"{100 * mean(level):.0f}" for level in ("node", "rack", "network")) + " %",
        percent(mean("above_bound")),
        digits(mean("preemptions")),
        *(_of_window(one, entry) if one.cell.load else _of_batch(one, entry)),
    )


def _of_window(one: Measured, entry: Entry) -> tuple[str, ...]:
    counted, censored = (count(one.values(entry.label, figure).sum()) for figure in ("counted", "censored"))
    return percent(one.mean(entry.label, "allocated")), f"{counted} / {censored}"


def _of_batch(one: Measured, entry: Entry) -> tuple[str, ...]:
    times = (duration(one.mean(entry.label, figure)) for figure in ("makespan_s", "makespan_bound_s"))
    return *times, *_change(one, "makespan_s", entry)


def _change(one: Measured, figure: str, entry: Entry) -> tuple[str, str]:
    if entry.label == BASE.label:
        return NOTHING, NOTHING
    ratio, interval = one.change(figure, entry.label)
    return signed(ratio), between(interval)


def named(entry: Entry) -> str:
    """Its label, and whether no published figure has been reproduced with it (``benchmarks.classical.published``)."""
    return entry.label if entry.label.partition(",")[0] in VERIFIED else f"{entry.label} (unverified)"


def signed(ratio: float) -> str:
    """``+12.3 %``; beyond tenfold how many times: ``x 25``."""
    return percent(ratio, signed=True) if ratio < 9 else f"× {digits(1 + ratio)}"


def between(interval: Interval | None) -> str:
    """The ends of an interval of a change."""
    if interval is None:
        return NOTHING
    low, high = (signed(end) for end in interval)
    return f"{low.removesuffix(' %')} to {high}"


def changes(found: Sequence[Measured], figure: str, labels: Sequence[str], of: str, by: str) -> str:
    """Dally against each policy in one figure, a row a cell; `by`: gpus or load. Bold: the interval holds no 0."""
    rows = []
    for one in found:
        told = [_marked(*one.change(figure, label)) for label in labels]
        at = f"{getattr(one.cell, by):g}"
        rows.append((one.cell.workload, f"{one.cell.congestion:g}x", at, duration(one.mean(BASE.label, figure)), *told))
    return markdown(("workload", "network", of, "dally", *labels), rows, words=2)


def crossing(found: Sequence[Measured], figure: str, label: str) -> str:
    """Dally against one policy in one figure: a row for each workload, congestion and size, a column for each load."""
    loads = sorted({one.cell.load for one in found if one.cell.load})
    rows: dict[tuple[str, ...], list[str]] = {}
    for one in found:
        at = (one.cell.workload, f"{one.cell.congestion:g}x", str(one.cell.gpus))
        rows.setdefault(at, []).append(_marked(*one.change(figure, label)))
    return markdown(
        ("workload", "network", "GPUs", *(f"load {load:g}" for load in loads)),
        [(*at, *told) for at, told in rows.items()],
        words=2,
    )


def _marked(ratio: float, interval: Interval | None) -> str:
    sure = interval is not None and not interval[0] <= 0 <= interval[1]
    return f"**{signed(ratio)}**" if sure else signed(ratio)


def against(found: Sequence[Measured], figure: str, labels: Sequence[str]) -> str:
    """Each policy against Dally in one figure, a row a cell: what one loses who runs it instead."""
    rows = []
    for one in found:
        told = [_marked(*one.change(figure, BASE.label, base=label)) for label in labels]
        arrival = f"load {one.cell.load:g}" if one.cell.load else "batch"
        own = duration(one.mean(BASE.label, figure))
        rows.append((one.cell.workload, arrival, f"{one.cell.congestion:g}x", own, *told))
    return markdown(("workload", "arrivals", "network", "dally", *labels), rows, words=3)


def ranges(found: Sequence[Measured], figure: str, labels: Sequence[str]) -> list[tuple[str, ...]]:
    """Dally against each policy: the median of the cells at each congestion, with the best and the worst."""
    factors = sorted({one.cell.congestion for one in found})
    return [(label, *(_range(found, figure, label, factor) for factor in factors)) for label in labels]


def _range(found: Sequence[Measured], figure: str, label: str, congestion: float) -> str:
    ratios = [one.change(figure, label)[0] for one in found if one.cell.congestion == congestion]
    return f"{signed(median(ratios))} ({signed(min(ratios))} to {signed(max(ratios))})"


def overview(found: Sequence[Measured]) -> str:
    """Mean JCT and communication of every policy, a pair of columns a workload."""
    head, rows = ["policy", "knows"], [[named(entry), entry.knows] for entry in found[0].entries]
    for one in found:
        head += [f"{one.cell.workload}: mean JCT", "Dally against it", "communication a job"]
        for row, entry in zip(rows, one.entries, strict=True):
            row += [duration(one.mean(entry.label, "jct_s")), _change(one, "jct_s", entry)[0]]
            row.append(duration(one.mean(entry.label, "comm_s")))
    return markdown(head, rows, words=2)


def shapes(found: Sequence[Measured]) -> str:
    """Who waits for communication, and how many gangs wider than a node are on more nodes than they need."""
    head, rows = ["policy"], [[entry.label] for entry in found[0].entries]
    for one in found:
        head += [f"{one.cell.workload}: gangs within a node's size", "wider ones", "on more nodes than they need"]
        for row, entry in zip(rows, one.entries, strict=True):
            row += [duration(one.mean(entry.label, figure)) for figure in ("narrow_comm_s", "wide_comm_s")]
            row.append(percent(one.mean(entry.label, "wide_scattered")))
    return markdown(head, rows)
