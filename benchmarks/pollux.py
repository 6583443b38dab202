"""``python -m benchmarks pollux [--record]``: Pollux on its paper's first workload, against what the paper published.

Prints mean completion times by application and by policy, what the interval between rounds does, and what deciding
costs; ``--record`` writes the tables of ``docs/results/pollux.md``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl

import pointsman
from benchmarks.blocks import fill
from pointsman.engine.run.result import Result
from pointsman.engine.setup.overheads import Overheads

ROOT: Final = Path(__file__).parent.parent
PAGE: Final = ROOT / "docs" / "results" / "pollux.md"
WORKLOADS: Final = ROOT.parent / "shared" / "data" / "samples" / "pollux"
FILE: Final = "workload-1.csv"
OVERHEADS: Final = Overheads(start_s=30.0)
"""The artifact's: a start and a change of GPUs cost 30 s."""
PUBLISHED: Final = {"pollux": 2088.8, "tiresias": 2473.7}
"""Mean completion time in s, raw results of Fig. 8a at load 1 (github.com/petuum/adaptdl, branch osdi21-artifact)."""
PUBLISHED_OF: Final = {
    "bert": 2686.0,
    "cifar10": 981.6,
    "deepspeech2": 3839.1,
    "imagenet": 40209.5,
    "ncf": 107.4,
    "yolov3": 12135.0,
}
"""The same under Pollux, by application."""
CLUSTERS: Final = ("pollux-measured", "pollux")
INTERVALS_S: Final = (30.0, 60.0, 120.0, 240.0, 480.0)
TIMES: Final = 5


def main(arguments: Sequence[str]) -> int:
    """Run, print, and with ``--record`` keep."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks pollux", description=__doc__)
    parser.add_argument("--record", action="store_true", help=f"write docs/results/{PAGE.name}")
    parser.add_argument("--data", type=Path, default=WORKLOADS, help=f"where {FILE} is")
    options = parser.parse_args(arguments)
    path = options.data / FILE
    if not path.is_file():
        print(f"pollux: skipped, for {path} is not there")
        return 0
    parts = {
        "policies": _policies(path),
        "applications": _applications(_run(path)),
        "intervals": _intervals(path),
        "cost": _cost(path),
    }
    print("\n\n".join(parts.values()))
    if options.record:
        fill(PAGE, parts)
    return 0


def _run(path: Path, policy: str = "pollux", cluster: str = CLUSTERS[0], **options: Any) -> Result:
    return pointsman.simulate(path, cluster, policy, overheads=OVERHEADS, **options)


def _mean_s(result: Result) -> float:
    return float((result.jobs["end_s"] - result.jobs["submit_s"]).to_numpy().mean())


def _against(ours: float, published: float) -> list[str]:
    return [f"{ours:,.0f}", f"{published:,.0f}", f"{100 * (ours / published - 1):+.1f}"]


def _policies(path: Path) -> str:
    lines = [_head("policy", "cluster", "mean completion time, s", "published, s", "difference, %")]
    for policy, published in PUBLISHED.items():
        for cluster in CLUSTERS:
            ours = _mean_s(_run(path, policy, cluster))
            lines.append(_line(f"`{policy}`", f"`{cluster}`", *_against(ours, published)))
    return "\n".join(lines)


def _applications(result: Result) -> str:
    jobs = result.jobs.with_columns(application=pl.col("job_id").str.split("-").list.first())
    lines = [_head("application", "jobs", "mean completion time, s", "published, s", "difference, %")]
    for name, published in PUBLISHED_OF.items():
        own = jobs.filter(pl.col("application") == name)
        ours = float((own["end_s"] - own["submit_s"]).to_numpy().mean())
        lines.append(_line(name, str(len(own)), *_against(ours, published)))
    return "\n".join(lines)


def _intervals(path: Path) -> str:
    lines = [_head("interval, s", "mean completion time, s", "changes of GPUs per job")]
    for interval_s in INTERVALS_S:
        result = _run(path, params={"interval_s": interval_s})
        assert result.events is not None
        changes = result.events.filter(pl.col("kind") == "RESIZE")["seq"].n_unique()
        lines.append(_line(f"{interval_s:g}", f"{_mean_s(result):,.0f}", f"{changes / len(result.jobs):.1f}"))
    return "\n".join(lines)


def _cost(path: Path) -> str:
    """The fastest of some runs, without the plan log."""
    lines = [_head("policy", "decisions", "decisions/s", "jobs/s")]
    for policy in PUBLISHED:
        runs = [_run(path, policy, log=False) for _ in range(TIMES)]
        best = min(runs, key=lambda run: run.info["engine_s"])
        decisions, engine_s = best.info["decisions"], best.info["engine_s"]
        speeds = (f"{decisions / engine_s:,.0f}", f"{len(best.jobs) / engine_s:,.0f}")
        lines.append(_line(f"`{policy}`", f"{decisions:,}", *speeds))
    return "\n".join(lines)


def _head(*names: str) -> str:
    return _line(*names) + "\n" + "|---" * len(names) + "|"


def _line(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"
