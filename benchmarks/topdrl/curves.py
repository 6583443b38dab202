"""Learning curves: what the episodes of training bring in, by steps, of each training."""

import json
from pathlib import Path

import numpy as np

from benchmarks.topdrl.contestants import LEARNED, TOPDRL

WINDOW = 60
"""Updates over which a curve is smoothed."""


def curves(folder: Path, target: Path) -> None:
    """Draw the trainings of TopDRL in `folder`: throughput of the episodes that ended, each training and their mean."""
    from matplotlib.figure import Figure

    places = sorted((folder / LEARNED[TOPDRL]).glob("seed-*/metrics.jsonl"))
    lines = [_curve(place) for place in places]
    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for steps, values in lines:
        axes.plot(steps / 1e6, values, color="#88a", linewidth=0.8)
    shared = np.linspace(max(x[0] for x, _ in lines), min(x[-1] for x, _ in lines), 200)
    together = np.array([np.interp(shared, *line) for line in lines])
    label = f"mean of {len(lines)} trainings"
    axes.plot(shared / 1e6, together.mean(axis=0), color="#1b4f9c", linewidth=2, label=label)
    axes.set(xlabel="decisions, million", ylabel="GPU-hours of work an hour")
    axes.legend(frameon=False)
    figure.savefig(target, dpi=150)


def _curve(path: Path) -> tuple[np.ndarray, np.ndarray]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row.get("episodes")]
    weights = np.array([row["episodes"] for row in rows], float)
    values = np.array([row["throughput_gpu_h_per_h"] for row in rows]) * weights
    kernel = np.ones(WINDOW)
    smooth = np.convolve(values, kernel, "valid") / np.convolve(weights, kernel, "valid")
    return np.array([row["steps"] for row in rows])[WINDOW - 1 :], smooth
