"""Results on the screen: the table of policies, and where the page is."""

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from pointsman.cli import screen

if TYPE_CHECKING:
    from pointsman.report.comparison import Comparison, Row

TEXTS = ("policy", "knows")


def show_comparison(comparison: "Comparison", format: screen.Format) -> None:
    """Print policies side by side on stdout."""
    if format is screen.Format.json:
        typer.echo(comparison.to_json(), nl=False)
    elif format is screen.Format.csv:
        typer.echo(comparison.to_csv(), nl=False)
    else:
        screen.show([_told(row) for row in comparison.rows], format, left=TEXTS)


def show_summary(summary: dict[str, Any], comparison: "Comparison", format: screen.Format) -> None:
    """Print one run on stdout: what ``summary.json`` holds, or a table of its main figures."""
    if format is screen.Format.json:
        screen.show_json(summary)
    elif format is screen.Format.csv:
        screen.show([{k: v if _is_plain(v) else json.dumps(v) for k, v in summary.items()}], format)
    else:
        show_comparison(comparison, format)


def tell_page(directory: Path) -> None:
    """Say where the report is."""
    page = directory / "report.html"
    screen.note(f"report: {page}" if page.exists() else f"run: {directory} (no page: matplotlib is not installed)")


def command_line() -> str:
    """The command that is running, as it can be typed again."""
    return shlex.join(["pointsman", *sys.argv[1:]])


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float)


def _told(row: "Row") -> dict[str, Any]:
    from pointsman.report.units import count, digits, duration, percent

    value, change = row.values, row.differences["jct_mean_s"]
    rho = value["fairness_rho_max"]
    return {
        "policy": row.policy,
        "knows": row.knowledge,
        "jobs": count(row.jobs_counted),
        "JCT mean": duration(value["jct_mean_s"]),
        "change": "" if change.method == "baseline" else percent(change.ratio, signed=True),
        "above bound": percent(value["jct_above_bound_ratio"]),
        "p50": duration(value["jct_p50_s"]),
        "p99": duration(value["jct_p99_s"]),
        "wait mean": duration(value["wait_mean_s"]),
        "p95": duration(value["wait_p95_s"]),
        "allocated": percent(value["gpu_allocated_ratio"]),
        "preemptions": count(value["preemptions"]),
        "ρ max": "–" if rho is None else digits(rho),
        "engine": duration(value["engine_s"]),
    }
