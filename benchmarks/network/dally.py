"""Part 1: Dally against its ablations and the baselines, and what the result hangs on."""

from collections.abc import Sequence
from dataclasses import replace

from benchmarks.network.cells import ALL, BASE, Entry
from benchmarks.network.jobs import fitting, pool
from benchmarks.network.runs import Measured, measure
from benchmarks.network.scope import Scope
from benchmarks.network.tables import changes, crossing, detail, overview, ranges, shapes, signed
from benchmarks.results.figures import markdown
from pointsman.report.units import count, digits, duration, percent
from pointsman.workload.generator.profile import DAY_S

MIXES = (("typical", 0), ("typical", 1), ("typical", 2), ("insensitive", 0))
OTHERS = [entry.label for entry in ALL if entry is not BASE]
SHOWN = [label for label in OTHERS if "σ" not in label]
CLAIMS = {"makespan_s": "Makespan of batches", "jct_s": "Mean JCT", "comm_s": "Waiting for communication"}
PUBLISHED = {"makespan_s": "up to −69 %", "jct_s": "up to −83 %", "comm_s": "up to −98 %"}

CROSSED = ("tiresias-skew", "gandiva", "las", "fifo-backfill", "dally-nowait", "dally-nopreempt")
"""Whom Dally is shown against at every load in every size."""

Found = tuple[dict[str, str], list[Measured]]
"""Tables by name, and what they are of."""


def main_tables(scope: Scope) -> Found:
    """Every policy over loads, sizes and congestions."""
    cells = list(dict.fromkeys([*scope.over_loads(), *scope.over_sizes(), *scope.batches()]))
    found = {one.cell: one for one in measure("dally", cells, ALL, scope.seeds, scope.data)}
    loads, sizes, batches = (
        [found[cell] for cell in part] for part in (scope.over_loads(), scope.over_sizes(), scope.batches())
    )
    middle = [one for one in loads if one.cell.load == scope.load]
    worst = max(one.cell.congestion for one in middle)
    tables = {
        "workloads": _workloads(scope),
        "overview": overview([one for one in middle if one.cell.congestion == worst]),
        "shapes": shapes([one for one in middle if one.cell.congestion == worst]),
        "claims": _claims([one for one in found.values() if one.cell.load], batches),
        "loads": changes(loads, "jct_s", SHOWN, "load", "load"),
        "loads-communication": changes(loads, "comm_s", SHOWN, "load", "load"),
        "sizes": changes(sizes, "jct_s", SHOWN, "GPUs", "gpus"),
        "sizes-makespan": changes(batches, "makespan_s", SHOWN, "GPUs", "gpus"),
    }
    for name in scope.workloads:
        for arrival, part in (("open", middle), ("batch", [one for one in batches if one.cell.gpus == scope.gpus])):
            tables[f"{name.lower()}-{arrival}"] = detail(one for one in part if one.cell.workload == name)
    return tables, list(found.values())


def crossed(scope: Scope) -> Found:
    """Loads by sizes, against a few."""
    few = [entry for entry in ALL if entry is BASE or entry.label in CROSSED]
    found = measure("crossing", scope.crossed(), few, scope.seeds, scope.data)
    return {f"crossing-{label}": crossing(found, "jct_s", label) for label in CROSSED}, found


def _workloads(scope: Scope) -> str:
    rows = []
    for name in scope.workloads:
        jobs, fit = pool(name, scope.data).jobs, fitting(name, scope.data, scope.gpus)
        work = fit["gpus"] * fit["duration_s"]
        gangs, wide = fit["gpus"] > 1, fit["gpus"] > 8
        rows.append(
            (
                name,
                f"{count(fit.height)} of {count(jobs.height)}",
                percent(gangs.mean()),
                percent(work.filter(gangs).sum() / work.sum()),
                percent(wide.mean()),
                percent(work.filter(wide).sum() / work.sum()),
                duration(fit["duration_s"].mean()),
                duration(fit["duration_s"].max()),
                f"{digits(16 * float(work.mean()) / scope.load / DAY_S)} d",  # ty: ignore
            )
        )
    columns = (
        "drawn from", "jobs that fit", "gangs", "of the GPU time", "wider than a node", "of the GPU time",
        "mean duration", "longest", f"submits span at load {scope.load:g}",
    )  # fmt: skip
    return markdown(columns, rows)


