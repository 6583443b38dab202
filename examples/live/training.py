"""A small, real training: logistic regression, which saves its state when it is preempted and goes on from there.

    pointsman submit -G 2 --requeue --zero-is-done -- python examples/live/training.py --steps 400

With `--record FILE` it appends a line to FILE when it is done, by which `demo.py` counts how often each job ended.
"""

import argparse
import sys
import time
from pathlib import Path

import numpy as np

from pointsman import job

STEP_S = 0.02
"""Steps are at least so long, so that GPUs that are only declared are held for a while."""


def main() -> None:
    """Train, save, and leave with the exit code that says whether the work is done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--record", type=Path)
    options = parser.parse_args()
    job.listen()
    kept = job.checkpoint_folder() / "last.npz"
    draw = np.random.default_rng(job.number())
    features = draw.normal(size=(512, 16))
    labels = (features @ draw.normal(size=16) > 0).astype(float)
    weights, first = np.zeros(16), 0
    if kept.exists():
        with np.load(kept) as last:
            weights, first = last["weights"], int(last["step"])
    print(f"attempt {job.attempt()} on GPUs {job.gpus()}: from step {first}", flush=True)
    for step in range(first, options.steps):
        began = time.monotonic()
        predicted = 1 / (1 + np.exp(-features @ weights))
        weights -= 0.5 * features.T @ (predicted - labels) / len(labels)
        time.sleep(max(0.0, STEP_S - (time.monotonic() - began)))
        job.report((step + 1) / options.steps)
        if job.stopping():
            np.savez(kept, weights=weights, step=step + 1)
            sys.exit(job.PREEMPTED)
    job.finish()
    wrong = float(np.mean((features @ weights > 0) != labels))
    print(f"done after {options.steps} steps: {wrong:.1%} wrong", flush=True)
    if options.record:
        with options.record.open("a") as record:
            record.write("done\n")


if __name__ == "__main__":
    main()
