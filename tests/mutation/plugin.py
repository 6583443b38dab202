"""For pytest: notes how long each test computes and which lines it comes by, and leaves out those that take long."""

import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

MOST_S = float(os.environ.get("POINTSMAN_MUTATION_MOST_S", "0"))
"""Of one test; 0: no limit, and nothing is noted."""
NOTES = Path(os.environ.get("POINTSMAN_MUTATION_NOTES", os.devnull))
took_s: dict[str, float] = {}


class TooLong(BaseException):
    """Not caught by what a test expects."""


def _stop(*_: Any) -> None:
    raise TooLong


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    if MOST_S:
        import coverage

        running = coverage.Coverage.current()
        assert running is not None
        running.switch_context(item.nodeid)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    if not MOST_S:
        return (yield)
    began = time.process_time()
    before = signal.signal(signal.SIGPROF, _stop)
    signal.setitimer(signal.ITIMER_PROF, MOST_S)
    try:
        result = yield
        took_s[pyfuncitem.nodeid] = time.process_time() - began
        return result
    except TooLong:
        pytest.skip("too long for the quick set")
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def pytest_sessionfinish() -> None:
    if MOST_S:
        NOTES.write_text(json.dumps(took_s))
