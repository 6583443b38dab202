"""Choices on top of `gittins`: they change nothing by themselves, and the network decides as it was fitted."""

import numpy as np
import pytest

from benchmarks.preempting import choosing
from benchmarks.preempting.runs import ON, Run, begun, workload
from benchmarks.preempting.trying import OTHERS
from pointsman.api import RunOptions, open_simulation
from pointsman.cluster import load_cluster
from pointsman.policies.registry import get_policy

torch = pytest.importorskip("torch")
JOBS, SEED = 120, 3


def run_of(kind: str) -> Run:
    """A run before its first event."""
    return begun(workload(kind, JOBS, SEED))


def test_without_a_choice_jobs_run_as_under_gittins() -> None:
    """The policy adds choices and nothing else."""
    jobs = workload("itp", JOBS, SEED)
    spec = get_policy("gittins")
    plain, _ = open_simulation(jobs, load_cluster(ON), spec, spec.make({}), RunOptions(overheads="realistic"))
    plain.run()
    ours = begun(jobs)
    ours.total_ms()
    ends, theirs = (run.handle.world.outcomes["end"][:JOBS] for run in (ours.simulation, plain))
    assert ours.choices > JOBS / 2
    assert np.array_equal(ends, theirs)


def test_choices_change_what_happens() -> None:
    """Each action but the usual one leaves jobs elsewhere at some choice."""
    run, differ = run_of("dl2-1-16"), set[int]()
    for choice in range(1, 150):
        if not run.go_to(choice - 1):
            break
        usual = run.after(choosing.USUAL)
        differ |= {action for action in OTHERS if not run.after(action).is_as(usual)}
    assert {choosing.WAIT, choosing.FORCE} <= differ


def test_the_network_decides_as_it_was_fitted() -> None:
    """What torch says of a choice is what the compiled policy does."""
    from benchmarks.preempting.fitting import Worth, chosen

    torch.manual_seed(1)
    network = Worth()
    torch.nn.init.normal_(network.out.weight)
    run, taken = run_of("dl2-1-16"), set[int]()
    for choice in range(1, 150, 3):
        if not run.go_to(choice - 1):
            break
        seen = torch.tensor(run.after(choosing.USUAL).seen, dtype=torch.float32)
        action = int(chosen(network, seen[None], caution=0.01)[0])
        deciding = Run(run.simulation.copy(), run.jobs)
        weights = network.weights(0.01)
        choosing.set_network(deciding.simulation.handle.state, weights)
        deciding.go_to(choice)
        taken.add(action)
        assert deciding.is_as(run.after(action)), (choice, action)
    assert len(taken) > 1
