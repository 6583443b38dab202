"""A PyTorch training that saves its state when it is preempted and goes on from there.

    pointsman submit -G 1 --requeue --zero-is-done --signal USR1@60 -- python examples/live/torch_training.py

On a GPU if there is one. With several processes, let each do this and only rank 0 save.
"""

import argparse
import sys

import torch
from torch import nn

from pointsman import job


def main() -> None:
    """Train, save, and leave with the exit code that says whether the work is done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=2_000)
    options = parser.parse_args()
    job.listen()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(0)
    images, labels = torch.randn(512, 1, 28, 28, device=device), torch.randint(10, (512,), device=device)
    model = nn.Sequential(nn.Conv2d(1, 8, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 13 * 13, 10)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    kept, first = job.checkpoint_folder() / "last.pt", 0
    if kept.exists():
        state = torch.load(kept, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["step"]
    print(f"attempt {job.attempt()}: from step {first}", flush=True)
    for step in range(first, options.steps):
        batch = torch.arange(64, device=device) + 64 * (step % 8)
        loss = nn.functional.cross_entropy(model(images[batch]), labels[batch])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 50 == 0:
            job.report((step + 1) / options.steps)
        if job.stopping():
            draft = kept.with_suffix(".draft")  # a checkpoint is there whole, or not at all
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}, draft)
            draft.replace(kept)
            sys.exit(job.PREEMPTED)
    job.finish()
    print(f"done after {options.steps} steps: loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
