"""``python -m benchmarks.marl.scale``: how long decisions take by servers and schedulers, and what that costs the jobs
that wait (``--decision-time``).

Each scheduler decides about one job after another. ``docs/results/data/marl-scale.csv`` has, for each count of servers
and of schedulers, the milliseconds of a decision of MARL's network on one core. It also has percent of mean JCT above
that of one scheduler which takes no time: of MARL with its own times, and of the linear scorer with longer ones.
"""

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from benchmarks.marl.cells import SEEDS, Cell
from benchmarks.marl.contestants import MARL, SCORER, everyone
from benchmarks.placement.cell import cluster, mean_jct_s, run, workload
from benchmarks.placement.contestants import given
from benchmarks.results.contestant import Contestant
from benchmarks.results.trials import DATA
from pointsman.learn.policies.marl import Marl

if TYPE_CHECKING:
    from pointsman.engine.run.view import View

SERVERS: Final = (128, 1024)
SCHEDULERS: Final = (1, 4, 16)
SLOW_S: Final = (1.0, 5.0, 10.0, 20.0)
"""Times of a decision at which the scorer is measured besides."""
JOBS_PER_SERVER: Final = 12
"""Half as many as in the base cell: at 1,024 servers a run of MARL takes minutes."""
LOAD: Final = 0.9


class Timed(Marl):
    """MARL, which notes how long its network takes."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.took_s: list[float] = []

    def _choose(self, view: "View") -> int:
        began = perf_counter()
        action = super()._choose(view)
        self.took_s.append(perf_counter() - began)
        return action


def rows_of(servers: int, folder: Path) -> list[dict[str, Any]]:
    """A row for each count of schedulers and time of a decision."""
    on = cluster(folder, servers, per_rack=4)
    found: list[dict[str, Any]] = []
    for schedulers in SCHEDULERS:
        who = {one.label: one for one in everyone(Cell(load=LOAD, schedulers=schedulers))}
        marl, scorer = (who[f"{label}, training 1"] for label in (MARL, SCORER))
        ms = _decision_ms(on, servers, given(marl))
        mine = (0.0, ms / 1e3) if schedulers == 1 else (ms / 1e3,)
        for label, one, times_s in ((SCORER, scorer, (0.0, *SLOW_S)), (MARL, marl, mine)):
            for decision_s in times_s:
                jct_s = _mean_jct_s(on, servers, one, decision_s)
                found.append(
                    {"servers": servers, "schedulers": schedulers, "who": label, "decision_ms": 1e3 * decision_s}
                    | {"mean_jct_s": round(jct_s, 1)}
                )
    alone = {row["who"]: row["mean_jct_s"] for row in found[::-1] if row["schedulers"] == 1 and not row["decision_ms"]}
    return [row | {"to_one_pct": round(100 * (row["mean_jct_s"] / alone[row["who"]] - 1), 2)} for row in found]


def _decision_ms(on: str, servers: int, params: dict[str, Any]) -> float:
    """The median over the decisions about the first jobs, whole microseconds."""
    policy = Timed(**params)
    run(workload("1-8", LOAD, 2 * servers, SEEDS[0], servers), on, policy)
    return round(1e3 * median(policy.took_s), 3)


def _mean_jct_s(on: str, servers: int, who: Contestant, decision_s: float) -> float:
    jobs = workload("1-8", LOAD, JOBS_PER_SERVER * servers, SEEDS[0], servers)
    return mean_jct_s(run(jobs, on, who.policy, params=dict(who.params), decision_time=decision_s))


def main() -> None:
    """See the module."""
    with TemporaryDirectory() as folder:
        rows = [row for servers in SERVERS for row in rows_of(servers, Path(folder))]
    pl.DataFrame(rows).write_csv(DATA / "marl-scale.csv")


if __name__ == "__main__":
    main()
