"""Tables of who waits, and for how long."""

from pointsman.report.metrics.groups import Group
from pointsman.report.tables.tables import Table
from pointsman.report.units import NOTHING, count, digits, duration

MOST_ROWS = 12
"""Rows of a table by user or queue; ``summary.json`` has all."""


def waiting_tables(groups: list[Group]) -> list[Table]:
    """Who waits: by GPU count, queue and user."""
    kinds = (
        ("bucket", "By GPUs requested", "GPUs"), ("account", "By account", "account"), ("queue", "By queue", "queue"),
        ("user", "By user", "user"),
    )  # fmt: skip
    tables = [_waiting(groups, by, title, name) for by, title, name in kinds]
    return [table for table in tables if table.rows]


def _waiting(groups: list[Group], by: str, title: str, name: str) -> Table:
    return _one_waiting(groups[0], by, title, name) if len(groups) == 1 else _all_waiting(groups, by, title, name)


def _one_waiting(group: Group, by: str, title: str, name: str) -> Table:
    columns = (
        name, "jobs", "GPU-hours", "mean pending", "median", "95 %", "99 %", "mean JCT", "mean ρ", "preemptions",
    )  # fmt: skip
    found = group.broken_down(by)
    rows = [
        (
            str(row[by]),
            count(row["jobs"]),
            digits(row["gpu_hours"]),
            *(duration(row[f"pending_{part}_s"]) for part in ("mean", "p50", "p95", "p99")),
            duration(row["jct_mean_s"]),
            NOTHING if row["fairness_rho_mean"] is None else digits(row["fairness_rho_mean"]),
            count(row["preemptions"]),
        )
        for row in found[:MOST_ROWS]
    ]
    return Table(title, columns, rows, _cut_note(len(found), name))


def _all_waiting(groups: list[Group], by: str, title: str, name: str) -> Table:
    found = [{row[by]: row for row in group.broken_down(by)} for group in groups]
    keys = list(dict.fromkeys(key for rows in found for key in rows))
    jobs = [next(rows[key]["jobs"] for rows in found if key in rows) for key in keys[:MOST_ROWS]]
    rows = [
        (str(key), count(number), *(duration(rows.get(key, {}).get("pending_mean_s")) for rows in found))
        for key, number in zip(keys, jobs, strict=False)
    ]
    columns = (name, "jobs", *(group.label for group in groups))
    return Table(f"{title}: mean time pending", columns, rows, _cut_note(len(keys), name))


def _cut_note(rows: int, name: str) -> str:
    if name == "GPUs" or rows < 2:
        return ""
    most = f"; the first {MOST_ROWS} of {rows:,} {name}s, summary.json has all" if rows > MOST_ROWS else ""
    return f"Most GPU-hours first{most}."


def longest_waits(group: Group, most: int = 10) -> Table:
    """The jobs that waited longest."""
    pending_s = group.counted["pending_s"]
    longest_s = pending_s.top_k(most).min()  # so that few jobs are sorted
    few = longest_s is not None and not pending_s.null_count()
    rows = group.counted.filter(pending_s >= longest_s) if few else group.counted
    rows = rows.sort(["pending_s", "row"], descending=[True, False], nulls_last=True).head(most)
    told = [
        (
            str(row["job_id"]),
            str(row["user"] or NOTHING),
            str(row["queue"] or NOTHING),
            count(row["gpus"]),
            duration(row["pending_s"]),
            duration(row["duration_s"]),
            duration(row["jct_s"]),
        )
        for row in rows.to_dicts()
    ]
    columns = ("job", "user", "queue", "GPUs", "pending", "duration", "JCT")
    return Table("Longest waits", columns, told, left=("user", "queue"))
