"""Random runs in which one policy takes over from another, again and again, and asks what would be if others did.

`main` runs so many of them; the audit looks on. With the JIT off, an index out of range is an error.
"""

import json
import random
import sys
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl

from pointsman import Workload
from pointsman.api import open_simulation
from pointsman.cluster import load_cluster
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.setup.overheads import Overheads
from pointsman.errors import UsageError
from pointsman.experiment import RunOptions
from pointsman.policies.registry import PolicySpec, get_policy

NAMES = (
    "fifo", "sjf", "fifo-backfill", "easy", "srtf", "tiresias", "las", "tiresias-skew", "gandiva", "gandiva-packing",
    "dally", "gittins", "sjf-bsbf", "sjf-ffs", "pollux", "lwf", "srsf", "ada-srsf", "pick-place", "pick-place-sjf",
    "rounds(srtf, 7)", "rounds(dally, 3)",
)  # fmt: skip
WORLDS: tuple[dict[str, Any], ...] = (
    {}, {"contention": "max-min"}, {"contention": "node-link"}, {"gpu_sharing": 2}, {"gpu_sharing": 3},
    {"rate_model": "iterations"}, {"rate_model": "goodput"}, {"rate_model": "tree"},
)  # fmt: skip
SPAN_S = 40
DEPTH = 2
"""What-ifs inside a what-if."""


@dataclass
class Tally:
    """That the runs were what they are meant to be."""

    takeovers: int = 0
    refused: int = 0
    futures: int = 0


class Whims:
    """Starts, preempts and resizes at random, admits transfers, asks what if, and keeps account of the jobs it is told
    of.
    """

    name, admits = "whims", True

    def __init__(self, draw: random.Random, tally: Tally, needs: str, depth: int = DEPTH) -> None:
        self.draw, self.tally, self.needs, self.depth = draw, tally, needs, depth
        self.known: set[int] = set()

    def copy(self) -> "Whims":
        """With a memory of its own."""
        return Whims(self.draw, self.tally, self.needs, self.depth - 1)

    def on_event(self, view: Any, kind: int, job: int) -> None:
        """Every job in the system has been told of."""
        if job >= 0:
            self.known.add(job)

    def decide(self, view: Any) -> None:
        """As it pleases."""
        assert {*view.pending.tolist(), *view.running.tolist()} <= self.known
        for job in view.running.tolist():
            if self.draw.random() < 0.1:
                view.preempt(job)
            elif self.draw.random() < 0.1:
                view.resize(job, view.find(job))
        if self.draw.random() < 0.3:
            self.ask(view)
        for job in view.pending.tolist():
            if self.draw.random() < 0.6:
                room = view.with_room(job)
                view.start(job, self.draw.sample(room, k=min(len(room), int(view.jobs["asked"][job]))) or None)
            elif self.draw.random() < 0.8:
                view.start(job)
        for job in view.waiting_transfers:
            view.admit(job)
        if self.draw.random() < 0.3:
            self.ask(view)
        if view.pending_count or len(view.running):
            view.wake_at(view.now_s + self.draw.randint(1, 9))

    def ask(self, view: Any) -> None:
        """What would be, and that asking changes nothing."""
        if self.depth == 0:
            return
        before = bytes_of(view._simulation)
        try:
            future = view.what_if(self.draw.choice([*NAMES, self]))
            roll(future, self.draw, self.tally, self.needs, self.depth)
            self.tally.futures += 1
        except UsageError:
            self.tally.refused += 1
        assert bytes_of(view._simulation) == before


def bytes_of(simulation: Simulation) -> list[bytes]:
    """All of a state and its world but scratch."""
    handle = simulation.handle
    arrays = {**handle.state._asdict(), **handle.world._asdict()}
    return [array.tobytes() for name, array in arrays.items() if name not in ("log", "place")]


