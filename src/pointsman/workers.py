"""Calls side by side in processes of their own, whom Ctrl-C leaves to their parent."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any


def side_by_side(function: Callable[..., Any], calls: Iterable[tuple[Any, ...]], workers: int) -> Iterator[Any]:
    """What `function` returns for the arguments of each call, in order, as many at a time as there are `workers`."""
    from joblib import Parallel, delayed

    parallel = Parallel(n_jobs=workers, return_as="generator")
    with _interrupt_held_back():
        found = parallel(delayed(function)(*arguments) for arguments in calls)
    yield from found


@contextmanager
def _interrupt_held_back() -> Generator[None]:
    """Processes started meanwhile never hear SIGINT, for they inherit the mask; here it comes a little later.

    A terminal sends it to everybody, and each would print where it was. The parent ends them.
    """
    import signal
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as joblibs_tracker

    for tracker in (resource_tracker, joblibs_tracker):
        tracker.ensure_running()  # else they are started meanwhile, which lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
