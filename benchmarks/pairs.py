"""``python -m benchmarks pairs [--record]``: how much jobs on one GPU slow each other, as Gavel measured it.

Checks that the figures shipped are those of the measurements (exit 4 if not), and prints the medians, what share of the
pairs pays, how far off the law is, and what stands in for what. ``--record`` writes the tables of
``docs/results/pairs.md``, and the figures shipped.
"""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.blocks import fill
from benchmarks.pair_data import FILE, SHIPPED_SOURCE, SOURCES, Measured, Table, load
from benchmarks.profile_fit import BROKEN, _head, _line
from benchmarks.profile_fit_data import CATALOGUE, PROFILES
from benchmarks.surveyed import surveyed
from pointsman.speed import load_interference
from pointsman.speed.interference.file import Ordered, TypeFigures, interference_yaml
from pointsman.speed.interference.fit import figures_of, law_errors, medians, pays, share_that_pays
from pointsman.speed.interference.slow_downs import SHIPPED, shipped

PAGE = Path(__file__).parent.parent / "docs" / "results" / "pairs.md"
TYPES = ("v100", "p100", "k80")
MAPPINGS = ("table", "law", "table:sensitive", "table:insensitive", "table:resnet50", "table:resnet18")
Figures = Mapping[str, TypeFigures]


