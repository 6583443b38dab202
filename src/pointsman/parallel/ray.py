"""Calls on a Ray cluster, through joblib and ``ray.util.joblib``. What it says of itself stays off the screen."""

import logging
import os
import signal
import socket
import sys
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pointsman.errors import BackendError, UsageError
from pointsman.parallel.file_bundle import FileBundle
from pointsman.parallel.workers import Workers, returned_as
from pointsman.version import source_digest

PATIENCE_S = 5.0
"""How long a cluster may take to answer at all."""

SETTINGS = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_NUM_REDIS_GET_RETRIES": "1",
    "RAY_py_gcs_connect_timeout_s": "5",
    "RAY_CLIENT_INITIAL_CONNECTION_TIMEOUT_S": "2",
    "RAY_CLIENT_MAX_CONNECTION_TIMEOUT_S": "2",
}
"""Ray reads them when it is imported. Left to itself it tries for a quarter of an hour to reach what is not there."""

HOW = "--on ray on a node of it, after 'ray start'; --on ray://HOST:PORT elsewhere, with the port of its Ray client"


@contextmanager
def cluster(address: str | None, at_once: int | None) -> Generator[Workers]:
    """What runs calls on the Ray cluster at `address`, ``ray://HOST:PORT``, or the one this machine belongs to.

    Raises:
        UsageError: Ray is not installed. BackendError: no cluster answers, or it went away.
    """
    with _connect(address) as ray:
        cpus = int(ray.cluster_resources().get("CPU", 0))
        if cpus < 2:  # Ray's pool and joblib want two, even for one call
            raise BackendError(f"the Ray cluster has {cpus} CPUs and needs at least two; add a node")
        calls = _Calls(ray, min(at_once or cpus, cpus))
        try:
            yield calls
        finally:
            calls.close()


class _Calls:
    """Runs calls on workers that are started at the first and kept until the last."""

    far = True

    def __init__(self, ray: Any, at_once: int) -> None:
        self._ray, self._at_once = ray, at_once
        self._parallel: Any = None
        self._in_order = True

    def __call__(
        self,
        function: Callable[..., Any],
        calls: Iterable[tuple[Any, ...]],
        bundle: FileBundle | None = None,
        *,
        in_order: bool = True,
    ) -> Iterator[Any]:
        from joblib import delayed
        from ray.exceptions import RayError

        sent = self._ray.put((source_digest(), bundle or FileBundle()))
        once = _Once(self._ray)
        tasks = (delayed(_answer)(sent, function, [once.put(each) for each in arguments]) for arguments in calls)
        try:
            yield from self._workers(in_order)(tasks)
        except (RayError, ConnectionError) as error:
            raise BackendError(f"the Ray cluster failed: {_one_line(error)}") from error

    def close(self) -> None:
        if self._parallel is not None:
            self._parallel.__exit__(None, None, None)
            self._parallel = None

    def _workers(self, in_order: bool) -> Any:
        if in_order != self._in_order:
            self.close()
        if self._parallel is None:
            from joblib import Parallel

            from pointsman.parallel.ray_backend import Backend

            share = 1 if self._at_once > 1 else 0.5  # two workers, and one of them has nothing to do
            self._in_order = in_order
            backend = Backend(ray_remote_args={"num_cpus": share, "scheduling_strategy": "SPREAD"})
            self._parallel = Parallel(
                n_jobs=max(2, self._at_once),
                backend=backend,
                return_as=returned_as(in_order),
                batch_size=1,
                pre_dispatch=self._at_once,
                max_nbytes=None,
            ).__enter__()
        return self._parallel


class _Once:
    """Puts what many calls are given, such as a workload, into the cluster's memory once."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._known: dict[int, tuple[Any, Any]] = {}

    def put(self, argument: Any) -> Any:
        if argument is None or isinstance(argument, str | int | float | bool):
            return argument
        if id(argument) not in self._known:
            self._known[id(argument)] = argument, self._ray.put(argument)
        return self._known[id(argument)][1]


def _answer(sent: Any, function: Callable[..., Any], arguments: list[Any]) -> Any:
    """On a node: what `function` returns, in a folder with the files it reads."""
    import ray

    from pointsman.cache_folder import find_place

    digest, bundle = ray.get(sent)
    if digest != source_digest():
        raise UsageError(
            f"{socket.gethostname()} has a different version of Pointsman; install the same version on both machines"
        )
    os.chdir(bundle.unpacked(find_place("sent").folder))
    return function(*(ray.get(each) if isinstance(each, ray.ObjectRef) else each for each in arguments))


@contextmanager
def _connect(address: str | None) -> Generator[Any]:
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    with _our_signals(), _quiet():
        try:
            import grpc  # noqa: F401 - which ray:// needs and plain Ray lacks
            import ray
            from ray._private.services import canonicalize_bootstrap_address_or_die as found
        except ImportError as error:
            raise UsageError(f"--on ray needs Ray ({error}): pip install 'pointsman[ray]'") from None
        _mute()
        try:
            at = address or found("auto")
            _knock(at)
            ray.init(at, logging_level=logging.CRITICAL, log_to_driver=False)
        except (OSError, RuntimeError, ValueError) as error:
            where = f"the Ray cluster at {address}" if address else "a Ray cluster of this machine"
            raise BackendError(f"cannot reach {where}: {_one_line(error)} ({HOW})") from error
    try:
        yield ray
    finally:
        with _quiet():
            ray.shutdown()


def _mute() -> None:
    """Ray tells of workers and nodes on stdout, which is for data; what matters comes as an error."""
    from ray._private import worker
    from ray.util.client.logsclient import LogstreamClient

    screen: Any = worker
    screen._worker_logs_enabled = False
    LogstreamClient.stdstream = lambda self, level, msg: None


def _knock(address: str) -> None:
    """Find out soon whether somebody is there.

    Raises:
        OSError: none is.
    """
    host, _, port = address.removeprefix("ray://").rpartition(":")
    socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE_S).close()


@contextmanager
def _our_signals() -> Generator[None]:
    """Ray takes SIGTERM for itself."""
    handlers = {signum: signal.getsignal(signum) for signum in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for signum, handler in handlers.items():
            signal.signal(signum, handler)


@contextmanager
def _quiet() -> Generator[None]:
    """What is written in C and what warns keep silent; if it matters, an error says it."""
    sys.stderr.flush()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        with warnings.catch_warnings(action="ignore"):
            yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _one_line(error: BaseException) -> str:
    """The cause in a line."""
    error = getattr(error, "cause", None) or error
    return " ".join(str(error).split())[:300].rstrip(".") or type(error).__name__
