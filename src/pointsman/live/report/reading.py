"""Findings, read from the store of a daemon that observes, which may write on."""

import json
import sqlite3
from bisect import bisect_left
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Final

from pointsman.cluster.yaml_file import parse_cluster
from pointsman.errors import InputError
from pointsman.live.control.clock import ANCHOR
from pointsman.live.daemon.daemon import CLUSTER
from pointsman.live.daemon.setting import DECIDING, OBSERVED, SORT, SORTS
from pointsman.live.observe.advising import TAKEN_BACK
from pointsman.live.records.archive import at_one_moment
from pointsman.live.records.store import job_of
from pointsman.live.report.findings import Advice, Cost, Decision, Findings, Foretold, JobFacts, Passed, Worth
from pointsman.types import Verb

HOUR_MS: Final = 3_600_000
_MINUTE_MS: Final = 60_000
"""What looking costs is noted minute by minute."""
_CHANGED: Final = "SELECT ifnull(max(at_ms), 0) FROM audit WHERE verb = 'policy'"
_NOTED: Final = """
SELECT at_ms FROM decisions UNION ALL SELECT at_ms FROM worths UNION ALL SELECT made_ms AS at_ms FROM promises
"""
_FIRST: Final = f"SELECT min(at_ms) FROM ({_NOTED}) WHERE at_ms >= ?"
_LAST: Final = f"""
SELECT max(at_ms) FROM ({_NOTED} UNION ALL SELECT at_ms FROM journal WHERE what = 'advance'
UNION ALL SELECT end_ms FROM jobs)
"""
_ADVICE: Final = """
SELECT count(*), count(DISTINCT target) FROM audit WHERE verb = 'nice' AND at_ms >= ? AND detail <> ?
"""
_DECISIONS: Final = "SELECT * FROM decisions WHERE at_ms >= ? ORDER BY seq"
_JOBS: Final = "SELECT id, spec, end_ms FROM jobs"
_STARTS: Final = "SELECT job, started_ms FROM attempts WHERE started_ms IS NOT NULL ORDER BY job, started_ms"
_PROMISES: Final = """
SELECT made_ms, early_ms, likely_ms, late_ms, started_ms
FROM promises JOIN jobs ON id = promises.job LEFT JOIN attempts ON attempts.job = promises.job AND attempt = 1
WHERE made_ms >= :first AND (started_ms IS NOT NULL OR end_ms IS NULL AND late_ms < :last) ORDER BY promises.job
"""


def read_findings(store: Path) -> Findings:
    """Everything since the policy was last changed.

    Raises:
        InputError: `store` is none, not of a daemon that observes, of another version, or nothing was decided yet.
    """
    with at_one_moment(store) as connection:
        return _Reading(connection, store).findings()


