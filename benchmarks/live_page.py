"""Fills ``docs/results/live.md`` and draws its picture, from the tables in ``docs/results/data/live``.

python -m benchmarks.live_page
"""

from pathlib import Path
from statistics import fmean
from typing import Final

import matplotlib as mpl
import polars as pl
from matplotlib.figure import Figure

from benchmarks.blocks import fill

PAGE: Final = Path("docs/results/live.md")
DATA: Final = Path("docs/results/data")
LEAST, SHOWN = 10, 50
"""Promises that a log must have to count, and to have a row."""
_MOST: Final = "8,640"
"""Submissions that are timed at once."""
RUNS: Final = {"alone": "no daemon", "first": "daemon"}
"""Runs of a real Slurm that the table has, as it calls them."""
FORETOLD: Final = {"foretold": "Of the predicted starts", "foretold-later": "with a history"}
"""Those of which predictions are told below it, made as they are made now."""
OF_SLURM: Final[dict[str, tuple[str, ...]]] = {
    "requests a minute": ("{:.0f}", "requests a minute"),
    "controller, s of a core a minute": ("{:.1f}", "controller CPU, s/"),
    "daemon, forecasts, same": ("{:.1f}, {:.1f}", "daemon and commands CPU, s/", "forecasts CPU, s/"),
    "turn, ms: median, p99": ("{:.0f}, {:.0f}", "turn median, ms", "turn p99, ms"),
    "start to row, ms: same": ("{:,.0f}, {:,.0f}", "lag median, ms", "lag p99, ms"),
    "starts agreed, %": ("{:.1f}", "agreement, %"),
}
"""Rows of the table of a real Slurm: how they are written, and of which figures; one with a slash is told a minute."""
COLOURS: Final = {"fifo-backfill": "tab:gray", "sjf": "tab:green", "las": "tab:blue", "gittins": "tab:orange"}


def _table(heads: list[str], rows: list[list[str]]) -> str:
    head, *lines = (f"| {' | '.join(line)} |" for line in (heads, *rows))
    return "\n".join((head, f"|:--|{'--:|' * (len(heads) - 1)}", *lines)) + "\n"


def _range(values: list[float], form: str = "{:+.1f}") -> str:
    each = ", ".join(form.format(value) for value in values)
    return each if len(values) == 1 else f"{form.format(fmean(values))} ({each})"


def fidelity(table: pl.DataFrame) -> str:
    """A row for each policy, of jobs that wait."""
    rows = []
    for (policy,), runs in table.filter(program="waits").group_by("policy", maintain_order=True):
        rows.append([
            f"`{policy}`",
            f"{runs['jct_live_s'].mean():.1f}",
            f"{runs['jct_simulated_s'].mean():.1f}",
            _range([100 * value for value in runs.sort("seed")["apart"].to_list()]),
            f"{runs['preemptions_live'].sum()}, {runs['preemptions_simulated'].sum()}",
        ])  # fmt: skip
    heads = ["policy", "live", "simulated", "difference, % (by seed)", "preemptions"]
    return _table(heads, rows)


def budget(table: pl.DataFrame) -> str:
    """What starts, stops and running took."""
    waits = table.filter(pl.col("program") == "waits")
    stops = waits.filter(pl.col("preemptions_live") > 0)
    start_s, slow_s = waits["start_s"].mean(), waits["start_p90_s"].mean()
    others = table.filter(program="computes").select("apart", "policy").rows()
    computing = ", ".join(f"{100 * apart:+.1f} % (`{policy}`)" for apart, policy in others)
    stop_s, restart_s = stops["stop_s"].mean(), stops["restore_s"].mean()
    return (
        f"A start took {start_s:.2f} s on average ({slow_s:.2f} s for the slowest tenth), a stop {stop_s:.2f} s, a "
        f"restart {restart_s:.2f} s more than a start, and jobs ran {100 * waits['longer_mean_ratio'].mean():.1f} % "
        f"longer than asked. Jobs that compute, on two cores that all share, differ more: {computing}.\n"
    )


def promises(table: pl.DataFrame) -> str:
    """A row for each log and policy."""
    rows = [
        [
            f"{row['log']}, `{row['policy']}`", f"{row['promised']:,}", f"{100 * row['kept_ratio']:.0f}",
            f"{100 * row['too_late_ratio']:.0f}", f"{row['wait_median_h']:.1f}", f"{row['width_median_h']:.1f}",
            f"{row['error_median_h']:.1f}",
        ]
        for row in table.to_dicts()
    ]  # fmt: skip
    heads = ["log and policy", "promised", "kept, %", "later, %", "wait, h", "range, h", "error, h"]
    return _table(heads, rows)


