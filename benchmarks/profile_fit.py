"""``python -m benchmarks profiles [--record]``: the speed model against what others measured.

Fits α, β, δ and a network law to every table of step times in ``../shared/data/profiles``, and prints the relative
errors, seen and with each placement left out; then the collectives and the laws of shared links. ``--record`` writes
the tables of ``docs/results/profiles.md``.
"""

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.measures import Measure, judge, remember
from benchmarks.profile_fit_data import CATALOGUE, PROFILES, even, rows, sources
from benchmarks.profile_fit_links import collective_errors, sharing_errors
from pointsman.speed.fitting.fit_errors import GroupError, errors_left_out, errors_seen, grouped, median, reach
from pointsman.speed.fitting.fit_law import DEFAULT_DELTA, fit_platform
from pointsman.speed.fitting.measurements import Step
from pointsman.speed.fitting.step_law import PlatformLaw

PAGE = Path(__file__).parent.parent / "docs" / "results" / "profiles.md"
BEGIN, END = "<!-- measured by python -m benchmarks profiles --record -->", "<!-- end of what was measured -->"
BROKEN = 4
REACHES = ("one GPU", "one node", "several nodes")
Errors = NDArray[np.float64]


class Fitted:
    """One table of measurements, its law and the law's errors."""

    def __init__(self, source: str, steps: list[Step]) -> None:
        self.source, self.steps = source, steps
        self.law: PlatformLaw = fit_platform(steps)
        self.seen: Errors = errors_seen(steps, self.law)
        self.left_out: Errors = errors_left_out(steps, self.law)
        self.rows_left_out: Errors = _rows_left_out(steps, self.law)
        self.reach = np.array([reach(step) for step in steps])

    def groups(self, key: Callable[[Step], tuple[str, str, str]]) -> list[GroupError]:
        return grouped(self.steps, self.seen, self.left_out, key)


def _rows_left_out(steps: list[Step], law: PlatformLaw) -> Errors:
    """Errors of rows on one GPU when only that row is left out; NaN for the others."""
    errors = np.full(len(steps), np.nan)
    for i, step in enumerate(steps):
        if reach(step) == "one GPU":
            rest = [s for s in steps if s is not step]
            if any(s.model == step.model for s in rest):
                without = fit_platform(rest, kinds=(law.network.cards,), deltas=(DEFAULT_DELTA,))
                errors[i] = errors_seen([step], without)[0]
    return errors


def measures(fits: Sequence[Fitted]) -> Iterable[Measure]:
    """The figures with goals: medians over all tables together."""
    seen, out, lone, where = (
        np.concatenate([getattr(f, a) for f in fits]) for a in ("seen", "left_out", "rows_left_out", "reach")
    )
    one = where == "one GPU"
    yield Measure("profile_fit/overall_seen", 100 * median(seen), "%")
    yield Measure("profile_fit/overall_left_out", 100 * float(np.nanmedian(out)), "%")
    yield Measure("profile_fit/one_gpu_seen", 100 * median(seen[one]), "%")
    yield Measure("profile_fit/one_gpu_left_out", 100 * float(np.nanmedian(out[one])), "%")
    yield Measure("profile_fit/one_gpu_row_left_out", 100 * float(np.nanmedian(lone[one])), "%")


def _by_reach(fits: Sequence[Fitted]) -> str:
    lines = [_head("table", "rows", *(f"{r}: seen / left out" for r in ("all", *REACHES)), "one GPU: row left out")]
    for f in fits:
        cells = [f"{100 * median(f.seen):.1f} / {_pct(f.left_out)}"]
        cells += [f"{_pct(f.seen[f.reach == r])} / {_pct(f.left_out[f.reach == r])}" for r in REACHES]
        lines.append(_line(f.source, f"{len(f.steps):,}", *cells, _pct(f.rows_left_out)))
    return "\n".join(lines)


def _by_model(fits: Sequence[Fitted]) -> str:
    lines = [_head("table", "model", "δ", *(f"{r}: seen / left out" for r in REACHES))]
    for f in fits:
        for model, law in f.law.models.items():
            own = np.array([step.model == model for step in f.steps])
            cells = [
                f"{_pct(f.seen[own & (f.reach == r)])} / {_pct(f.left_out[own & (f.reach == r)])}" for r in REACHES
            ]
            spread = (own & (f.reach != "one GPU")).any()
            lines.append(_line(f.source, model, f"{law.delta:.2f}" if spread else "–", *cells))
    return "\n".join(lines)


