"""Writing the run directory: one run on disk, whole or not at all (``docs/formats/run-directory.md``)."""

import hashlib
import io
import json
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import yaml

from pointsman.engine.run.result import RunData
from pointsman.experiment import Assumptions
from pointsman.report.comparison import Comparison, compare
from pointsman.report.figures.drawing import save_drawing
from pointsman.report.manifest import write_manifest
from pointsman.report.metrics.comparison_rows import as_csv
from pointsman.report.metrics.groups import Run, group_runs, run_name
from pointsman.report.metrics.price import Repeated
from pointsman.report.pages.advice import Advice
from pointsman.report.pages.page import Page, make_page
from pointsman.report.run_reading import AGAIN, DIGESTS
from pointsman.report.staging import MARK, whole_directory
from pointsman.report.tables.tables import Table


def write_run(
    directory: str | Path,
    result: RunData | Run,
    *,
    force: bool = False,
    command: str | None = None,
    config: Mapping[str, Any] | None = None,
    window: tuple[float, float] | None = None,
    figures: bool = True,
) -> Path:
    """Writes the run directory of one run.

    Args:
        directory: its name; it must not exist.
        result: the run, or what `measure` made of it.
        force: replace a run directory of that name.
        command: the command that made it, for the manifest and the page.
        config: settings for ``config.resolved.yaml``; by default those that the result states.
        window: jobs to count, as in `summarise`; a `Run` has its own.
        figures: also draw ``plots/`` and ``report.html``.

    Returns:
        the directory.

    Raises:
        UsageError: the name is taken, or the window holds no submit.
        RunError: it cannot be written; nothing is left of it.
    """
    target = Path(directory)
    with whole_directory(target, force=force) as partial:
        groups = group_runs([result], window)
        _write_data(partial, groups[0].first, command, config)
        if figures:
            write_page(partial, make_page(groups, command=command))
    return target


def write_comparison(
    directory: str | Path,
    results: Sequence[RunData],
    *,
    baseline: str | None = None,
    force: bool = False,
    command: str | None = None,
    config: Mapping[str, Any] | None = None,
    window: tuple[float, float] | None = None,
    runs: bool = True,
    figures: bool = True,
    repeated: Repeated | None = None,
    kept: Sequence[tuple[RunData, Path]] = (),
    savings: Table | None = None,
    advise: Callable[[Comparison], Advice] | None = None,
    tell: Callable[[Comparison], None] | None = None,
) -> Comparison:
    """Writes one table and with `figures` one page of several runs, and with `runs` each of them under ``runs/``.

    Arguments and errors as of `write_run` and `compare`; `kept` are results with the directories in which `keep_run`
    keeps them; `savings` is a table for the page; `advise` makes of the comparison what the page advises; `tell` is
    called with the comparison before anything is written or drawn.
    """
    comparison = compare(results, baseline=baseline, window=window, repeated=repeated)
    if tell is not None:
        tell(comparison)
    places = {id(result): place for result, place in kept}
    named = _named_runs(comparison) if runs else []
    again = _named_again(comparison) if runs else []
    with whole_directory(Path(directory), force=force) as partial:
        more = {"baseline": comparison.baseline.policy, "runs": [name for name, _ in named]}
        if again:
            more[AGAIN] = {name: interval_s for interval_s, name, _ in again}
        write_manifest(partial, "comparison", results, command, **more)
        if config is not None:
            write_config(partial, config)
        (partial / "comparison.json").write_text(comparison.to_json(), encoding="utf-8")
        (partial / "comparison.csv").write_text(comparison.to_csv(), encoding="utf-8")
        if comparison.changes:
            (partial / "changes.csv").write_text(as_csv([one.record() for one in comparison.changes]), encoding="utf-8")
        if comparison.price is not None:
            points = comparison.price.points
            (partial / "price.csv").write_text(as_csv([point.record() for point in points]), encoding="utf-8")
        for name, run in [*((f"runs/{name}", run) for name, run in named), *((name, run) for _, name, run in again)]:
            (partial / name).mkdir(parents=True)
            _write_data(partial / name, run, command, None, places.get(id(run.result)))
        if figures:
            page = make_page(
                comparison.groups, comparison=comparison, command=command, runs=runs, savings=savings,
                advice=None if advise is None else advise(comparison),
            )  # fmt: skip
            write_page(partial, page)
    return comparison