def _claims(opened: Sequence[Measured], batches: Sequence[Measured]) -> str:
    rows = []
    for figure, what in CLAIMS.items():
        part = batches if figure == "makespan_s" else opened
        rows += [(what, PUBLISHED[figure], *row) for row in ranges(part, figure, SHOWN)]
    factors = [f"{factor:g}x" for factor in sorted({one.cell.congestion for one in batches})]
    return markdown(("figure", "the paper says", "Dally against", *factors), rows, words=3)


def variations(scope: Scope) -> Found:
    """The same under other models, with costs, and on an older network."""
    worst = [cell for cell in scope.over_sizes() if cell.gpus == scope.gpus and cell.congestion == 16]
    few = [entry for entry in ALL if entry.policy != "gandiva"]
    mixes = {
        mix: measure(" ".join(map(str, mix)), [replace(cell, mix=mix) for cell in worst], few, scope.seeds, scope.data)
        for mix in MIXES
    }
    dear = measure("overheads", [replace(cell, overheads="realistic") for cell in worst], ALL, scope.seeds, scope.data)
    free = measure("without overheads", worst, ALL, scope.seeds, scope.data)
    slow = [replace(cell, network="ethernet", congestion=factor) for cell in worst for factor in (1.0, 4.0)]
    ethernet = measure("ethernet", slow, few, scope.seeds, scope.data)
    tables = {
        "models": _models(list(mixes.values()), few),
        "overheads": _overheads(free, dear),
        "ethernet": changes(ethernet, "jct_s", [e.label for e in few if e is not BASE], "GPUs", "gpus"),
        "ethernet-communication": changes(ethernet, "comm_s", [e.label for e in few if e is not BASE], "GPUs", "gpus"),
    }
    return tables, [*(one for part in list(mixes.values())[1:] for one in part), *dear, *ethernet]


def _models(mixes: Sequence[Sequence[Measured]], entries: Sequence[Entry]) -> str:
    rows = [
        (of_mix[0].cell.workload, entry.label, *(signed(one.change("jct_s", entry.label)[0]) for one in of_mix),
         *(signed(one.change("comm_s", entry.label)[0]) for one in of_mix))
        for of_mix in zip(*mixes, strict=True) for entry in entries if entry is not BASE
    ]  # fmt: skip
    names = [" ".join(map(str, mix)) for mix in MIXES]
    return markdown(
        ("workload", "Dally against", *(f"JCT: {n}" for n in names), *(f"comm.: {n}" for n in names)), rows, 2
    )


def _overheads(free: Sequence[Measured], dear: Sequence[Measured]) -> str:
    rows = []
    for one, other in zip(free, dear, strict=True):
        for entry in one.entries:
            times = [duration(m.mean(entry.label, "jct_s")) for m in (one, other)]
            dearer = other.mean(entry.label, "jct_s") / one.mean(entry.label, "jct_s") - 1
            told = ["", ""] if entry is BASE else [signed(m.change("jct_s", entry.label)[0]) for m in (one, other)]
            preempted = [digits(m.mean(entry.label, "preemptions")) for m in (one, other)]
            rows.append((one.cell.workload, entry.label, *times, signed(dearer), *told, *preempted))
    columns = (
        "workload", "policy", "mean JCT, free", "realistic", "dearer by", "Dally against it, free", "realistic",
        "preemptions a job, free", "realistic",
    )  # fmt: skip
    return markdown(columns, rows, words=2)
