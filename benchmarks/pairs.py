"""``python -m benchmarks pairs [--record]``: how much jobs on one GPU slow each other, as Gavel measured it.

Checks that the figures shipped are those of the measurements (exit 4 if not), and prints what was found. ``--record``
writes the figures shipped, ``docs/results/data/pairs*.csv``, and from these the figures of ``docs/results/pairs.md``.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.blocks import fill
from benchmarks.pair_data import FILE, SHIPPED_SOURCE, SOURCES, Measured, Table, load
from benchmarks.pair_page import BLOCKS, DATA, MAPPINGS, PAGE, TYPES
from benchmarks.profile_fit import BROKEN
from benchmarks.profile_fit_data import CATALOGUE, PROFILES
from benchmarks.surveyed import surveyed
from pointsman.speed import load_interference
from pointsman.speed.interference.file import Ordered, TypeFigures, interference_yaml
from pointsman.speed.interference.fit import figures_of, law_errors, medians, pays, share_that_pays
from pointsman.speed.interference.slow_downs import SHIPPED, shipped

Figures = Mapping[str, TypeFigures]


def main(arguments: Sequence[str]) -> int:
    """Check, print, and with ``--record`` keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pairs", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write {PAGE}, its data and the figures shipped")
    parser.add_argument("--data", type=Path, default=PROFILES, help=f"where {FILE} is")
    parser.add_argument("--oracle", type=Path, metavar="OUT", help="write the other table's figures here")
    options = parser.parse_args(arguments)
    if not (options.data / FILE).is_file():
        print(f"pairs: skipped, for {options.data / FILE} is not there")
        return 0
    tables = {source: load(source, options.data) for source in SOURCES}
    figures = {source: figures_of(table.pairs()) for source, table in tables.items()}
    text = interference_yaml("gavel", shipped().source, figures[SHIPPED_SOURCE], shipped().stand_ins)
    if options.oracle:
        source = "Gavel: its oracle table of two jobs on one GPU"
        options.oracle.write_text(interference_yaml("oracle", source, figures[SOURCES[1]], shipped().stand_ins))
    if options.record:
        SHIPPED.write_text(text)
        shipped.cache_clear()
    found = {
        "pairs": pl.DataFrame([_row(source, kind, tables[source], figures[source]) for source, kind in _cases()]),
        "pairs-xi": _slow_downs_of_models(figures),
        "pairs-mappings": _mappings(),
        "pairs-stand-ins": _stand_ins(),
    }
    print("\n\n".join(block(found) for block in BLOCKS.values()))
    if options.record:
        for name, frame in found.items():
            frame.write_csv(DATA / f"{name}.csv")
        fill(PAGE, {name: block(found) for name, block in BLOCKS.items()})
    if text != SHIPPED.read_text():
        print(f"pairs: {SHIPPED} is not what {options.data / FILE} gives (--record writes it)")
        return BROKEN
    return 0


def _row(source: str, kind: str, table: Table, figures: Figures) -> dict[str, object]:
    """All that is said of one GPU type in one table; shares and errors in percent."""
    rows, own = table.of(kind), figures[kind]
    return {
        "table": source, "gpu_type": kind, "measured": 2 * len(rows), "missing": 2 * table.missing.count(kind),
        **_not_slowed(rows), **_medians(rows, own), **_paying(rows, own), **_law(rows, own),
    }  # fmt: skip


def _not_slowed(rows: Sequence[Measured]) -> dict[str, object]:
    """Jobs with ξ = 1, and the model that most of them have."""
    free = [model for m in rows for (model, _), xi in m.pair.slow_downs() if xi == 1]
    most = max(set(free), key=free.count) if free else ""
    share = 100 * free.count(most) / len(free) if free else None
    return {"not_slowed": len(free), "not_slowed_model": most, "not_slowed_model_percent": _digits(share)}


def _medians(rows: Sequence[Measured], figures: TypeFigures) -> dict[str, object]:
    """Median ξ, over jobs and over pairs of models."""
    pairs = medians(figures)
    like = [m for m in rows if m.pair.model_a == m.pair.model_b]
    groups = {
        "xi_jobs": _slow_downs(rows), "xi_one_model": _slow_downs(like),
        "xi_equal_jobs": _slow_downs([m for m in like if m.batch_a == m.batch_b]),
        "xi_models": list(pairs.values()), "xi_model_beside_itself": [xi for (a, b), xi in pairs.items() if a == b],
    }  # fmt: skip
    return {name: _digits(float(np.median(group))) for name, group in groups.items()}