def _networks(fits: Sequence[Fitted]) -> str:
    lines = [_head("table", "in a node, GB/s per GPU", "latency, µs", "between nodes, GB/s", "per", "latency, µs")]
    for f in fits:
        node, rack = f.law.network.node, f.law.network.rack
        cells = [f"{link.bandwidth_bytes_per_s / 1e9:.2f}" if link else "–" for link in (node, rack)]
        late = [f"{1e6 * link.latency_s:.0f}" if link else "–" for link in (node, rack)]
        lines.append(_line(f.source, cells[0], late[0], cells[1], f.law.network.cards, late[1]))
    return "\n".join(lines)


def _spread(t4: Fitted) -> str:
    """Same GPUs on several nodes against one node: the fitted law's ratio against the measured one."""
    lines = [_head("model", "rows", "measured, median", "predicted, median", "median error, %")]
    table = [r for r in rows("one_node_vs_spread.csv") if r["cluster"] == "aws"]
    for name in sorted({r["model"] for r in table}):
        own = [r for r in table if r["model"] == name]
        spread, together = (
            t4.law.predict_s([_unmeasured(name, int(r["n_gpus"]), int(r["n_nodes"]) if s else 1, r) for r in own])
            for s in (True, False)
        )
        measured = np.array([float(r["step_vs_one_node"]) for r in own])
        ratio = spread / together
        lines.append(
            _line(
                name,
                str(len(own)),
                f"{median(measured):.2f}",
                f"{median(ratio):.2f}",
                _pct(np.abs(ratio / measured - 1)),
            )
        )
    return "\n".join(lines)


def _unmeasured(name: str, gpus: int, nodes: int, row: dict[str, str]) -> Step:
    model = CATALOGUE.model_name(name)
    size = CATALOGUE.models[model].gradient.bytes
    return Step(0, model, "t4", even(gpus, nodes), float(row["local_batch"]), 1.0, np.nan, size)


def _collectives() -> str:
    lines = [_head("cluster", "GPUs per node", "rows", "own line, %", "one law: from 1 MB, %", "below 1 MB, %")]
    for e in collective_errors():
        cells = (f"{100 * v:.1f}" for v in (e.own, e.large, e.small))
        lines.append(_line(e.cluster, e.layout, f"{e.rows:,}", *cells))
    return "\n".join(lines)


def _sharing() -> str:
    lines = [_head("law", "median, %", "90th percentile, %", "pairs left out: median, %")]
    lines += [_line(e.law, *(f"{100 * v:.1f}" for v in (e.median, e.p90, e.left_out))) for e in sharing_errors()]
    return "\n".join(lines)


def _pct(errors: Errors) -> str:
    known = errors[~np.isnan(errors)]
    return f"{100 * float(np.median(known)):.1f}" if len(known) else "–"


def _head(*names: str) -> str:
    return _line(*names) + "\n" + "|---" * len(names) + "|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def main(arguments: Sequence[str]) -> int:
    """Fit, print, and with ``--record`` keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks profiles", description=__doc__)
    parser.add_argument("--record", action="store_true", help="write docs/results/profiles.md, and add to budgets.yaml")
    options = parser.parse_args(arguments)
    if not PROFILES.is_dir():
        parser.error(f"no measurements: {PROFILES} is absent")
    fits = [Fitted(source, steps) for source, steps in sources().items()]
    figures, holds = judge(measures(fits))
    parts = {
        "Over everything": _goals(figures),
        "By table": _by_reach(fits),
        "By model": _by_model(fits),
        "The networks found": _networks(fits),
        "Spread against one node, T4": _spread(fits[0]),
        "Collectives": _collectives(),
        "Two jobs on one link": _sharing(),
    }
    text = "".join(f"\n### {title}\n\n{table}\n" for title, table in parts.items())
    print(text)
    if options.record:
        remember(figures)
        head, _, rest = PAGE.read_text().partition(BEGIN)
        _, _, tail = rest.partition(END)
        PAGE.write_text(f"{head}{BEGIN}\n{text}\n{END}{tail}")
    return 0 if holds else BROKEN


def _goals(figures: Sequence[Measure]) -> str:
    names = {
        "overall_seen": ("all rows, seen", "8"),
        "overall_left_out": ("all rows, their placement left out", "8"),
        "one_gpu_seen": ("rows on one GPU, seen", "5"),
        "one_gpu_left_out": ("rows on one GPU, every row on one GPU left out", "5"),
        "one_gpu_row_left_out": ("rows on one GPU, only that row left out", "–"),
    }
    lines = [_head("median relative error, all tables together", "goal, %", "found, %")]
    lines += [_line(*names[m.name.partition("/")[2]], f"{m.value:.1f}") for m in figures]
    return "\n".join(lines)
