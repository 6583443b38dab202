"""A job prepares a training, runs steps and says when each ended, until its parent hangs up.

PyTorch is imported where the device or the training needs it, not before, and then as a stage of its own.
"""

import ctypes
import gc
import os
import select
import signal
import sys
import time
import traceback
from multiprocessing.connection import Connection
from typing import Any, Final

from pointsman.errors import UsageError
from pointsman.measure.job.device import OnCpu, OnCuda
from pointsman.measure.job.processor import cpu_s, has_workers
from pointsman.measure.job.steps import Step, gradient_bytes, imports_torch, make_step, save_and_load, write_checkpoint
from pointsman.measure.messages import (
    ENOUGH,
    RELEASE,
    Cause,
    Describe,
    Failed,
    Prepare,
    Prepared,
    Released,
    Run,
    RunUntilTerminated,
    Save,
    Steps,
    folder_of,
)

_SIGNAL_WHEN_PARENT_DIES: Final = 1
"""``PR_SET_PDEATHSIG`` of Linux."""
_NO_MEMORY: Final = ("out of memory", "can't allocate memory", "ALLOC_FAILED")


class Job:
    """What a process holds between two messages."""

    def __init__(self, pipe: Connection) -> None:
        self.pipe, self.device = pipe, OnCpu()
        self.folder = ""
        """That of the user's file which was prepared last; empty for a model that ships."""
        self._step: Step | None = None
        self._heard = select.poll()
        self._heard.register(pipe.fileno(), select.POLLIN)

    @property
    def step(self) -> Step:
        """That of the training which was prepared last."""
        assert self._step is not None
        return self._step

    def answer(self, message: object) -> object:
        """What is answered to a message.

        Raises:
            ValueError: there is no such message.
        """
        match message:
            case Prepare():
                return self.prepare(message)
            case Run():
                return self.run(message)
            case Save(path):
                return save_and_load(self.step, path, self.device.wait)
            case RunUntilTerminated(path):
                return self.run_until_terminated(path)
            case Describe(name):
                self.device = _device(name)
                return self.device.describe()
            case str() if message == RELEASE:
                return self.release()
        raise ValueError(f"no such message: {message!r:.80}")

    def prepare(self, wanted: Prepare) -> Prepared:
        """Make the training, and warm it up."""
        self.release()
        self.folder = folder_of(wanted.setting)
        reached = [time.monotonic()]
        if _is_cuda(wanted.device) or imports_torch(wanted.setting.model):
            import torch  # noqa: F401
        reached.append(time.monotonic())
        self.device = _device(wanted.device)
        reached.append(time.monotonic())
        self._step = make_step(wanted.setting, wanted.device)
        self.device.wait()
        reached.append(time.monotonic())
        for _ in range(wanted.warm_up_steps):
            self._step()
            self.device.wait()
            reached.append(time.monotonic())
        return Prepared(tuple(reached), gradient_bytes(self._step))

    def run(self, wanted: Run) -> Steps:
        """Step on until told to stop; say when `wanted` has been fulfilled."""
        step, wait, clock = self.step, self.device.wait, time.monotonic
        self.device.forget_peak()
        begin_s, times_s = cpu_s(), [clock()]
        until = times_s[0] + wanted.seconds
        while times_s[-1] < until or len(times_s) <= wanted.steps:
            step()
            wait()
            times_s.append(clock())
        self.pipe.send(ENOUGH)
        while not self._heard.poll(0):
            step()
            wait()
            times_s.append(clock())
        self.pipe.recv()
        return Steps(times_s, cpu_s() - begin_s, self.device.peak_bytes())

    def run_until_terminated(self, path: str) -> None:
        """Step until SIGTERM, then write a checkpoint and exit."""
        asked: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: asked.append(number))
        self.pipe.send(ENOUGH)
        while not asked:
            self.step()
            self.device.wait()
        write_checkpoint(self.step, path)
        sys.exit()

    def release(self) -> Released:
        """Give the memory back."""
        self._step = None
        gc.collect()
        self.device.release()
        return Released(has_workers())


def _is_cuda(device: str) -> bool:
    return device.startswith("cuda")


def _device(name: str) -> OnCpu:
    return OnCuda(name) if _is_cuda(name) else OnCpu()


def _failed(error: Exception, folder: str) -> Failed:
    text = f"{type(error).__name__}: {error}".splitlines()[0].removesuffix(": ")
    if isinstance(error, UsageError):
        return Failed("usage", str(error))
    no_memory = isinstance(error, MemoryError) or any(said in text for said in _NO_MEMORY)
    cause: Cause = "out of memory" if no_memory else "crash"
    return Failed(cause, text, _line_of(error, folder))


def _line_of(error: Exception, folder: str) -> str:
    """The innermost line in files of a folder, installed packages left out; empty if there is none."""
    seen = [
        f"{frame.filename.removeprefix(folder + os.sep)}:{frame.lineno}"
        for frame in traceback.extract_tb(error.__traceback__)
        if folder and frame.filename.startswith(folder + os.sep) and "site-packages" not in frame.filename
    ]
    return seen[-1] if seen else ""


def serve(pipe: Connection) -> None:
    """Answer messages until the parent hangs up, or something fails."""
    job = Job(pipe)
    while True:
        try:
            message: Any = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            answer = job.answer(message)
        except Exception as error:
            pipe.send(_failed(error, job.folder))
            raise
        pipe.send(answer)


def main(descriptor: str, cores: str) -> None:
    """Serve the parent at the other end of a pipe, on cores such as ``0,1``; anywhere if none are named."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SIGNAL_WHEN_PARENT_DIES, signal.SIGKILL, 0, 0, 0)
        if cores:
            os.sched_setaffinity(0, {int(core) for core in cores.split(",")})
    serve(Connection(int(descriptor)))