def _paying(rows: Sequence[Measured], figures: TypeFigures) -> dict[str, object]:
    """The percentage of pairs that end earlier together, and of jobs with ξ below 1.5."""
    jobs = [pays(*(xi for _, xi in m.pair.slow_downs())) for m in rows]
    shares = {
        "models_pay": share_that_pays(medians(figures)) or 0.0, "jobs_pay": np.mean(jobs),
        "jobs_below_1.5": np.mean(np.array(_slow_downs(rows)) < 1.5),
    }  # fmt: skip
    return {f"{name}_percent": _digits(100 * float(share)) for name, share in shares.items()}


def _law(rows: Sequence[Measured], own: TypeFigures) -> dict[str, object]:
    """How well the law explains the medians by pair of models, and law and table single measurements."""
    errors = law_errors(own)
    models = [(pair, xi) for m in rows for pair, xi in m.pair.slow_downs()]
    jobs = [((m.job_a, m.job_b), m.pair.slow_downs()[0][1]) for m in rows]
    jobs += [((m.job_b, m.job_a), m.pair.slow_downs()[1][1]) for m in rows]
    return {
        "law_r2": _digits(errors.r2), "law_error_percent": _percent(errors.seen),
        "law_error_left_out_percent": _percent(errors.left_out), "law_r2_jobs_by_model": _digits(_r2(models)),
        "law_r2_jobs_by_batch": _digits(_r2(jobs)), "law_error_jobs_percent": _median_error(own.law.slow_down, models),
        "table_error_jobs_percent": _median_error(own.slow_down_of, models),
    }  # fmt: skip


def _median_error(said: Callable[[str, str], float], models: Sequence[tuple[Ordered, float]]) -> float | None:
    return _percent(float(np.median([abs(said(*pair) / xi - 1) for pair, xi in models])))


def _r2(rows: Sequence[tuple[Ordered, float]]) -> float:
    """Of a law with a sensitivity and a pressure for each name, fitted to all rows alike."""
    names = sorted({name for pair, _ in rows for name in pair})
    design = np.zeros((len(rows), 2 * len(names)))
    for row, ((one, beside), _) in zip(design, rows, strict=True):
        row[names.index(one)] = row[len(names) + names.index(beside)] = 1.0
    told = np.log([xi for _, xi in rows])
    values, *_ = np.linalg.lstsq(design, told, rcond=None)
    return 1 - float(((told - design @ values) ** 2).sum() / ((told - told.mean()) ** 2).sum())


def _slow_downs_of_models(figures: Mapping[str, Figures]) -> pl.DataFrame:
    """ξ of each model beside each, the median over batches."""
    return pl.DataFrame(
        [
            {"table": source, "gpu_type": kind, "model": a, "beside": b, "xi": _digits(of.slow_down_of(a, b))}
            for source, kind in _cases()
            for of in (figures[source][kind],)
            for a in of.models
            for b in of.models
        ]
    )


def _mappings() -> pl.DataFrame:
    """Over all pairs of the models surveyed, also those measured."""
    names, rows = surveyed(CATALOGUE), []
    for text in MAPPINGS:
        interference = load_interference(text, CATALOGUE)
        for kind in TYPES:
            found = {(a, b): interference.slow_down(kind, a, b) for a in names for b in names}
            paying = _digits(100 * (share_that_pays(found) or 0.0))
            middle = _digits(float(np.median(list(found.values()))))
            rows.append(
                {"interference": text, "gpu_type": kind, "models": len(names), "xi": middle, "pay_percent": paying}
            )
    return pl.DataFrame(rows)


def _stand_ins() -> pl.DataFrame:
    """Models and GPU types that were not measured, and those taken in their place."""
    table = load_interference("table", CATALOGUE)
    kinds = [
        (name, kind) for name in CATALOGUE.gpu_types for kind in TYPES
        if f"{name} as {kind}" in table.about([name], ["resnet50"])[0]
    ]  # fmt: skip
    rows = [*(("model", *pair) for pair in shipped().stand_ins.items()), *(("GPU type", *pair) for pair in kinds)]
    return pl.DataFrame(rows, schema=["what", "name", "taken_for"], orient="row")


def _cases() -> list[tuple[str, str]]:
    return [(source, kind) for source in SOURCES for kind in TYPES]


def _slow_downs(rows: Sequence[Measured]) -> list[float]:
    return [xi for m in rows for _, xi in m.pair.slow_downs()]


def _percent(share: float | None) -> float | None:
    return None if share is None else _digits(100 * share)


def _digits(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