def thrash(table: pl.DataFrame) -> str:
    """How many preemptions there are if stops take random times, or longer."""
    policies = table.drop("log").group_by("policy", maintain_order=True).sum()
    fixed, random, longer = policies.drop("policy").get_columns()
    named = ", ".join(f"`{name}`" for name in policies["policy"])
    by_random, by_longer = (100 * (stops / fixed - 1).max() for stops in (random, longer))
    return (
        f"They raise preemptions by at most {by_random:.1f} %, and stops of 60 s instead of 5 s by at most "
        f"{by_longer:.1f} % (600 jobs each of three of these logs; {named}).\n"
    )


def slurm(table: pl.DataFrame) -> str:
    """A row for each figure, without a daemon and with one; and what became of predicted starts."""
    runs = [dict(table.filter(run=run).select("figure", "value").rows()) for run in RUNS]
    rows = [[title, *(_figures(run, *names) for run in runs)] for title, names in OF_SLURM.items()]
    foretold = [f"{title} {_of_predictions(table, run)}" for run, title in FORETOLD.items()]
    return f"{_table(['', *RUNS.values()], rows)}\n{'; '.join(foretold)}.\n"


def _of_predictions(table: pl.DataFrame, run: str) -> str:
    found = dict(table.filter(run=run).select("figure", "value").rows())
    form = "{:.0f} % of {:,.0f} are in range (medians: wait {:.0f} s, error {:.0f} s, range {:.0f} s)"
    names = ("all: kept, %", "all: promised", *(f"all: {name} median, s" for name in ("wait", "error", "range")))
    return _figures(found, form, *names)


def _figures(run: dict[str, float], form: str, *names: str) -> str:
    """Some figures of a run; nothing if it has none of them."""
    if not all(name.removesuffix("/") in run for name in names):
        return ""
    return form.format(*(run[name] if name in run else run[name[:-1]] / run["minutes"] for name in names))


def acting(table: pl.DataFrame) -> str:
    """A row for each policy that decided on a real Slurm, and one for Slurm's own."""
    rows = []
    for (policy,), runs in table.group_by("policy", maintain_order=True):
        decided = runs["apart"].null_count() == 0
        compared = (
            f"{runs['jct_live_s'].mean():.1f}, {runs['jct_simulated_s'].mean():.1f}",
            _range([100 * value for value in runs["apart"]]),
            f"{runs['preemptions_live'].sum()}, {runs['preemptions_simulated'].sum()}",
        ) if decided else [""] * 3  # fmt: skip
        rows.append([
            f"`{policy}`" if decided else "Slurm", *compared, _range(runs["jct_s"].to_list(), "{:.1f}"),
            f"{runs['wait_s'].mean():.1f}, {runs['wait_p90_s'].mean():.0f}", f"{100 * runs['busy_ratio'].mean():.0f}",
        ])  # fmt: skip
    heads = [
        "policy",
        "live, simulated",
        "difference, % (by seed)",
        "preemptions",
        "users",
        "wait: mean, p90",
        "busy, %",
    ]
    return _table(heads, rows)


def acting_budget(table: pl.DataFrame, slurm: pl.DataFrame) -> str:
    """What starts, stops, looks and turns took, and how many there were."""
    runs = table.drop_nulls("apart")
    of_sjf = runs.filter(policy="sjf")
    stops = runs.filter(pl.col("preemptions_live") > 0)
    burst = dict(slurm.filter(run="burst").select("figure", "value").rows())
    turns = [runs[f"turn {name}, ms"] for name in ("median", "p99")]
    low, high = 100 * runs["jitter_low"].min(), 100 * runs["jitter_high"].max()
    return (
        f"Starts took {runs['start_s'].mean():.1f} s (p90 {runs['start_p90_s'].mean():.1f} s), stops "
        f"{stops['stop_s'].mean():.1f} s. Under `sjf` many start at once behind a wide job (p90 "
        f"{of_sjf['start_p90_s'].mean():.1f} s); simulations know the mean. Durations moved by up to 0.5 s move "
        f"simulated means by {low:+.1f} to {high:+.1f} %. Turns took {turns[0].mean() / 1000:.1f} s (median; p99 "
        f"{turns[1].median() / 1000:.1f} s, of one run {turns[1].max() / 1000:.1f} s). {burst['starts']:.0f} jobs at "
        f"once begin at {burst['starts a second']:.0f} a second, and are preempted at {burst['stops a second']:.0f}.\n"
    )


