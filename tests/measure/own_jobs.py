"""Jobs that tests measure: what they take is known, or they fail in a known way."""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

SLEEP_S = SPIN_S = 0.01


def known(batch: int) -> Callable[[], None]:
    """A step that sleeps and computes, 20 ms in all."""

    def step() -> None:
        time.sleep(SLEEP_S)
        until = time.perf_counter() + SPIN_S
        while time.perf_counter() < until:
            pass

    return step


def spin(batch: int) -> Callable[[], None]:
    """A step that takes 5 ms of a core, however long that is."""

    def step() -> None:
        until = time.thread_time() + 0.005
        while time.thread_time() < until:
            pass

    return step


def sleeps(batch: int) -> Callable[[], None]:
    """A step that takes 5 ms a sample, whatever else runs."""
    return lambda: time.sleep(0.005 * batch)


def dozes() -> Callable[[], None]:
    """A step of 20 ms."""
    return lambda: time.sleep(0.02)


def works(batch: int) -> Callable[[], None]:
    """A step that waits for its workers, as one that loads data: one that lives as long as the job, and one a step."""
    subprocess.Popen([sys.executable, "-c", "while True: pass"])

    def step() -> None:
        code = "import time\nwhile time.process_time() < 0.05: pass"
        subprocess.run([sys.executable, "-Sc", code], check=True)

    return step


def quick(batch: int, parts: int) -> Callable[[], None]:
    """A step that takes longer the more parts there are."""

    def step() -> None:
        time.sleep(1e-4 * (parts + batch))

    return step


def rests() -> Callable[[], None]:
    """A step of 40 ms, and of 20 ms after a rest such as another process takes to start."""
    seen = [time.monotonic(), 0.04]

    def step() -> None:
        if time.monotonic() > seen[0] + 0.1:
            seen[1] = 0.02
        time.sleep(seen[1])
        seen[0] = time.monotonic()

    return step


def settles() -> Callable[[], None]:
    """A step that takes longer than the one before, twelve times, and then 5 ms."""
    done = [0]

    def step() -> None:
        done[0] += 1
        time.sleep(0.001 * done[0] ** 2 if done[0] <= 12 else 0.005)

    return step


def after(steps: int, then: Callable[[], object]) -> Callable[[], None]:
    """A step that does something else after some have gone well."""
    done = [0]

    def step() -> None:
        time.sleep(0.001)
        done[0] += 1
        if done[0] > steps:
            then()

    return step


def _raise() -> None:
    raise ValueError("the loss\nis not a number")


def crashes() -> Callable[[], None]:
    return after(10, _raise)


def crashes_oddly() -> Callable[[], None]:
    def crash() -> None:
        raise ValueError("\x1b[31mno file \udcff\0" + "x" * 200_000)

    return after(10, crash)


def leaves_a_worker() -> Callable[[], None]:
    """A step whose worker lives on, and has inherited all that the job has open."""
    worker = os.fork()
    if not worker:
        time.sleep(1000)
    Path(f"worker-{worker}").touch()
    return after(10, lambda: os.kill(os.getpid(), signal.SIGKILL))


def hangs() -> Callable[[], None]:
    return after(10, lambda: time.sleep(1000))


def lacks_memory() -> Callable[[], None]:
    return after(10, lambda: bytearray(1 << 60))


def is_killed() -> Callable[[], None]:
    return after(10, lambda: os.kill(os.getpid(), signal.SIGKILL))


def wants_all() -> Callable[[], None]:
    """A step that needs all there is, so that a second one lacks it."""
    all_there_is = open(__file__)  # noqa: SIM115 (held as long as the job)
    try:
        fcntl.flock(all_there_is, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise MemoryError("no room for both") from None

    def step() -> None:
        time.sleep(0.02)
        assert not all_there_is.closed

    return step


def leaves() -> Callable[[], None]:
    def leave() -> None:
        print("nothing left to train", file=sys.stderr, flush=True)
        os._exit(7)

    return after(10, leave)


def crashes_at_once() -> Callable[[], None]:
    raise RuntimeError("no data")


def lacks_memory_at_once() -> Callable[[], None]:
    raise MemoryError


def leaves_at_once() -> None:
    print("no data", file=sys.stderr, flush=True)
    os._exit(7)


def only_small(batch: int) -> Callable[[], None] | None:
    return dozes() if batch == 1 else None


def returns_a_coroutine() -> Callable[[], Any]:
    async def step() -> None:
        time.sleep(0.02)

    return step


def returns_a_generator() -> Callable[[], Any]:
    def step() -> Iterator[None]:
        time.sleep(0.02)
        yield

    return step


def hoards(batch: int) -> Callable[[], None]:
    """A step that holds a kilobyte a sample, in pieces below one that stays when it has gone."""
    pieces = [bytes(1000) for _ in range(batch)]
    sys.orig_argv.append("stays" * 200)
    return lambda: time.sleep(0.001 if pieces else 0)


def returns_nothing() -> None:
    pass


class Saves:
    """A step that has a state, without PyTorch."""

    def __call__(self) -> None:
        time.sleep(0.001)

    def state_dict(self) -> dict[str, Any]:
        return {"weights": bytes(100_000), "samples": range(9)}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        assert (len(state["weights"]), state["samples"]) == (100_000, range(9))


def saves() -> Saves:
    return Saves()


def saves_elsewhere() -> Saves:
    os.chdir("/")
    return Saves()


class BreaksWhenSaved(Saves):
    """A step whose state cannot be told."""

    def state_dict(self) -> dict[str, Any]:
        raise OSError("no room")


def breaks_when_saved() -> Saves:
    return BreaksWhenSaved()
