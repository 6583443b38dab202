"""``python -m benchmarks.preempting.trying --seeds 101 400 --into out/preempting``: what choices are worth.

In each workload some choices are tried in copies that run to the end of all jobs: each action beside what `gittins`
does. A workload is a file of its own, so that what was interrupted goes on.
"""

import argparse
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from benchmarks.preempting import choosing
from benchmarks.preempting.runs import KINDS, begun, submitted_ms, workload

JOBS, CHOICES = 400, 60
"""Of a workload."""
OTHERS: Final = range(choosing.USUAL + 1, choosing.ACTIONS)


def tried(kind: str, seed: int) -> dict[str, NDArray[Any]]:
    """What was seen of choices (N, features), and by how many mean completion times of a job each action shortened the
    sum of all completion times (N, actions).
    """
    jobs = workload(kind, JOBS, seed)
    whole = begun(jobs)
    usual_ms = whole.total_ms()
    mean_ms = (usual_ms - submitted_ms(jobs)) / whole.jobs
    run, seen, worth = begun(jobs), [], []
    draw = np.random.default_rng(seed)
    for choice in np.unique(draw.integers(1, max(2, whole.choices), CHOICES)).tolist():
        if not run.go_to(choice - 1):
            break
        usual = run.after(choosing.USUAL)
        others = [run.after(action) for action in OTHERS]
        seen.append(usual.seen)
        worth.append([0.0, *(0.0 if o.is_as(usual) else (usual_ms - o.total_ms()) / mean_ms for o in others)])
    return {"seen": np.array(seen), "worth": np.array(worth)}


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/preempting"))
    parser.add_argument("--seeds", type=int, nargs=2, default=(101, 400))
    given = parser.parse_args()
    given.into.mkdir(parents=True, exist_ok=True)
    for seed in range(*given.seeds):
        for kind in KINDS:
            path = given.into / f"{kind}-{seed}.npz"
            if not path.is_file():
                draft = path.with_suffix(".tmp.npz")
                np.savez_compressed(draft, **tried(kind, seed))
                draft.replace(path)


if __name__ == "__main__":
    main()