class _Reading:
    """By one connection. Times are those of the store, in ms, until they are handed out."""

    def __init__(self, connection: sqlite3.Connection, store: Path) -> None:
        self._ask = connection.execute
        self._kept = dict(tuple(row) for row in self._ask("SELECT key, value FROM meta"))
        _check_sort(self._kept.get(SORT), store)
        changed_ms = self._one(_CHANGED)
        self._decided = self._ask(_DECISIONS, (changed_ms,)).fetchall()
        if not self._decided:
            fix = "wait until a job with GPUs has been started"
            raise InputError("no decision of the observed scheduler has been seen yet", path=store, fix=fix)
        self._first_ms, self._last_ms = self._one(_FIRST, changed_ms), self._one(_LAST)
        anchor = json.loads(self._kept[ANCHOR])
        self._origin_ms = anchor["unix_ms"] - anchor["at_ms"]

    def findings(self) -> Findings:
        """What the store has."""
        layout = parse_cluster(self._kept[CLUSTER], origin="the store").layout()
        costs = self._costs()
        return Findings(
            json.loads(self._kept[DECIDING])["policy"],
            int(layout.node_gpus.sum()),
            len(layout.node_names),
            self._unix_s(self._first_ms),
            self._unix_s(self._last_ms),
            [self._decision(row) for row in self._decided],
            [self._worth(row) for row in self._since("SELECT * FROM worths WHERE at_ms >= ? ORDER BY at_ms")],
            [_foretold(row) for row in self._ask(_PROMISES, {"first": self._first_ms, "last": self._last_ms})],
            [cost for cost in costs if cost.command],
            next((cost for cost in costs if not cost.command), None),
            [(self._unix_s(row["at_ms"]), row["said"]) for row in self._since("SELECT * FROM alarms WHERE at_ms >= ?")],
            self._unjudged(),
            advice=self._advice(),
        )

    def _advice(self) -> Advice | None:
        changes, jobs = self._ask(_ADVICE, (self._first_ms, TAKEN_BACK)).fetchone()
        return Advice(changes, jobs) if changes else None

    def _one(self, sql: str, *values: int) -> int:
        return self._ask(sql, values).fetchone()[0]

    def _since(self, sql: str) -> list[sqlite3.Row]:
        return self._ask(sql, (self._first_ms,)).fetchall()

    def _unix_s(self, at_ms: int) -> float:
        return (self._origin_ms + at_ms) / 1000

    # -- jobs and decisions -------------------------------------------------------------------------------

    @cached_property
    def _facts(self) -> dict[int, tuple[JobFacts, int | None]]:
        """What is told of each job, and when it ended."""
        return {row["id"]: (_facts_of(row), row["end_ms"]) for row in self._ask(_JOBS)}

    @cached_property
    def _starts_ms(self) -> dict[int, list[int]]:
        found: dict[int, list[int]] = {}
        for row in self._ask(_STARTS):
            found.setdefault(row["job"], []).append(row["started_ms"])
        return found

    def _decision(self, row: sqlite3.Row) -> Decision:
        at_ms, job = row["at_ms"], row["job"]
        would = [] if row["agrees"] else [job for verb, job in json.loads(row["instead"]) if verb == Verb.START.name]
        return Decision(
            self._unix_s(at_ms),
            None if job is None else self._facts[job][0],
            bool(row["agrees"]),
            row["said"],
            tuple(self._passed(job, at_ms) for job in would),
        )

    def _passed(self, job: int, at_ms: int) -> Passed:
        facts, end_ms = self._facts[job]
        starts_ms = self._starts_ms.get(job, [])
        later = bisect_left(starts_ms, at_ms)
        begun = later < len(starts_ms)
        until_ms = starts_ms[later] if begun else self._last_ms if end_ms is None else end_ms
        return Passed(facts, self._unix_s(until_ms), begun)

    def _unjudged(self) -> int:
        """Starts since the first decision that none of the decisions is about."""
        judged = {(row["job"], row["at_ms"]) for row in self._decided}
        seen = {(job, at_ms) for job, all_ms in self._starts_ms.items() for at_ms in all_ms if at_ms >= self._first_ms}
        return len(seen - judged)

    # -- worth and cost -----------------------------------------------------------------------------------

    def _worth(self, row: sqlite3.Row) -> Worth:
        times = (row["now_s"], row["change_s"], row["low_s"], row["high_s"])
        return Worth(self._unix_s(row["at_ms"]), row["jobs"], *times, row["gain"], row["lose"])

    def _costs(self) -> list[Cost]:
        """By command that asked the controller, the costliest first; that without a name is of all together."""
        hours: dict[int, dict[str, int]] = {}
        slowest_s: dict[str, float] = {}
        for row in self._ask("SELECT * FROM looks WHERE hour >= ?", (self._first_ms // HOUR_MS,)):
            hours.setdefault(row["hour"], {})[row["command"]] = row["requests"]
            slowest_s[row["command"]] = max(slowest_s.get(row["command"], 0.0), row["longest_s"])
        minutes = {hour: self._minutes_of(hour) for hour in hours}
        asking = {command for requests in hours.values() for command, many in requests.items() if many}
        for requests in hours.values():
            requests[""] = sum(requests.values())
        slowest_s[""] = max((slowest_s[command] for command in asking), default=0.0)
        all_ = {"", *asking} if asking else ()
        found = [_cost(command, hours, minutes, slowest_s[command]) for command in all_]
        return sorted(found, key=lambda one: (-one.a_minute, one.command))

    def _minutes_of(self, hour: int) -> float:
        """For how long it was looked in an hour."""
        from_ms, to_ms = max(hour * HOUR_MS, self._first_ms), min((hour + 1) * HOUR_MS, self._last_ms)
        return max(to_ms - from_ms, _MINUTE_MS) / _MINUTE_MS


def _check_sort(sort: str | None, store: Path) -> None:
    if sort != OBSERVED:
        what = "no daemon has kept anything here" if sort is None else f"the jobs of this store {SORTS[sort]}"
        fix = "name the directory of a daemon that was started with --observe, by --state"
        raise InputError(f"{what}, so nothing was observed", path=store, fix=fix)


def _facts_of(row: sqlite3.Row) -> JobFacts:
    job = job_of(row["spec"])
    kind = job.kind
    return JobFacts(job.shown or str(row["id"]), kind.gpus, kind.user or "", kind.account or "", kind.partition or "")


def _foretold(row: sqlite3.Row) -> Foretold:
    names = ("early_ms", "likely_ms", "late_ms", "started_ms")
    return Foretold(*(None if row[name] is None else (row[name] - row["made_ms"]) / 1000 for name in names))  # ty: ignore


def _cost(command: str, hours: Mapping[int, Mapping[str, int]], minutes: Mapping[int, float], slowest_s: float) -> Cost:
    asked = {hour: requests.get(command, 0) for hour, requests in hours.items()}
    most = max(asked[hour] / minutes[hour] for hour in hours)
    return Cost(command, sum(asked.values()) / sum(minutes.values()), most, slowest_s)