def speed(table: pl.DataFrame) -> str:
    """A row for each policy, and what users wait for."""
    took = {(row["what"], row["policy"] or ""): row for row in table.to_dicts()}
    policies = [policy for what, policy in took if what == "turn"]
    rows = []
    for policy in policies:
        turn, beside = took["turn", policy], took["turn beside a forecast", policy]
        times_ms = [turn["median_ms"], turn["p99_ms"], beside["p99_ms"]]
        times_s = [took[what, policy]["median_ms"] / 1000 for what in ("recovery", "forecast")]
        rows.append([f"`{policy}`", *(f"{ms:.0f}" for ms in times_ms), *(f"{s:.1f}" for s in times_s)])
    heads = ["policy", "turn, ms: median", "p99", "p99 beside a forecast", "recovery, s", "forecast, s"]
    each_ms = took[f"submission, one of {_MOST}", ""]["median_ms"]
    answered = took[f"submission, one of {_MOST}, answered", ""]
    queue = [took[f"queue, {jobs} jobs", ""]["median_ms"] / 1000 for jobs in ("960", "9,600")]
    return (
        f"{_table(heads, rows)}\nSixteen clients at once submit {1000 / each_ms:.0f} jobs a second; each is "
        f"answered after {answered['median_ms']:.0f} ms (p99 {answered['p99_ms']:.0f} ms), when its job is on disk. "
        f"`queue` takes {queue[0]:.2f} s with 960 jobs and {queue[1]:.2f} s with 9,600.\n"
    )


def draw(jobs: pl.DataFrame, path: Path) -> None:
    """Completion times of jobs, simulated beside live."""
    mpl.rcParams["svg.hashsalt"] = "live"
    figure = Figure(figsize=(8.0, 2.7), layout="constrained")
    for axes, (policy, colour) in zip(figure.subplots(1, 4, sharex=True, sharey=True), COLOURS.items(), strict=True):
        own = jobs.filter((pl.col("policy") == policy) & (pl.col("program") == "waits"))
        ends = [2, 400]
        axes.plot(ends, ends, color="black", linewidth=0.8)
        axes.loglog(own["jct_live_s"], own["jct_simulated_s"], ".", color=colour, markersize=4)
        axes.set(title=policy, xlabel="live, s", xlim=ends, ylim=ends, aspect="equal")
    figure.axes[0].set_ylabel("simulated, s")
    figure.savefig(path, metadata={"Date": None})


def _worst(runs: pl.DataFrame) -> float:
    """The largest difference, %."""
    return 100 * max(abs(value) for value in runs["apart"].to_list())


def main() -> None:
    """See the module."""
    read = {
        name: pl.read_csv(DATA / f"live-{name}.csv")
        for name in ("fidelity", "promises", "thrash", "speed", "slurm", "slurm-fidelity")
    }
    waits = read["fidelity"].filter(pl.col("program") == "waits")
    worst, of_sjf = (_worst(waits.filter((pl.col("policy") == "sjf") == is_sjf)) for is_sjf in (False, True))
    on_slurm = read["slurm-fidelity"].drop_nulls("apart")
    promised = read["promises"].filter(pl.col("promised") >= LEAST)
    ratio = (promised["kept_ratio"] * promised["promised"]).sum() / promised["promised"].sum()
    tables = {
        "answer": (
            "* **What happens is what was simulated**: mean completion times of real jobs that wait on a clock differ "
            f"from the simulated ones by at most {worst:.1f} % under `fifo-backfill`, `las` and `gittins`, and by up "
            f"to {of_sjf:.1f} % under `sjf`, whose order hangs on learned durations; on a real Slurm by at most "
            f"{_worst(on_slurm.filter(pl.col('policy') != 'sjf')):.1f} and {_worst(on_slurm):.1f} %.\n"
            f"* **Of the starts that were promised, {100 * ratio:.0f} %** came within ranges meant to hold 90 %.\n"
        ),
        "fidelity": fidelity(read["fidelity"]),
        "budget": budget(read["fidelity"]),
        "promises": promises(promised.filter(pl.col("promised") >= SHOWN)),
        "slurm": slurm(read["slurm"]),
        "acting": acting(read["slurm-fidelity"]),
        "acting-budget": acting_budget(read["slurm-fidelity"], read["slurm"]),
        "thrash": thrash(read["thrash"]),
        "speed": speed(read["speed"]),
    }
    fill(PAGE, tables)
    draw(pl.read_csv(DATA / "live-jobs.csv"), PAGE.with_suffix(".svg"))


if __name__ == "__main__":
    main()
