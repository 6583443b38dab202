"""``pointsman profile pairs``: how much jobs on one GPU slow each other, as shipped or as measured."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pointsman.cli.screen import Format
from pointsman.inputs.messages import counted

if TYPE_CHECKING:
    from pointsman.speed.interference.file import TypeFigures
    from pointsman.speed.interference.fit import Pair
    from pointsman.speed.profiles.catalogue import Catalogue

PER_CENT = 100.0
Figures = Mapping[str, "TypeFigures"]


def pairs(
    profiles: Annotated[
        list[str],
        typer.Option(
            metavar="FILE",
            default_factory=list,
            show_default=False,
            help="Model profiles that take precedence over the shipped ones. Repeatable.",
        ),
    ],
    measurements: Annotated[
        Path | None,
        typer.Argument(
            help="Measured pairs (CSV), as in docs/formats/pairs.md. Default: the shipped table.", metavar="FILE"
        ),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="OUT", help="Output file (YAML), for --interference.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    format: Annotated[Format, typer.Option(help="Output format; csv has the pairs only.")] = Format.table,
) -> None:
    """Print the slowdowns of jobs that share a GPU, and fit a formula to measured pairs."""
    from pointsman.errors import UsageError
    from pointsman.inputs.output_path import check_output_file, write_whole
    from pointsman.speed import load_catalogue
    from pointsman.speed.interference.file import interference_yaml

    if output and not measurements:
        raise UsageError("-o writes what was measured, and there is no FILE (profile pairs FILE -o OUT)")
    if output:
        check_output_file(output, force=force)
    catalogue = load_catalogue(*profiles)
    figures = _measured_figures(measurements, catalogue) if measurements else _shipped_figures()
    _show(figures, format)
    if output and measurements:
        write_whole(output, interference_yaml(output.stem, f"measured: {measurements.name}", figures))
        _check(output, catalogue)


def _shipped_figures() -> Figures:
    from pointsman.speed.interference.slow_downs import shipped

    return shipped().gpu_types


def _measured_figures(measurements: Path, catalogue: "Catalogue") -> Figures:
    from pointsman.cli.unsteady import note_unsteady
    from pointsman.speed.interference.fit import figures_of
    from pointsman.speed.interference.pairs import read_pairs

    found = read_pairs(measurements, catalogue)
    note_unsteady(measurements, [pair.is_unsteady for pair in found])
    figures = figures_of(found)
    _note_what_is_odd(found, figures, catalogue)
    return figures


def _note_what_is_odd(found: "list[Pair]", figures: Figures, catalogue: "Catalogue") -> None:
    from pointsman.cli import screen

    faster = sum((pair.norm_a > 1) + (pair.norm_b > 1) for pair in found)
    if faster:
        screen.note(f"{faster} of {2 * len(found)} speeds are above the speed alone; they are treated as no slowdown")
    unknown = sorted({m for kind in figures.values() for m in kind.models if not catalogue.knows(m)})
    if unknown:
        wanted = "a simulation needs their profiles, too (--profiles FILE)"
        screen.note(f"not in the catalogue: {', '.join(unknown)}; {wanted}")
    for kind, own in figures.items():
        _note_what_is_thin(kind, own)


def _note_what_is_thin(kind: str, own: "TypeFigures") -> None:
    from pointsman.cli import screen
    from pointsman.speed.interference.fit import medians, tied

    measured, gaps = medians(own), own.gaps()
    parameters = 2 * len(own.models) - 1
    if len(measured) <= parameters:
        wanted = "a meaningful law requires more pairs"
        screen.note(f"{kind}: {counted(len(measured), 'pair')} for {counted(parameters, 'parameter')}; {wanted}")
    guessed = len(gaps) - len(tied(measured, gaps))
    if guessed:
        are = counted(guessed, "pair is", "pairs are")
        screen.note(f"{kind}: {are} guessed, for no chain of measured pairs leads to them")


def _show(figures: Figures, format: Format) -> None:
    from pointsman.cli import screen

    if format is Format.json:
        laws, summary = _laws(figures), _summary(figures)
        screen.show_json({"pairs": _pairs(figures), "laws": laws, "summary": summary})
    elif format is Format.csv:
        screen.show(_pairs(figures), format)
    else:
        for kind in figures:
            _show_matrix(kind, figures[kind], format)
        _show_rows(_laws(figures), format)
        _show_rows(_summary(figures), format)


def _show_matrix(kind: str, figures: "TypeFigures", format: Format) -> None:
    from pointsman.cli import screen

    gaps = set(figures.gaps())
    rows = []
    for model in figures.models:
        row: dict[str, Any] = {f"{kind}: this, beside": model}
        for beside in figures.models:
            row[beside] = f"{figures.slow_down_of(model, beside):.2f}" + ("*" if (model, beside) in gaps else "")
        rows.append(row)
    screen.show(rows, format, left=(f"{kind}: this, beside",))
    typer.echo("* by the law, not measured\n" if gaps else "")


def _show_rows(rows: list[dict[str, Any]], format: Format) -> None:
    from pointsman.cli import screen

    screen.show(rows, format, left=("gpu_type", "model"))
    typer.echo()


def _pairs(figures: Figures) -> list[dict[str, Any]]:
    return [
        {
            "gpu_type": kind,
            "model": model,
            "beside": beside,
            "slow_down": own.slow_down_of(model, beside),
            "by_law": own.law.slow_down(model, beside),
            "measured": beside in own.slow_down.get(model, {}),
        }
        for kind, own in figures.items()
        for model in own.models
        for beside in own.models
    ]


def _laws(figures: Figures) -> list[dict[str, Any]]:
    return [
        {"gpu_type": kind, "model": m, "sensitivity": own.law.sensitivity[m], "pressure": own.law.pressure[m]}
        for kind, own in figures.items()
        for m in own.models
    ]


def _summary(figures: Figures) -> list[dict[str, Any]]:
    return [{"gpu_type": kind, **_summary_of(own)} for kind, own in figures.items()]


def _summary_of(own: "TypeFigures") -> dict[str, Any]:
    from statistics import median

    from pointsman.speed.interference.fit import law_errors, medians, share_that_pays

    measured, errors = medians(own), law_errors(own)
    equal = [xi for (model, beside), xi in measured.items() if model == beside]
    return {
        "pairs": len(measured),
        "by_law": len(own.gaps()),
        "median": median(measured.values()),
        "median_equal_models": median(equal) if equal else None,
        "pays_pct": _pct(share_that_pays(measured)),
        "law_r2": errors.r2,
        "law_error_pct": _pct(errors.seen),
        "left_out_error_pct": _pct(errors.left_out),
        "not_predicted": errors.unpredicted,
    }


def _pct(share: float | None) -> float | None:
    return None if share is None else round(PER_CENT * share, 4)


def _check(output: Path, catalogue: "Catalogue") -> None:
    """What was written is read back, as ``--interference`` will read it."""
    from pointsman.cli import screen
    from pointsman.speed import load_interference

    load_interference(str(output), catalogue)
    screen.note(f"{output}: use it with --interference {output}")
