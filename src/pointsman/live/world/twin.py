"""What may come of a live world: an ordinary simulation, in which starts, stops and ends happen by themselves."""

from collections.abc import Mapping

import numpy as np

from pointsman.engine.sdk.live import ADOPTING, Simulation, done_by, instants, unit
from pointsman.live.world.live_world import LiveWorld
from pointsman.types import JobState, Outside


def as_simulation(world: LiveWorld, left_ms: Mapping[int, float], now_ms: int) -> Simulation:
    """The future of a world, which changes with it, under its policy with its memory.

    `left_ms`: how much work each job that is there has left at `now_ms`, by its row. Starts and stops take as long as
    the policy assumes; those that are under way begin anew. What was submitted and told since the last turn happens at
    its time, and more may be submitted.
    """
    world.hand_over()
    handle = world.simulation.handle
    g, jobs = handle.state.g, handle.jobs
    truth = handle.world.truth[: len(jobs)]
    there = np.flatnonzero(jobs["state"] != 0)
    left = np.full(len(jobs), np.inf)
    left[there] = [left_ms[row] for row in jobs["row"][there].tolist()]
    runs = jobs["state"] == JobState.RUNNING
    rated = runs & (jobs["rate"] > 0.0)
    rate = np.where(rated, jobs["rate"], 1.0)
    unrated = jobs["done"] + runs * (now_ms - int(g["now"][0]))  # of jobs that have just taken their seats
    done = np.where(rated, done_by(jobs, now_ms), unrated)
    truth["work"] = done + left
    truth["finish"] = instants(now_ms + np.ceil(left / rate), now_ms + 1)
    g["outside"] = Outside.NOTHING
    unit(ADOPTING).reschedule(handle.address)
    return world.simulation


def work_of_arrival(world: LiveWorld, row: int, work_ms: float) -> None:
    """How much work a job has that was submitted to `world` since the last turn."""
    handle = world.simulation.handle
    handle.world.trace["work"][row & int(handle.state.g[0]["row_mask"])] = work_ms
