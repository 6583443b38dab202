"""Tables of measured cells, as Markdown."""

from collections.abc import Iterable, Sequence
from math import isnan

from benchmarks.network.runs import Measured
from benchmarks.network.tables import between, signed
from benchmarks.results.figures import markdown
from benchmarks.sharing.entries import BSBF, Entry
from pointsman.report.units import NOTHING, count, digits, duration, percent

VERIFIED = ("fifo", "srtf", "tiresias")
"""With these a published figure was reproduced (``benchmarks.classical.published``)."""

DETAIL = (
    "policy", "knows", "mean JCT", "sjf-bsbf against it", "95 % CI", "p95", "p99", "queueing", "≤ 4 GPUs", "wider",
    "above bound", "shared", "accumulated", "slow-down", "run time over solo", "preemptions a job", "makespan",
    "counted / censored",
)  # fmt: skip


def named(entry: Entry) -> str:
    """Its label, and whether no published figure has been reproduced with it."""
    return entry.label if entry.policy in VERIFIED else f"{entry.label} (unverified)"


def detail(one: Measured) -> str:
    """Every figure of every policy."""
    return markdown(DETAIL, [_detail_row(one, entry) for entry in one.entries], words=2)


def _detail_row(one: Measured, entry: Entry) -> tuple[str, ...]:
    def mean(figure: str) -> float:
        return one.mean(entry.label, figure)

    counted, censored = (count(one.values(entry.label, figure).sum()) for figure in ("counted", "censored"))
    return (
        named(entry),
        entry.knows,
        duration(mean("jct_s")),
        *change(one, entry.label),
        *(duration(mean(f"{figure}_s")) for figure in ("jct_p95", "jct_p99", "queued", "small_jct", "large_jct")),
        shown(mean("above_bound")),
        *(percent(mean(figure)) for figure in ("shared", "accumulated")),
        digits(mean("slow_down")) if mean("shared") else NOTHING,
        NOTHING if entry.adapts else percent(mean("slowed")),
        digits(mean("preemptions")),
        _makespan(mean("makespan_s"), mean("makespan_bound_s")),
        f"{counted} / {censored}",
    )


def _makespan(measured_s: float, bound_s: float) -> str:
    return duration(measured_s) if isnan(bound_s) else f"{duration(measured_s)} (≥ {duration(bound_s)})"


def shown(ratio: float) -> str:
    """In percent; nothing where it is not known."""
    return NOTHING if isnan(ratio) else percent(ratio)


def change(one: Measured, label: str, base: str = BSBF.label, figure: str = "jct_s") -> tuple[str, str]:
    """Of `base` against `label`, with its interval."""
    if base == label:
        return NOTHING, NOTHING
    ratio, interval = one.change(figure, label, base)
    return signed(ratio), between(interval)


def marked(one: Measured, label: str, base: str = BSBF.label, figure: str = "jct_s") -> str:
    """Of `base` against `label`; bold where the interval holds no 0."""
    if base == label:
        return NOTHING
    ratio, interval = one.change(figure, label, base)
    sure = interval is not None and not interval[0] <= 0 <= interval[1]
    return f"**{signed(ratio)}**" if sure else signed(ratio)


def with_interval(one: Measured, label: str, base: str = BSBF.label, figure: str = "jct_s") -> str:
    """``-12.3 % (-20.1 to -4.5 %)``."""
    ratio, interval = change(one, label, base, figure)
    return f"{ratio} ({interval})"


def against(
    found: Iterable[tuple[Sequence[str], Measured]], heads: Sequence[str], labels: Sequence[str], figure: str = "jct_s"
) -> str:
    """`sjf-bsbf` against each policy, a row a cell that begins with the words given."""
    rows = [
        (*words, duration(one.mean(BSBF.label, figure)), *(marked(one, label, figure=figure) for label in labels))
        for words, one in found
    ]
    return markdown((*heads, "sjf-bsbf", *labels), rows, words=len(heads))
