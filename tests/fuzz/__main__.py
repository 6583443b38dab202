"""``python -m tests.fuzz FROM TO``: the inputs of these numbers, one after another; each that is not taken as it should
be is a line of JSON. Input K is the same every time, and on every machine.
"""

import json
import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from types import FrameType

from tests.fuzz.mutants import mutant
from tests.fuzz.targets import Target, refusal, targets

LIMIT_S = 90.0
"""An input that takes longer hangs; the slowest one takes a second, and on a busy machine ten."""
MEMORY_BYTES = 8 << 30
EVERY = 200
"""One input in so many goes to what reads in a process of its own, which takes half a second."""


class Hangs(BaseException):
    """No ``except Exception`` stops it."""


def chosen(number: int, every: list[Target]) -> tuple[Target, bytes]:
    """The target and the bytes of an input."""
    draw = random.Random(number)
    slow = number % EVERY == 0
    among = [target for target in every if (target.weight == 0) == slow]
    target = draw.choice(among) if slow else draw.choices(among, [one.weight for one in among])[0]
    others = [seed for one in draw.sample(every, 3) for seed in one.seeds]
    return target, mutant(draw.choice(target.seeds), others, draw)


def fault(target: Target, data: bytes, place: Path) -> str | None:
    """What is wrong with how an input is taken."""
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        return refusal(target, data, place)
    except Hangs:
        return f"it takes more than {LIMIT_S:g} s"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-6:]
        told = " < ".join(f"{Path(one.filename).name}:{one.lineno} {one.name}" for one in reversed(where))
        return f"{type(error).__name__}: {error!s:.200} ({told})"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main(first: int, end: int, progress: Path | None = None) -> int:
    """Returns how many were not taken as they should be."""

    def hang(signum: int, frame: FrameType | None) -> None:
        raise Hangs

    signal.signal(signal.SIGALRM, hang)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, resource.getrlimit(resource.RLIMIT_AS)[1]))
    warnings.simplefilter("error")
    found = 0
    with tempfile.TemporaryDirectory() as shared:
        every = targets(Path(shared))
        for number in range(first, end):
            if progress is not None:
                progress.write_text(str(number))
            target, data = chosen(number, every)
            began_s = time.monotonic()
            with tempfile.TemporaryDirectory() as place:
                wrong = fault(target, data, Path(place))
            if wrong is not None:
                found += 1
                print(json.dumps({"input": number, "target": target.name, "fault": wrong}), flush=True)
            elif "-v" in sys.argv and time.monotonic() - began_s > 1:
                print(
                    json.dumps({"input": number, "target": target.name, "slow_s": time.monotonic() - began_s}),
                    flush=True,
                )
    return found


if __name__ == "__main__":
    given = [word for word in sys.argv[1:] if word != "-v"]
    sys.exit(min(1, main(int(given[0]), int(given[1]), Path(given[2]) if len(given) > 2 else None)))