def keep_run(directory: Path, result: RunData) -> None:
    """Writes what `read_run` reads, and nothing else: a run that may become part of a comparison.

    Raises:
        RunError: it cannot be written; nothing is left of it.
    """
    with whole_directory(directory, force=True) as partial:
        _write_tables(partial, result)
        _write_own_manifest(partial, result, None)


def _named_runs(comparison: Comparison) -> list[tuple[str, Run]]:
    return [(run_name(group, run), run) for group in comparison.groups for run in group.runs]


def _named_again(comparison: Comparison) -> list[tuple[float, str, Run]]:
    """The runs made again for the price, with their interval (s) and folder."""
    repeated = comparison.price.repeated if comparison.price else []
    return [(s, f"price/{s:g}s/{run_name(group, run)}", run) for s, group, run in repeated]


def _digests(directory: Path) -> dict[str, str]:
    """SHA-256 of each file written so far."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(directory.glob("*.*"))}


def _write_data(
    directory: Path, run: Run, command: str | None, config: Mapping[str, Any] | None, kept: Path | None = None
) -> None:
    if kept is None:
        _write_tables(directory, run.result)
    else:
        _link_files(kept, directory)
    _write_json(directory / "summary.json", run.summary)
    write_config(directory, config or _resolve_config(run.result))
    _write_own_manifest(directory, run.result, command)


def _link_files(source: Path, directory: Path) -> None:
    """Links all files but the manifest instead of writing them again; copies them where the file system has
    no links.
    """
    for path in sorted(source.iterdir()):
        if path.name == MARK:
            continue
        try:
            os.link(path, directory / path.name)
        except OSError:
            shutil.copyfile(path, directory / path.name)


def _write_own_manifest(directory: Path, result: RunData, command: str | None) -> None:
    write_manifest(directory, "run", [result], command, info=result.info, **{DIGESTS: _digests(directory)})


def _write_tables(directory: Path, result: RunData) -> None:
    _write_parquet(result.jobs, directory / "jobs.parquet")
    _write_parquet(result.series, directory / "series.parquet")
    if result.events is not None:
        _write_parquet(_named_events(result, result.events), directory / "events.parquet")
    if result.speeds is not None:
        _write_parquet(_add_ids(result, result.speeds), directory / "speeds.parquet")
    for name, content in result.learnt.items():
        (directory / name).write_bytes(content)


def write_config(directory: Path, config: Mapping[str, Any]) -> None:
    """Writes ``config.resolved.yaml``."""
    settings = yaml.safe_dump(_plain(config), sort_keys=False, allow_unicode=True)
    (directory / "config.resolved.yaml").write_text(settings, encoding="utf-8")


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, default=list) + "\n", encoding="utf-8")


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """By Python, which says why a file cannot be written; the library writes the bytes alone."""
    data = io.BytesIO()
    frame.rechunk().write_parquet(data, compression="zstd", compression_level=3)
    path.write_bytes(data.getbuffer())


def _named_events(result: RunData, events: pl.DataFrame) -> pl.DataFrame:
    names = pl.Series("node_name", result.info["node_names"], dtype=pl.String)
    return _add_ids(result, events).with_columns(names.gather(_null_if_negative(events["node"])))


def _add_ids(result: RunData, events: pl.DataFrame) -> pl.DataFrame:
    """Adds the ``job_id`` of each row."""
    row = result.jobs["row"]
    if row.equals(pl.int_range(result.jobs.height, dtype=pl.Int64, eager=True)):  # as `make_result` numbers them
        return events.with_columns(result.jobs["job_id"].gather(_null_if_negative(events["row"])))
    return events.join(result.jobs.select("row", "job_id"), on="row", how="left", maintain_order="left")


def _null_if_negative(index: pl.Series) -> pl.Series:
    """Null instead of -1, which stands for none."""
    return index.set(index < 0, None)


def _resolve_config(result: RunData) -> dict[str, Any]:
    """What the result states: policy, cluster, options and workload."""
    chosen = ("policy", "params", "knowledge", "told_profiles", "progress", "cluster")
    names = (*chosen, *Assumptions.model_fields, "seed", "workload")
    return {name: result.info.get(name) for name in names}


def _plain(value: Any) -> Any:
    return json.loads(json.dumps(value, default=str))


def write_page(directory: Path, page: Page) -> None:
    """Writes ``report.html`` and ``plots/``: of a figure that could not be drawn, ``NAME.txt`` with the reason."""
    (directory / "plots").mkdir()
    for drawing in page.drawings:
        save_drawing(directory / "plots", drawing)
    (directory / "report.html").write_text(page.html, encoding="utf-8")
