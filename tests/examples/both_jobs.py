"""What the two processes of a test do: a module of its own, which they can import."""

import os
import time
from typing import Any, NamedTuple

from two_jobs import Job

Cut = int | tuple[int, ...]
Arrays = dict[str, Any]


class Learnt(NamedTuple):
    pid: int
    begin_s: float
    end_s: float
    """On the clock that all processes share."""
    before: Arrays
    """The parameters at the beginning."""
    gradients: dict[Cut, Arrays]
    """Of the first step, by how the batch was cut; with the loss."""
    after: dict[Cut, Arrays]
    """The parameters after some steps."""


def learn(name: str, device: str, cuts: tuple[Cut, ...], steps: int) -> Learnt:
    """The job of that name, anew for each way to cut its batch."""
    begin_s, before = time.monotonic(), parameters(Job(name, device))
    gradients, after = {}, {}
    for cut in cuts:
        job = Job(name, device)
        loss = job.backward(cut)
        gradients[cut] = {"loss": loss} | {key: of.grad.numpy().copy() for key, of in job.model.named_parameters()}
        for _ in range(steps):
            job.step(cut)
        after[cut] = parameters(job)
    return Learnt(os.getpid(), begin_s, time.monotonic(), before, gradients, after)


def parameters(job: Job) -> Arrays:
    return {key: tensor.detach().numpy() for key, tensor in job.model.named_parameters()}