def main(arguments: Sequence[str]) -> int:
    """Check, print, and with ``--record`` keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pairs", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write docs/results/{PAGE.name} and the figures shipped")
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
    parts = {
        "medians": _medians(tables, figures),
        "pays": _pays(tables, figures),
        "law": _laws(tables, figures),
        "pairs": _matrices(figures[SHIPPED_SOURCE]),
        "models": _models(),
        "gpu-types": _gpu_types(),
        "mappings": _mappings(),
    }
    print("\n\n".join(parts.values()))
    if options.record:
        fill(PAGE, parts)
    if text != SHIPPED.read_text():
        print(f"pairs: {SHIPPED} is not what {options.data / FILE} gives (--record writes it)")
        return BROKEN
    return 0


def _medians(tables: Mapping[str, Table], figures: Mapping[str, Figures]) -> str:
    names = ("all jobs", "one model", "one model, one batch", "49 pairs of models", "a model beside itself")
    lines = [_head("table", "GPU type", "measured", "missing", "not slowed", *(f"median ξ: {name}" for name in names))]
    for source, kind in _cases():
        rows = tables[source].of(kind)
        pairs = medians(figures[source][kind])
        like = [m for m in rows if m.pair.model_a == m.pair.model_b]
        groups = (_slow_downs(rows), _slow_downs(like), _slow_downs([m for m in like if m.batch_a == m.batch_b]))
        own = [xi for (a, b), xi in pairs.items() if a == b]
        cells = [f"{np.median(group):.2f}" for group in (*groups, list(pairs.values()), own)]
        free = sum(xi == 1 for xi in groups[0])
        lines.append(
            _line(source, kind, str(2 * len(rows)), str(2 * tables[source].missing.count(kind)), str(free), *cells)
        )
    return "\n".join(lines)


def _pays(tables: Mapping[str, Table], figures: Mapping[str, Figures]) -> str:
    lines = [_head("table", "GPU type", "pairs of models, %", "pairs of jobs, %", "ξ < 1.5, jobs, %")]
    for source, kind in _cases():
        rows = tables[source].of(kind)
        jobs = [pays(*(xi for _, xi in m.pair.slow_downs())) for m in rows]
        shares = (
            share_that_pays(medians(figures[source][kind])) or 0.0,
            np.mean(jobs),
            np.mean(np.array(_slow_downs(rows)) < 1.5),
        )
        lines.append(_line(source, kind, *(f"{100 * share:.0f}" for share in shares)))
    return "\n".join(lines)


def _laws(tables: Mapping[str, Table], figures: Mapping[str, Figures]) -> str:
    titles = (
        "R²",
        "error, %",
        "pair left out, %",
        "jobs: R² by model",
        "by model and batch",
        "jobs: law, %",
        "table, %",
    )
    lines = [_head("table", "GPU type", *titles)]
    for source, kind in _cases():
        own, rows = figures[source][kind], tables[source].of(kind)
        errors = law_errors(own)
        models = [(pair, xi) for m in rows for pair, xi in m.pair.slow_downs()]
        jobs = [((m.job_a, m.job_b), m.pair.slow_downs()[0][1]) for m in rows]
        jobs += [((m.job_b, m.job_a), m.pair.slow_downs()[1][1]) for m in rows]
        cells = [f"{errors.r2:.2f}", _pct(errors.seen), _pct(errors.left_out), f"{_r2(models):.2f}", f"{_r2(jobs):.2f}"]
        for said in (own.law.slow_down, own.slow_down_of):
            cells.append(_pct(float(np.median([abs(said(*pair) / xi - 1) for pair, xi in models]))))
        lines.append(_line(source, kind, *cells))
    return "\n".join(lines)


def _r2(rows: Sequence[tuple[Ordered, float]]) -> float:
    """Of a law with a sensitivity and a pressure for each name, fitted to all rows alike."""
    names = sorted({name for pair, _ in rows for name in pair})
    design = np.zeros((len(rows), 2 * len(names)))
    for row, ((one, beside), _) in zip(design, rows, strict=True):
        row[names.index(one)] = row[len(names) + names.index(beside)] = 1.0
    told = np.log([xi for _, xi in rows])
    values, *_ = np.linalg.lstsq(design, told, rcond=None)
    return 1 - float(((told - design @ values) ** 2).sum() / ((told - told.mean()) ** 2).sum())


def _matrices(figures: Figures) -> str:
    parts = []
    for kind in TYPES:
        names = figures[kind].models
        lines = [_head(f"{kind}: this, beside", *names)]
        lines += [_line(a, *(f"{figures[kind].slow_down_of(a, b):.2f}" for b in names)) for a in names]
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _models() -> str:
    stand_ins = shipped().stand_ins
    lines = [_head("measured", "stands in for")]
    for model in shipped().gpu_types["v100"].models:
        like = [name for name, stand_in in stand_ins.items() if stand_in == model]
        lines.append(_line(f"`{model}`", ", ".join(f"`{name}`" for name in like) or "–"))
    return "\n".join(lines)


def _gpu_types() -> str:
    table = load_interference("table", CATALOGUE)
    lines = [_head("measured", "taken for")]
    found: dict[str, list[str]] = {kind: [] for kind in TYPES}
    for name in CATALOGUE.gpu_types:
        for kind in TYPES:
            if f"{name} as {kind}" in table.about([name], ["resnet50"])[0]:
                found[kind].append(name)
    lines += [_line(f"`{kind}`", ", ".join(f"`{name}`" for name in names) or "–") for kind, names in found.items()]
    return "\n".join(lines)


def _mappings() -> str:
    """Over all pairs of the models surveyed, also those measured."""
    lines = [_head("interference", *(f"{kind}: median ξ / pays, %" for kind in TYPES))]
    for text in MAPPINGS:
        lines.append(_line(f"`{text}`", *(_over_catalogue(text, kind) for kind in TYPES)))
    return "\n".join(lines)


def _over_catalogue(text: str, kind: str) -> str:
    interference = load_interference(text, CATALOGUE)
    names = surveyed(CATALOGUE)
    found = {(a, b): interference.slow_down(kind, a, b) for a in names for b in names}
    return f"{np.median(list(found.values())):.2f} / {100 * (share_that_pays(found) or 0):.0f}"


def _cases() -> list[tuple[str, str]]:
    return [(source, kind) for source in SOURCES for kind in TYPES]


def _slow_downs(rows: Sequence[Measured]) -> list[float]:
    return [xi for m in rows for _, xi in m.pair.slow_downs()]


def _pct(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f}"
