"""Why a job waits, and when it is expected to start, in sentences."""

import math

from pointsman.cluster.hostlist import compress
from pointsman.explain.pending import Names, explain_now
from pointsman.inputs.durations import duration
from pointsman.inputs.messages import counted
from pointsman.live.daemon.forecaster import Foretold
from pointsman.live.daemon.job_ids import JobIds
from pointsman.live.daemon.views import PAUSED, Row, Views
from pointsman.live.forecast.calibration import Start
from pointsman.live.records.book import Cause

_RANGE = ("early", "expected", "late")
"""When a job will start."""


class Explanations:
    """Explains jobs that have not ended."""

    def __init__(self, views: Views, ids: JobIds) -> None:
        self._views, self._daemon, self._ids = views, views.daemon, ids

    def explain(self, number: int) -> Row | None:
        """What a job that has not ended is doing, or waiting for; None if there is none."""
        loop = self._daemon.loop
        if number not in loop.jobs:
            return None
        row = self._explain(number)
        share = self._daemon.backend.progress(number)
        done = "" if share is None else f"; it says that {share:.0%} of its work is done"
        return row | {"job_id": self._ids.id_of(number), "said": row["said"] + self._describe_preemption(number) + done}

    def _explain(self, number: int) -> Row:
        loop, names = self._daemon.loop, Names(lambda row: str(self._ids.id_of(row)), self._views.instant)
        if number in loop.held:
            return {"state": "PENDING", "reason": loop.holds()[number], "said": loop.why_held(number)}
        if (pause := loop.pauses.of(number)) is not None:
            failures, until_ms = pause
            left = duration(max(0, until_ms - self._daemon.clock.now_ms()) / 1000)
            many = counted(failures, "attempt")
            said = f"{many} in a row did not start, or ended within a minute unseen; it is tried again in {left}"
            return {"state": "PENDING", "reason": PAUSED, "said": said}
        world = loop.world
        now_ms = self._daemon.clock.now_ms()
        try:
            with self._daemon.watched():
                state, reason, said = explain_now(world.simulation, world.prepared, number, names, now_ms)
        except Exception as error:  # of a policy in Python
            state, reason, said = "PENDING", None, f"its policy cannot say why: {error}"
        if state == "PENDING":
            said += self._nodes_away()
        return {"state": state, "reason": reason.name if reason else "", "said": said}

    def _describe_preemption(self, number: int) -> str:
        attempts = self._daemon.store.archive.attempts_of([number])[number]
        stopped = [one for one in attempts if one["cause"] == Cause.PREEMPT and one["started_ms"] is not None]
        if not stopped:
            return ""
        last = stopped[-1]
        ran = duration((last["stopping_ms"] - last["started_ms"]) / 1000)
        many = "once" if len(stopped) == 1 else f"{len(stopped)} times"
        return f"; it was preempted {many}, last at {self._views.instant(last['stopping_ms'])} after {ran}"

    def starts(self, foretold: Foretold) -> list[Row]:
        """The jobs that wait, with when they will start, the first first."""
        rows = []
        for number, row in self._views.queue_by_number().items():
            start = foretold.starts.get(number)
            if row["state"] == "PENDING":
                times = start or Start(math.inf, math.inf, math.inf)
                rows.append((times.likely_ms, number, row | self._range_s(foretold, times)))
        return [row for _, _, row in sorted(rows, key=lambda one: one[:2])]

    def _range_s(self, foretold: Foretold, start: Start) -> Row:
        at_ms = [foretold.at_ms + round(ms) if math.isfinite(ms) else None for ms in start.times_ms]
        return {f"{name}_s": self._views.unix_s(ms) for name, ms in zip(_RANGE, at_ms, strict=True)}

    def expected(self, number: int, foretold: Foretold) -> Row:
        """What `explain` says besides: when a job is expected to start."""
        start = foretold.starts.get(number)
        if start is None:
            return {}
        since_ms = self._daemon.clock.now_ms() - foretold.at_ms
        early, likely, late = (max(0.0, ms - since_ms) / 1000 for ms in start.times_ms)
        times = self._range_s(foretold, start)
        if math.isinf(likely):
            return times | {"expected": "it is not expected to start within a week"}
        between = f"{duration(early)} or more" if math.isinf(late) else f"{duration(early)} to {duration(late)}"
        return times | {"expected": f"it is expected to start in {duration(likely)} (90 %: {between})"}

    def _nodes_away(self) -> str:
        """Which nodes take no jobs."""
        away = {row["node"]: row["gpus"] for row in self._views.nodes() if row["state"] != "UP"}
        if not away:
            return ""
        gpus, verb = counted(sum(away.values()), "GPU"), "takes" if len(away) == 1 else "take"
        return f"; {compress(away)} with {gpus} {verb} no jobs"
