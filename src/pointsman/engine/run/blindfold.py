"""A state without the truth about its jobs: what a what-if goes on from."""

import numpy as np
from numpy.typing import NDArray

from pointsman.engine.rate_models.chains.tasks import longer_ms
from pointsman.engine.run.view import done_by
from pointsman.engine.state.records import SCRIPT, TRACE
from pointsman.engine.state.state_pointer import Handle
from pointsman.errors import UsageError
from pointsman.types import NEVER_MS, JobState, Outside

_RUNNING = int(JobState.RUNNING)


def blindfolded(handle: Handle) -> Handle:
    """Removes the truth: estimates for work, no arrivals to come, no scripted events, no failing starts, no
    log, no outcomes. Its events are yet to be put into the heap anew, by `reschedule` of a loop.
    """
    world, clock, jobs, now = handle.world, handle.world.clock, handle.jobs, int(handle.state.g["now"][0])
    arrived = int(clock["arrived"][0])
    clock["jobs"] = arrived
    clock["script"] = clock["scripted"] = 0
    clock["fail_rate"] = 0.0
    handle.state.g["log_on"] = handle.state.g["log_speeds"] = False
    handle.state.g["outside"] = Outside.NOTHING
    runs = jobs["state"] == _RUNNING
    done = np.where(runs, done_by(jobs, now), jobs["done"])
    work = np.maximum(np.where(np.isnan(jobs["estimate"]), np.inf, jobs["estimate"]), done)
    truth = world.truth[: len(jobs)]
    rate = np.where(runs & (jobs["rate"] > 0.0), jobs["rate"], 1.0)
    if (stages := int(handle.state.g["stages"][0])) > 0:
        next_stage = np.where(jobs["stage"] + 1 < stages, work * ((jobs["stage"] + 1) / stages), np.inf)
        turns = instants(jobs["rated"] + np.ceil((next_stage - jobs["done_when_rated"]) / rate), now)
        truth["turn"] = np.where(work == truth["work"], truth["turn"], turns)
    if handle.state.g["counts_iterations"][0]:
        ends = _chain_ends(handle, work)
    else:
        ends = jobs["rated"] + np.ceil((work - jobs["done_when_rated"]) / rate)
    truth["work"] = work
    truth["finish"] = instants(ends, now + 1)
    nothing = {"trace": np.zeros(max(arrived, 1), TRACE), "script": np.zeros(1, SCRIPT)}
    return Handle(handle.state, world._replace(**nothing))


def instants(times: NDArray[np.float64], earliest: int) -> NDArray[np.int64]:
    """Times in ms that are not before `earliest`; NEVER_MS where the clock has no room for them."""
    return np.where(times < NEVER_MS, np.maximum(times, earliest), NEVER_MS).astype(np.int64)


def _chain_ends(handle: Handle, work: NDArray[np.float64]) -> NDArray[np.float64]:
    """Chains get the iterations that jobs of this much `work` have left; when those that leap then finish.

    Raises:
        UsageError: a job has no estimate, so that its iterations would go on for ever.
    """
    steps, jobs = handle.state.steps, handle.jobs
    runs = jobs["state"] == _RUNNING
    if not np.isfinite(work[jobs["state"] != 0]).all():
        raise UsageError(
            "what_if needs estimates in the rate model iterations: the calling policy must declare needs = "
            "'estimate' or 'oracle'"
        )
    chains = handle.world.chains[: len(jobs)]
    leaps = runs & (chains["leaps"] == 1)
    steps = steps[jobs["speed"] + np.maximum(0, jobs["gpu_type"])]
    ms = handle.world.truth["finish"][: len(jobs)] - chains["since"]
    period = (ms - _lengthened_ms(chains, steps)) // np.maximum(1, chains["left"])
    left = (work - jobs["done_when_rated"]) / np.maximum(1, steps["solo"])
    chains["left"][runs] = np.maximum(1, np.floor(left[runs] + 0.5))
    return np.where(leaps, chains["since"] + chains["left"] * period + _lengthened_ms(chains, steps), np.inf)


def _lengthened_ms(chains: NDArray[np.void], steps: NDArray[np.void]) -> NDArray[np.int64]:
    """By how many ms factors on computing lengthen what is left of each chain."""
    return longer_ms(chains["left"] * (steps["fw"] + steps["bw"]), chains["extra"], chains["owed"])
