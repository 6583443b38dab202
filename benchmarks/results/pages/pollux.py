"""Pollux on the first workload of its paper's artifact, against the completion times that the paper published."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from benchmarks.results.contestant import Contestant, Setting
from benchmarks.results.figures import Figures, markdown, signed
from benchmarks.results.trials import DATA, Trial
from pointsman.cluster import load_cluster
from pointsman.report import summarise
from pointsman.report.result import Result
from pointsman.workload import read_workload

FILE: Final = Path("samples/pollux/workload-1.csv")
PUBLISHED_S: Final = {"pollux": 2088.8, "tiresias": 2473.7}
"""Mean JCT, raw results of Fig. 8a at load 1 (github.com/petuum/adaptdl, branch osdi21-artifact)."""
PUBLISHED_OF_S: Final = {
    "bert": 2686.0, "cifar10": 981.6, "deepspeech2": 3839.1, "imagenet": 40209.5, "ncf": 107.4, "yolov3": 12135.0,
}  # fmt: skip
"""The same under Pollux, by application."""
INTERVALS_S: Final = {f"pollux, {s} s": float(s) for s in (30, 120, 240, 480)}
PAPERS_S: Final = 60.0
"""Its interval between rounds, the default."""


@dataclass(frozen=True)
class Cell:
    """A network."""

    cluster: str


MEASURED, NOMINAL = Cell("pollux-measured"), Cell("pollux")
COMPARED: Final = tuple(Contestant(policy, policy) for policy in PUBLISHED_S)
AT_INTERVALS: Final = tuple(Contestant(label, "pollux", {"interval_s": s}) for label, s in INTERVALS_S.items())


def trials(_: Path) -> Iterator[Trial]:
    """Both policies on both networks, and other intervals."""
    yield Trial(MEASURED, 0, (*COMPARED, *AT_INTERVALS))
    yield Trial(NOMINAL, 0, COMPARED)


SPEEDS: Final = (Trial(MEASURED, 0, COMPARED),)


def setting(cell: Cell, _: int, data: Path) -> Setting:
    """As in the artifact, a start and a change of GPUs cost 30 s, and nothing else does."""
    cluster, options = load_cluster(cell.cluster), {"overheads": {"start_s": 30.0}}
    return Setting(read_workload(data / FILE), cluster, options, 0.0, _also, digits=6, log=True)


def _also(result: Result) -> Mapping[str, float]:
    """Changes of GPUs per job, decisions, and jobs and mean JCT by application."""
    by = result.jobs.group_by(pl.col("job_id").str.split("-").list.first()).agg(pl.len(), pl.col("jct_s").mean())
    of = {name: (jobs, mean_s) for name, jobs, mean_s in by.sort("job_id").rows()}
    return {
        "resizes": summarise(result)["resizes"] / result.jobs.height, "decisions": result.info["decisions"],
        **{f"jobs_{name}": jobs for name, (jobs, _) in of.items()},
        **{f"jct_{name}_s": mean_s for name, (_, mean_s) in of.items()},
    }  # fmt: skip


def _figure(figures: Figures, cell: Cell, policy: str, figure: str = "jct_mean_s") -> float:
    return figures.mean(vars(cell), policy, figure)


def _change(ours_s: float, published_s: float) -> str:
    return signed(100 * (ours_s / published_s - 1))


def _beside(ours_s: float, published_s: float) -> list[str]:
    return [f"{ours_s:,.0f}", f"{published_s:,.0f}", _change(ours_s, published_s)]


def policies(figures: Figures) -> str:
    """Mean JCT by policy and network."""
    rows = [
        [f"`{who}`", f"`{cell.cluster}`", *figures.told(who), *_beside(_figure(figures, cell, who), published_s)]
        for who, published_s in PUBLISHED_S.items()
        for cell in (MEASURED, NOMINAL)
    ]
    columns = ("policy", "cluster", "durations", "profiles", "progress", "mean JCT, s", "published, s", "difference, %")
    return markdown(columns, rows, words=5)


def _applications(figures: Figures) -> dict[str, tuple[int, float]]:
    return {
        name: (int(_figure(figures, MEASURED, "pollux", f"jobs_{name}")),
               _figure(figures, MEASURED, "pollux", f"jct_{name}_s"))
        for name in PUBLISHED_OF_S
    }  # fmt: skip


def applications(figures: Figures) -> str:
    """Mean JCT by application, under Pollux."""
    rows = [
        [name, str(jobs), *_beside(ours_s, PUBLISHED_OF_S[name])]
        for name, (jobs, ours_s) in _applications(figures).items()
    ]
    return markdown(("application", "jobs", "mean JCT, s", "published, s", "difference, %"), rows)


def _by_interval(figures: Figures) -> dict[float, tuple[float, float]]:
    """Mean JCT and changes of GPUs per job."""
    return {
        seconds: (_figure(figures, MEASURED, label), _figure(figures, MEASURED, label, "resizes"))
        for label, seconds in sorted({"pollux": PAPERS_S, **INTERVALS_S}.items(), key=lambda item: item[1])
    }


def intervals(figures: Figures) -> str:
    """Mean JCT by the interval between rounds."""
    rows = [[f"{s:g}", f"{mean_s:,.0f}", f"{resizes:.1f}"] for s, (mean_s, resizes) in _by_interval(figures).items()]
    return markdown(("interval, s", "mean JCT, s", "changes of GPUs per job"), rows)


def answer(figures: Figures) -> str:
    """The findings, each with its figures."""
    pollux_s, tiresias_s = (_figure(figures, MEASURED, who) for who in PUBLISHED_S)
    measured, nominal = (
        [_change(_figure(figures, cell, who), published_s) for who, published_s in PUBLISHED_S.items()]
        for cell in (MEASURED, NOMINAL)
    )
    off = {name: 100 * (s / PUBLISHED_OF_S[name] - 1) for name, (_, s) in _applications(figures).items()}
    early, late = min(off, key=off.__getitem__), max(off, key=off.__getitem__)
    rounds = {s: _change(mean_s, pollux_s) for s, (mean_s, _) in _by_interval(figures).items()}
    shortest, longest = min(rounds), max(rounds)
    return "\n".join(
        [
            f"* **Nearly.** The mean completion time (JCT) of Pollux differs by {measured[0]} % from the published "
            f"one, that of Tiresias by {measured[1]} %.",
            f"* **Its gain on Tiresias is smaller**: {_change(pollux_s, tiresias_s)} % here, "
            f"{_change(*PUBLISHED_S.values())} % published.",
            "* **The mean hides errors of both signs**: by application the difference is "
            f"{signed(off[early])} % ({early}) to {signed(off[late])} % ({late}).",
            f"* **Use the cluster `{MEASURED.cluster}`.** On the nominal network Pollux differs by {nominal[0]} %, "
            f"Tiresias by {nominal[1]} %.",
            f"* **Keep rounds of {PAPERS_S:g} s**, the default: mean JCT changes by {rounds[shortest]} % with "
            f"{shortest:g} s and by {rounds[longest]} % with {longest:g} s.",
        ]
    )


def cost(figures: Figures) -> str:
    """How fast the simulation is, rounds included."""
    rates = pl.read_csv(DATA / "pollux-speed.csv").select("policy", "median", "least", "most").rows()
    found = [
        f"`{policy}` {median:,} [{least:,}, {most:,}], {_figure(figures, MEASURED, policy, 'decisions'):,.0f} decisions"
        for policy, median, least, most in rates
    ]
    return f"Simulated jobs a second on one core, rounds included, median [range] of five runs: {'; '.join(found)}."


BLOCKS: Final = {
    "answer": answer, "policies": policies, "applications": applications, "intervals": intervals, "cost": cost,
}  # fmt: skip
