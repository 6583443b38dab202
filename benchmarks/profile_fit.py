"""``python -m benchmarks profiles [--record]``: the speed model against what others measured.

Fits α, β, δ and a network law to every table of step times in ``../shared/data/profiles``, and prints the relative
errors, seen and with each placement left out; then the collectives and the laws of shared links. ``--record`` writes
``docs/results/data/profiles*.csv``, and from these the figures of ``docs/results/profiles.md``.
"""

import argparse
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from benchmarks.blocks import fill
from benchmarks.measures import Measure, judge, remember
from benchmarks.profile_fit_data import CATALOGUE, PROFILES, even, rows, sources
from benchmarks.profile_fit_links import collective_errors, sharing_errors
from benchmarks.profile_page import BLOCKS, DATA, ODD, PAGE, REACHES
from pointsman.speed.fitting.fit_errors import errors_left_out, errors_seen, median, reach
from pointsman.speed.fitting.fit_law import DEFAULT_DELTA, fit_platform
from pointsman.speed.fitting.measurements import Step
from pointsman.speed.fitting.step_law import PlatformLaw

BROKEN = 4
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


def errors(fits: Sequence[Fitted]) -> pl.DataFrame:
    """Median errors of all tables together, of each, and of each of its models; percent."""
    together = [np.concatenate([getattr(f, part) for f in fits]) for part in PARTS]
    rows = [_row("all", "", None, *together)]
    for f in fits:
        mine = [getattr(f, part) for part in PARTS]
        rows.append(_row(f.source, "", None, *mine))
        for model, law in f.law.models.items():
            own = np.array([step.model == model for step in f.steps])
            spread = (own & (f.reach != "one GPU")).any()
            rows.append(_row(f.source, model, law.delta if spread else None, *(values[own] for values in mine)))
    return pl.DataFrame(rows, infer_schema_length=None)


PARTS = ("seen", "left_out", "rows_left_out", "reach")


def _row(
    table: str, model: str, delta: float | None, seen: Errors, left_out: Errors, row: Errors, where: NDArray
) -> dict[str, object]:
    found: dict[str, object] = {"table": table, "model": model, "rows": len(seen), "delta": _digits(delta)}
    for name in ("all", *REACHES):
        own = np.ones(len(seen), bool) if name == "all" else where == name
        key = name.replace(" ", "_").lower()
        found |= {f"{key}_rows": int(own.sum()), f"{key}_seen": _percent(seen[own])}
        found |= {f"{key}_left_out": _percent(left_out[own])}
    return found | {"one_gpu_row_left_out": _percent(row[where == "one GPU"])}


def networks(fits: Sequence[Fitted]) -> pl.DataFrame:
    """The network found for each table: GB/s and µs."""
    rows = []
    for f in fits:
        links = {"node": f.law.network.node, "rack": f.law.network.rack}
        speeds = {f"{k}_gb_per_s": _digits(v.bandwidth_bytes_per_s / 1e9 if v else None) for k, v in links.items()}
        late = {f"{k}_latency_us": _digits(1e6 * v.latency_s if v else None) for k, v in links.items()}
        rows.append({"table": f.source, **speeds, **late, "cards_per": f.law.network.cards})
    return pl.DataFrame(rows)


def spread(t4: Fitted) -> pl.DataFrame:
    """Same GPUs on several nodes against one node: the fitted law's ratio against the measured one."""
    found, table = [], [r for r in rows("one_node_vs_spread.csv") if r["cluster"] == "aws"]
    for name in sorted({r["model"] for r in table}):
        own = [r for r in table if r["model"] == name]
        apart, together = (
            t4.law.predict_s([_unmeasured(name, int(r["n_gpus"]), int(r["n_nodes"]) if s else 1, r) for r in own])
            for s in (True, False)
        )
        measured = np.array([float(r["step_vs_one_node"]) for r in own])
        error = _percent(np.abs(apart / together / measured - 1))
        middle = {"measured": _digits(median(measured)), "predicted": _digits(median(apart / together))}
        found.append({"model": name, "rows": len(own), **middle, "error_percent": error})
    return pl.DataFrame(found)


def _unmeasured(name: str, gpus: int, nodes: int, row: dict[str, str]) -> Step:
    model = CATALOGUE.model_name(name)
    size = CATALOGUE.models[model].gradient.bytes
    return Step(0, model, "t4", even(gpus, nodes), float(row["local_batch"]), 1.0, np.nan, size)


def collectives() -> pl.DataFrame:
    """All-reduces by cluster and layout, errors in percent."""
    named = {"own_line_percent": "own", "one_law_from_1_mb_percent": "large", "one_law_below_1_mb_percent": "small"}
    return pl.DataFrame(
        [
            {"cluster": e.cluster, "gpus_per_node": e.layout, "rows": e.rows}
            | {name: _digits(100 * getattr(e, part)) for name, part in named.items()}
            for e in collective_errors()
        ]
    )


def links() -> pl.DataFrame:
    """Laws of two jobs on one link, errors in percent."""
    named = {"median_percent": "median", "p90_percent": "p90", "left_out_percent": "left_out"}
    return pl.DataFrame(
        [{"law": e.law} | {name: _digits(100 * getattr(e, part)) for name, part in named.items()}
         for e in sharing_errors()]
    )  # fmt: skip


def odd(steps: Mapping[str, Sequence[Step]]) -> pl.DataFrame:
    """Measured steps that no law of one GPU type covers."""
    found = []
    for table, model, placement, batch in ODD:
        gpus = tuple(map(int, placement.split("+")))
        one = next(s for s in steps[table] if (s.model, s.placement, s.batch_per_gpu) == (model, gpus, batch))
        found.append(
            {"table": table, "model": model, "placement": placement, "batch": batch, "step_s": _digits(one.step_s)}
        )
    return pl.DataFrame(found)


def _percent(errors: Errors) -> float | None:
    known = errors[~np.isnan(errors)]
    return _digits(100 * float(np.median(known))) if len(known) else None


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")


def main(arguments: Sequence[str]) -> int:
    """Fit, print, and with ``--record`` keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks profiles", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write {PAGE} and its data, and add to budgets.yaml")
    options = parser.parse_args(arguments)
    if not PROFILES.is_dir():
        parser.error(f"no measurements: {PROFILES} is absent")
    steps = sources()
    fits = [Fitted(source, list(own)) for source, own in steps.items()]
    figures, holds = judge(measures(fits))
    found = {
        "profiles": errors(fits), "profiles-networks": networks(fits), "profiles-spread": spread(fits[0]),
        "profiles-collectives": collectives(), "profiles-links": links(), "profiles-odd": odd(steps),
    }  # fmt: skip
    told = {name: block(found) for name, block in BLOCKS.items()}
    print("\n\n".join(told.values()))
    if options.record:
        remember(figures)
        for name, frame in found.items():
            frame.write_csv(DATA / f"{name}.csv")
        fill(PAGE, told)
    return 0 if holds else BROKEN
