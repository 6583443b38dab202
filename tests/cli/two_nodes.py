"""A Ray cluster of two nodes, on this machine and seen by nobody else."""

import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

HOST, LOG = "127.0.0.1", "log.txt"
SMALL = ("--num-cpus=2", "--object-store-memory=80000000", "--include-log-monitor=false")


@dataclass(frozen=True)
class Cluster:
    address: str
    """What a process of this machine sets RAY_ADDRESS to."""
    client: str
    """What others give to --on."""


@contextmanager
def two_nodes(folder: Path) -> Generator[Cluster]:
    """Two nodes of two CPUs, whose files lie in `folder`; all that was started ends."""
    head, client = _free_ports(2)
    given = (f"--port={head}", f"--ray-client-server-port={client}", "--include-dashboard=false")
    started = []
    try:
        started.append(_start(folder, "--head", *given, f"--temp-dir={folder}"))
        _wait_until(lambda: _answers(head))
        started.append(_start(folder, f"--address={HOST}:{head}"))
        _wait_until(lambda: _answers(client) and (folder / LOG).read_text().count("Ray runtime started") == 2)
        yield Cluster(f"{HOST}:{head}", f"ray://{HOST}:{client}")
    finally:
        for node in reversed(started):
            node.terminate()
        for node in started:
            node.wait(timeout=30)
            with suppress(ProcessLookupError):
                os.killpg(node.pid, signal.SIGKILL)


def _start(folder: Path, *given: str) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", f"--node-ip-address={HOST}", *SMALL]
    with (folder / LOG).open("ab") as log:
        return subprocess.Popen(
            [*command, *given],
            stdout=log,
            stderr=log,
            env=os.environ | {"RAY_USAGE_STATS_ENABLED": "0"},
            start_new_session=True,
        )


def _free_ports(n: int) -> list[int]:
    """Below those that Ray takes for its workers."""
    found: list[int] = []
    while len(found) < n:
        port = random.randrange(6000, 10_000)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            found = list(dict.fromkeys([*found, port]))
    return found


def _wait_until(is_so: Callable[[], bool]) -> None:
    for _ in range(600):
        if is_so():
            return
        time.sleep(0.1)
    raise TimeoutError("the cluster of two nodes has not come up in a minute")


def _answers(port: int) -> bool:
    with suppress(OSError), socket.create_connection((HOST, port), timeout=1):
        return True
    return False
