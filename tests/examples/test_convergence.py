"""Two real jobs on one core learn the same with gradient accumulation as without it."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

if TYPE_CHECKING:
    from .both_jobs import Cut, Learnt

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux keeps two processes on one core")

HERE = Path(__file__).parent
WHOLE = 1
CUTS = (WHOLE, 2, 4, 8, 5, (1,), (2, 3, 11))
"""Equal parts, five that cannot be equal, and parts as uneven as 2, 1, 8 and the rest."""
STEPS = 5
CLOSE = 1e-6


@pytest.mark.slow
def test_both_jobs_learn_what_they_learn_without_accumulation(monkeypatch: pytest.MonkeyPatch) -> None:
    for place in (HERE, HERE.parents[1] / "examples"):
        monkeypatch.syspath_prepend(place)  # the processes are given it, too
    import both_jobs
    import two_jobs

    jobs = two_jobs.side_by_side(both_jobs.learn, "cpu", CUTS, STEPS)
    assert len({os.getpid(), *(job.pid for job in jobs)}) == 3
    assert max(job.begin_s for job in jobs) < min(job.end_s for job in jobs)
    for name, job in zip(two_jobs.JOBS, jobs, strict=True):
        assert job.gradients.keys() == job.after.keys() == set(CUTS)
        for cut in CUTS:
            check_gradients(job, cut, name)
            check_parameters(job, cut, name)


def check_gradients(job: "Learnt", cut: "Cut", name: str) -> None:
    whole, found = job.gradients[WHOLE], job.gradients[cut]
    assert found.keys() == whole.keys() == {"loss", *job.before}
    for key, wanted in whole.items():
        assert np.asarray(found[key]).dtype == np.float64
        assert np.linalg.norm(wanted) > 1e-3
        assert are_close(found[key], wanted), (name, cut, key)


def check_parameters(job: "Learnt", cut: "Cut", name: str) -> None:
    for key, before in job.before.items():
        wanted = job.after[WHOLE][key]
        assert np.abs(wanted - before).max() > 1e-3, f"{name} has not learnt {key}"
        assert are_close(job.after[cut][key], wanted), (name, cut, key)


def test_what_would_not_be_the_same_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Uneven parts that count the same, and batch normalization, which looks at a part as if it were all."""
    monkeypatch.syspath_prepend(HERE.parents[1] / "examples")
    from two_jobs import Job

    name = "small-mlp"
    whole, means = Job(name), Job(name)
    whole.backward()
    for inputs, targets in zip(means.inputs.tensor_split((5,)), means.targets.tensor_split((5,)), strict=True):
        (torch.nn.functional.cross_entropy(means.model(inputs), targets) / 2).backward()
    assert not have_close_gradients(means, whole)

    whole, parts = Job(name), Job(name)
    for job in (whole, parts):
        job.model.insert(1, torch.nn.BatchNorm1d(512, dtype=torch.float64))
    whole.backward()
    parts.backward(4)
    assert not have_close_gradients(parts, whole)


def have_close_gradients(one, other) -> bool:
    both = zip(one.model.parameters(), other.model.parameters(), strict=True)
    return all(are_close(a.grad.numpy(), b.grad.numpy()) for a, b in both)


def are_close(found: np.ndarray, wanted: np.ndarray) -> bool:
    """Each number to 1e-6, and all together to 1e-6 of their length."""
    off = np.asarray(found - wanted)
    return bool(np.abs(off).max() <= CLOSE and np.linalg.norm(off) <= CLOSE * np.linalg.norm(wanted))
