"""A Ray cluster of two nodes, on this machine and for nobody else. Run as a script, it lasts as long as its input."""

import os
import random
import socket
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

HOST = "127.0.0.1"
ONLY_HERE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
"""The second, which is not for Linux, lets Ray take 127.0.0.1 instead of an address that others reach."""

TRIALS = 3
"""Ray gives a node 30 s to start, which a machine that is very busy may not manage."""


@dataclass(frozen=True)
class Cluster:
    address: str
    """Where it is for processes of its nodes, which this machine's are: RAY_ADDRESS."""
    client: str
    """Where it is for others: --on."""


@contextmanager
def two_nodes() -> Generator[Cluster]:
    """Two nodes with two CPUs each."""
    with tempfile.TemporaryDirectory(prefix="ray") as folder:
        env = os.environ | ONLY_HERE | {"RAY_TMPDIR": folder}
        for _ in range(TRIALS):
            command = [sys.executable, __file__, str(client := _free_port())]
            pipe = subprocess.PIPE
            with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True, env=env) as script:
                assert script.stdin and script.stdout and script.stderr
                if address := script.stdout.readline().strip():
                    yield Cluster(address, f"ray://{HOST}:{client}")
                    script.communicate("", timeout=60)
                    return
                said = script.communicate()[1]
        raise RuntimeError(said)


def _free_port() -> int:
    """Below those that Ray takes for its workers."""
    while True:
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port := random.randrange(6000, 10_000)))
            return port


def _serve(client_port: int) -> None:
    from ray.cluster_utils import Cluster

    node: dict[str, Any] = {"num_cpus": 2, "object_store_memory": 80_000_000, "node_ip_address": HOST}
    quiet = {"include_dashboard": False, "include_log_monitor": False, "no_monitor": True}
    cluster = Cluster()
    cluster.add_node(**node, **quiet, ray_client_server_port=client_port)
    cluster.add_node(**node)
    print(cluster.address, flush=True)
    sys.stdin.read()
    cluster.shutdown()


if __name__ == "__main__":
    _serve(int(sys.argv[1]))
