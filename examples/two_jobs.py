"""Two training jobs share a device: how much slower is each? Writes the CSV that `pointsman profile pairs` reads.

    python examples/two_jobs.py -o pairs.csv                                   two processes on one core
    python examples/two_jobs.py -o pairs.csv --device cuda --gpu-type a100     two processes on one GPU

Put your own models into JOBS, at the batch you train them with. Each job runs alone and beside the other, its batch
computed at once and in parts (gradient accumulation).
"""

import argparse
import multiprocessing
import os
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from itertools import product
from statistics import median

import torch
from torch import nn
from torch.nn.functional import cross_entropy


def mlp():
    """A model, its inputs and its targets."""
    model = nn.Sequential(nn.Linear(256, 512), nn.GELU(), nn.Linear(512, 512), nn.GELU(), nn.Linear(512, 10))
    return model.double(), torch.randn(96, 256, dtype=torch.float64), torch.randint(10, (96,))


def transformer():
    layer = partial(nn.TransformerEncoderLayer, 64, nhead=4, dim_feedforward=256, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.Embedding(100, 64), layer(), layer(), nn.Linear(64, 100), nn.Flatten(0, 1))
    words = torch.randint(100, (16, 33))
    return model.double(), words[:, :-1], words[:, 1:]


JOBS = {"small-mlp": mlp, "small-transformer": transformer}


class Job:
    """The job of that name, with the same initial state every time."""

    def __init__(self, name, device="cpu"):
        torch.manual_seed(1)
        self.model, self.inputs, self.targets = (of_job.to(device) for of_job in JOBS[name]())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def backward(self, parts=1):
        """The loss and its gradients. The batch is computed in this number of equal `parts`, or split at these indices.

        Each part's sum is divided by the number of samples in the batch, so the parts always add up to the batch mean.
        """
        self.optimizer.zero_grad()
        loss = 0.0
        for inputs, targets in zip(self.inputs.tensor_split(parts), self.targets.tensor_split(parts), strict=True):
            part = cross_entropy(self.model(inputs), targets.flatten(), reduction="sum") / self.targets.numel()
            part.backward()
            loss += part.item()  # waits for the device
        return loss

    def step(self, parts=1):
        self.backward(parts)
        self.optimizer.step()


def side_by_side(work, device, *arguments):
    """Results of `work(name, device, *arguments)`, one per job: two concurrent processes, on a CPU on the same core."""
    spawn = multiprocessing.get_context("spawn")  # CUDA cannot be forked
    cores = {min(os.sched_getaffinity(0))} if device == "cpu" else None
    shared = (spawn.Barrier(2), spawn.Value("i"), cores)
    with ProcessPoolExecutor(2, spawn, initializer=_begin, initargs=shared) as pool:
        jobs = [pool.submit(_at_once, work, name, device, *arguments) for name in JOBS]
        for job in as_completed(jobs):
            job.result()  # the first to fail says why
        return [job.result() for job in jobs]


def _begin(meet, ended, cores):
    global MEET, ENDED
    MEET, ENDED = meet, ended
    if cores:
        os.sched_setaffinity(0, cores)
        torch.set_num_threads(1)


def _at_once(work, *arguments):
    try:
        MEET.wait()  # so that no process runs both jobs
        return work(*arguments)
    except BaseException:
        MEET.abort()  # so that the other process does not wait for this one
        raise


def step_times(name, device, phases, measure_s):
    """Seconds per step in each phase; a phase is the number of parts of each job's batch, 0 if it does not run."""
    job, times = Job(name, device), {}
    for number, phase in enumerate(phases, 1):
        step = partial(job.step, parts) if (parts := phase[list(JOBS).index(name)]) else None
        for _ in range(3 if step else 0):  # warm-up
            step()
        MEET.wait()
        times[phase] = _step_s(step, measure_s) if step else None
        with ENDED.get_lock():
            ENDED.value += 1
        while step and ENDED.value < 2 * number and not MEET.broken:  # the other one is still measuring
            step()
    return times


def _step_s(step, measure_s, stretches=5):
    """Median of means: processes alternate every few milliseconds, so one short step is no fair sample."""
    means = []
    for _ in range(stretches):
        begin, steps = time.perf_counter(), 0
        while (elapsed := time.perf_counter() - begin) < measure_s / stretches:
            step()
            steps += 1
        means.append(elapsed / steps)
    return median(means)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the CSV")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, ...")
    parser.add_argument("--gpu-type", default="cpu", help="what Pointsman calls the device: v100, a100, ...")
    parser.add_argument("--parts", type=int, default=4, help="accumulation steps, beside 1")
    parser.add_argument("--measure-s", type=float, default=1.0, help="how long each step time is measured")
    given = parser.parse_args()
    if given.parts < 2:
        parser.error(f"--parts {given.parts}: accumulation begins with 2")
    cuts = (1, given.parts)
    phases = [*((i, 0) for i in cuts), *((0, j) for j in cuts), *product(cuts, cuts)]
    a, b = side_by_side(step_times, given.device, phases, given.measure_s)
    m, n = (len(Job(name).inputs) for name in JOBS)
    with open(given.output, "w") as file:
        print("gpu_type,model_a,model_b,batch_a,batch_b,alone_s_a,step_s_a,alone_s_b,step_s_b", file=file)
        for i, j in product(cuts, cuts):
            at_once = (-(-m // i), -(-n // j))
            print(given.gpu_type, *JOBS, *at_once, a[i, 0], a[i, j], b[0, j], b[i, j], sep=",", file=file)