def roll(simulation: Simulation, draw: random.Random, tally: Tally, needs: str, depth: int) -> Simulation:
    """Run on for a while under policies that take over from one another."""
    for _ in range(draw.randint(1, 3)):
        simulation.run(simulation.now_ms + 1000 * draw.randint(0, SPAN_S // 2))
        for _ in range(draw.randint(0, 2)):  # several in a row
            other: Any = draw.choice(NAMES)
            try:
                if draw.random() < 0.3:
                    simulation = simulation.adopt(Whims(draw, tally, needs, depth - 1))
                else:
                    spec = get_policy(other)
                    simulation = simulation.adopt(spec.make(), round(1000 * spec.round_s))
                tally.takeovers += 1
            except UsageError:
                tally.refused += 1
    return simulation


def jobs_of(draw: random.Random) -> Workload:
    """Gangs of few GPUs, with and without models."""
    rows = []
    for _ in range(draw.randint(3, 12)):
        duration_s = float(draw.choice([0, draw.randint(1, 20), draw.randint(1, 20)]))
        gpus = draw.choice([1, 1, 2, 3, 4, 6])
        rows.append(
            {
                "submit_s": float(draw.randint(0, SPAN_S)),
                "gpus": gpus,
                "duration_s": duration_s,
                "time_limit_s": max(1.0, duration_s * draw.choice([0.5, 1.0, 2.0])),
                "priority": draw.choice([0, 0, 1]),
                "model": draw.choice(["resnet50", "vgg16", "ncf", None]),
                "fraction": draw.choice([None, 0.25]) if gpus == 1 else None,
            }
        )
    schema = {"model": pl.String, "fraction": pl.Float64}
    return Workload.of(pl.DataFrame(rows, schema_overrides=schema).sort("submit_s"))


def overheads_of(draw: random.Random) -> Overheads:
    """Often none."""
    if draw.random() < 0.4:
        return Overheads()
    start_s = draw.choice([0.0, 2.0])
    return Overheads(
        start_s=start_s, stop_s=draw.choice([0.0, 1.5]), restore_s=draw.choice([0.0, 1.0]),
        rebatch_s=draw.choice([0.0, 1.0]), lost_s=draw.choice([0.0, 2.0]),
        checkpoint_every_s=draw.choice([0.0, 3.0]), start_fail_rate=0.2 if start_s else 0.0,
    )  # fmt: skip


def one(seed: int, tally: Tally) -> None:
    """A random run, until everything is over."""
    draw = random.Random(seed)
    jobs, world = jobs_of(draw), draw.choice(WORLDS)
    needs = draw.choice(["none", "estimate", "oracle"])
    estimate = draw.choice(["limit", "oracle", "lognormal:0.8"]) if needs != "none" else None
    whims = Whims(draw, tally, needs)
    events = [(float(draw.randint(1, SPAN_S)), str(draw.randint(0, 2)), draw.choice(["DOWN", "DRAIN", "UP"]))]
    spec = PolicySpec("whims", type("Needy", (Whims,), {"needs": needs}))
    simulation, _ = open_simulation(
        jobs, load_cluster(draw.choice(["3x2/gpu=v100", "2x4+1x2", "3x4/gpu=t4,rack=2"])), spec, whims,
        RunOptions(
            seed=seed, estimate=estimate, placement=draw.choice([None, "consolidated", "spread"]),
            overheads=overheads_of(draw), oversized="clamp",
            node_events=[*events, (90.0, "0", "UP"), (90.0, "1", "UP"), (90.0, "2", "UP")],
            cancels=[(float(SPAN_S + 5), 0)], log=draw.random() < 0.5, audit=True, **world,
        ),
    )  # fmt: skip
    simulation = roll(simulation, draw, tally, needs, DEPTH)
    last = simulation.adopt(get_policy("fifo-backfill" if world.get("rate_model") != "iterations" else "fifo").make())
    last.run()
    clock = last.handle.world.clock[0]
    assert clock["ended"] == clock["arrived"] == clock["jobs"], "a job waits for ever"


def main(first: int, last: int) -> Tally:
    """Runs of these seeds."""
    tally = Tally()
    for seed in range(first, last):
        try:
            one(seed, tally)
        except BaseException:
            print(f"seed {seed}", file=sys.stderr)
            raise
    return tally


if __name__ == "__main__":
    print(json.dumps(asdict(main(int(sys.argv[1]), int(sys.argv[2])))))
