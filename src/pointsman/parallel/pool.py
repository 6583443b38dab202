"""Calls side by side: the one place that decides in which processes they run, here or on a Ray cluster."""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pointsman.errors import UsageError
from pointsman.inputs.environment import environment
from pointsman.parallel.file_bundle import FileBundle, read_files, write_files
from pointsman.parallel.workers import Workers, returned_as

LOCAL = "local"
_RAY = re.compile(r"ray(://([^\s:/\[\]]+|\[[0-9a-fA-F:]+\])(:\d{1,5})?)?")
_PORT = re.compile(r":\d+$")
_CLIENT_PORT = 10001
"""The port of a Ray cluster's head for machines that are not its nodes; ``ray start`` opens it."""


@dataclass(frozen=True)
class OneByOne:
    """Calls one after another, in this process."""

    far = False

    def __call__(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        bundle: FileBundle | None = None,
        *,
        in_order: bool = True,
    ) -> Iterator[Any]:
        return (function(*arguments) for arguments in calls)


ONE_BY_ONE = OneByOne()


@dataclass(frozen=True)
class Processes:
    """Calls in processes of their own on this machine."""

    at_once: int
    far = False

    def __call__(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        bundle: FileBundle | None = None,
        *,
        in_order: bool = True,
    ) -> Iterator[Any]:
        from joblib import Parallel, delayed

        from pointsman.cache_folder import find_place

        find_place()  # a private folder of compiled code is made here, and removed, once for all of them
        parallel = Parallel(n_jobs=self.at_once, return_as=returned_as(in_order))
        with _interrupt_held_back():
            found = parallel(delayed(function)(*arguments) for arguments in calls)
        yield from found


def check_place(on: str) -> str:
    """`on`, if it is a place that calls can run on: ``local``, ``ray`` or ``ray://HOST[:PORT]``.

    Raises:
        UsageError: it is none.
    """
    if on != LOCAL and not _RAY.fullmatch(on):
        raise UsageError(
            f"--on {on!r:.80}: there are local, ray and ray://HOST[:PORT] (port {_CLIENT_PORT} by default)"
        )
    return on


@contextmanager
def workers(on: str = LOCAL, at_once: int | None = None) -> Generator[Workers]:
    """Workers on `on`: this machine, the Ray cluster that it belongs to (``ray``), or the one at ``ray://HOST[:PORT]``.

    So many calls run `at_once`: by default one here, and on Ray as many as there are CPUs.

    Raises:
        UsageError: there is no such place, or the extra ``ray`` is not installed. BackendError: no cluster answers.
    """
    if check_place(on) != LOCAL:
        from pointsman.parallel.ray import cluster

        _, _, place = on.partition("://")
        port = "" if not place or _PORT.search(place) else f":{_CLIENT_PORT}"
        with cluster(f"{on}{port}" if place else None, at_once) as on_ray:
            yield on_ray
    else:
        yield Processes(at_once) if at_once and at_once > 1 else ONE_BY_ONE


def fill_folders(
    workers: Workers, function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], bundle: FileBundle | None = None
) -> Iterator[None]:
    """Calls whose first argument is the folder that they fill, such as a checkpoint's; yields as each is, in order.

    Far workers are sent what is in it, and send back what is in it when they are done.
    """
    if not workers.far:
        for _ in workers(function, calls):
            yield
        return
    sent = [(function, read_files(folder), *arguments) for folder, *arguments in calls]
    for (folder, *_), made in zip(calls, workers(_fill, sent, bundle), strict=True):
        write_files(folder, made)
        yield


def _fill(function: Callable[..., Any], contents: dict[str, bytes], *arguments: Any) -> dict[str, bytes]:
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        write_files(Path(folder), contents)
        function(Path(folder), *arguments)
        return read_files(Path(folder))


@contextmanager
def _interrupt_held_back() -> Generator[None]:
    """Processes started meanwhile never hear SIGINT, for they inherit the mask; here it comes a little later.

    A terminal sends it to every process, and each would print where it was. The parent ends them.
    """
    import signal

    _start_trackers()  # else they are started meanwhile, which lets SIGINT through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start_trackers() -> None:
    """Start the processes that remove what workers leave behind, as after an interrupt, without a word about it."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as joblibs_tracker

    with environment(PYTHONWARNINGS="ignore"):
        for tracker in (resource_tracker, joblibs_tracker):
            tracker.ensure_running()
