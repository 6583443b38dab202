"""Runs on a Ray cluster of two nodes, which are processes of this machine."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import pointsman
from tests.cli.conftest import Command

from .two_nodes import ONLY_HERE, Cluster, two_nodes

has_ray = pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed ('make ray')")

WITNESS = """
import os
import time


class Witness:
    name = "witness"
    needs = "none"

    def __init__(self, nap_s: float = 0.0):
        self.nap_s, self.said = nap_s, False

    def decide(self, view):
        if not self.said:
            self.said = True
            import ray

            with open({log!r}, "a") as log:
                print(ray.get_runtime_context().get_node_id(), os.getpid(), __file__, file=log, flush=True)
            time.sleep(self.nap_s)
        for job in view.pending:
            if not view.start(job):
                break
"""
TRIVIAL = """
import os, sys, time
from pointsman.parallel import ray as on_ray
from pointsman.errors import InputError, PointsmanError
from pointsman.parallel.file_bundle import pack
from pathlib import Path
from pointsman.parallel.pool import fill_folders, workers

def on_a_node(name, nap_s):
    import ray
    time.sleep(nap_s)
    return ray.get_runtime_context().get_node_id(), open(name).read()

def count_on(folder, by):
    (folder / "count").write_text(str(int((folder / "count").read_text()) + by))
    (folder / "more").mkdir()
    (folder / "more" / "bytes").write_bytes(bytes([by]))

def fail(how):
    if how == "die":
        os._exit(1)
    raise InputError("no good", path="jobs.csv", line=3, fix="mend it")

def error_of(run):
    try:
        list(run)
    except PointsmanError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)

if __name__ == "__main__":
    name, here = sys.argv[1], on_ray.source_digest
    bundle = pack([name])
    with workers("ray") as four:
        done = list(four(on_a_node, [(bundle.there(name), 0.3)] * 8, bundle))
        calls = []
        for by in range(3):
            Path(f"count-{by}").mkdir()
            Path(f"count-{by}", "count").write_text("10")
            calls.append((Path(f"count-{by}"), by))
        assert len(list(fill_folders(four, count_on, calls))) == 3
        error_of(four(fail, [("raise",)] * 3))
    with workers("ray", 1) as two:
        on_ray.source_digest = lambda: "another"
        error_of(two(fail, [("raise",)]))
    on_ray.source_digest = here
    with workers("ray", 1) as two:
        error_of(two(fail, [("die",)]))
    assert {text for _, text in done} == {"read here"}
    print(*(node for node, _ in done))
"""


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with two_nodes() as started:
        yield started


@pytest.fixture
def on_it(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Cluster:
    """This process is on a node of the cluster."""
    for name, value in (ONLY_HERE | {"RAY_ADDRESS": cluster.address}).items():
        monkeypatch.setenv(name, value)
    return cluster


@pytest.fixture
def witness(here: Path) -> tuple[str, Path]:
    """A policy of one's own by its absolute name, and where it says which node it runs on."""
    log = here / "witness.txt"
    (here / "own").mkdir()
    (here / "own" / "witness.py").write_text(WITNESS.format(log=str(log)))
    return f"{here}/own/witness.py:Witness", log


@has_ray
def test_calls_run_on_both_nodes_with_the_files_they_read(here: Path, on_it: Cluster) -> None:
    (here / "given.txt").write_text("read here")
    (here / "calls.py").write_text(TRIVIAL)
    done = subprocess.run(
        [sys.executable, "calls.py", str(here / "given.txt")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    # Ray's C++ part may write lines of its own on a busy machine; they begin with a date in brackets.
    wrong, other, dead = (line for line in done.stderr.splitlines() if "Error: " in line and line[0] != "[")
    assert wrong == "InputError: jobs.csv:3: no good (mend it)"
    assert other.startswith("UsageError: ") and "has a different version of Pointsman" in other
    assert dead.startswith("BackendError: the Ray cluster failed: ")
    nodes = done.stdout.split()
    assert len(nodes) == 8
    assert len(set(nodes)) == 2
    for by in range(3):
        assert (here / f"count-{by}" / "count").read_text() == str(10 + by)
        assert (here / f"count-{by}" / "more" / "bytes").read_bytes() == bytes([by])


def figures(text: str) -> Any:
    """What is no time of computing."""
    speed = ("engine_s", "wall_s", "decisions_per_s")
    return json.loads(text, object_hook=lambda each: {k: v for k, v in each.items() if k not in speed})


def kept(folder: Path) -> dict[str, bytes]:
    """The tables of all runs in a directory of results, byte by byte."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.parquet")}


@has_ray
@pytest.mark.slow
@pytest.mark.parametrize("at", ["a node", "elsewhere"])
def test_simulate_and_compare_give_the_same_there(
    at: str, here: Path, jobs: str, on_it: Cluster, witness: tuple[str, Path]
) -> None:
    policy, log = witness
    place = "ray" if at == "a node" else on_it.client
    one = ("simulate", jobs, "--cluster", "2x4", "--policy", "srtf", "--estimate", "lognormal:1")
    several = ("compare", jobs, "--cluster", "2x4", "--policy", "fifo", "--policy", "las", "--seeds", "0-1")
    for given, keep in ((one, False), (several, True)):
        alone, there = (
            pointsman(*given, "--format", "json", "--on", on, *(("-o", name) if keep else ()))
            for on, name in (("local", "alone"), (place, "there"))
        )
        assert alone.returncode == there.returncode == 0, there.stderr
        assert figures(alone.stdout) == figures(there.stdout)
    assert kept(here / "alone") == kept(here / "there") != {}
    seeds = ("--set", "witness.nap_s=0.5", "--seeds", "0-7")
    done = pointsman("compare", jobs, "--cluster", "2x4", "--policy", policy, *seeds, "--on", place, "-o", "witnessed")
    assert done.returncode == 0, done.stderr
    said = [line.split() for line in log.read_text().splitlines()]
    assert len(said) == 8
    assert len({node for node, _, _ in said}) == 2
    assert all("/sent/" in file and file.endswith(f"{here}/own/witness.py") for _, _, file in said)
    told = [file.read_text() for kind in ("json", "yaml") for file in (here / "witnessed").rglob(f"*.{kind}")]
    assert any(policy in text for text in told)
    assert not any(".//own" in text for text in told)


SLOW_FIRST = """
import time
from pathlib import Path


class SlowFirst:
    name = "slow-first"
    needs = "none"

    def __init__(self, number: int = 0):
        self.number = number

    def decide(self, view):
        while self.number == 1 and Path({hold!r}).exists():
            time.sleep(0.05)
        for job in view.pending:
            if not view.start(job):
                break
"""


@has_ray
@pytest.mark.slow
def test_runs_that_end_before_the_first_are_kept(here: Path, jobs: str, on_it: Cluster) -> None:
    hold = here / "hold"
    hold.touch()
    (here / "policy.py").write_text(SLOW_FIRST.format(hold=str(hold)))
    policies = [{"name": "policy.py:SlowFirst", "params": {"number": n}} for n in (1, 2, 3)]
    spec = {"trace": jobs, "cluster": "2x4", "policies": policies}
    (here / "e.yaml").write_text(json.dumps({"metadata": {"name": "e"}, "spec": spec}))
    started = start("compare", "-c", "e.yaml", "--on", "ray", "--workers", "2", "-o", "out")
    while len([*(here / ".out.runs").glob("*/manifest.json")]) < 2:
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    started.kill()
    started.communicate()
    hold.unlink()
    done = pointsman("compare", "-c", "e.yaml", "-o", "out")
    assert done.returncode == 0, done.stderr
    assert "2 of 3 runs are finished and kept" in done.stderr


@has_ray
@pytest.mark.slow
def test_trainings_and_their_evaluation_give_the_same_there(here: Path, on_it: Cluster) -> None:
    pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
    small = ("practice.jobs=20", "practice.episodes=4", "reinforce.rollouts=2")
    settings = [word for setting in small for word in ("--set", setting)]
    train = ("train", "deeprm", "--cluster", "2x4", *settings, "--steps", "1500", "--seeds", "2")
    for on in ("local", "ray"):
        done = pointsman(*train, "--on", on, "-o", on)
        assert done.returncode == 0, done.stderr
    weights = [
        [(here / on / f"seed-{k}" / "policy.safetensors").read_bytes() for k in (0, 1)] for on in ("local", "ray")
    ]
    assert weights[0] == weights[1]
    assert weights[0][0] != weights[0][1]
    told = [pointsman("eval", "local", "--seeds", "0-1", "--on", on, "--format", "json") for on in ("local", "ray")]
    assert told[0].returncode == told[1].returncode == 0, told[1].stderr
    assert json.loads(told[0].stdout) == json.loads(told[1].stdout)


@has_ray
@pytest.mark.slow
def test_the_suite_gives_the_same_there(on_it: Cluster) -> None:
    part = (
        "--policy",
        "fifo",
        "--policy",
        "las",
        *("--only", "workload=itp"),
        "--only",
        "load=0.7",
        "--only",
        "seed=0,1",
    )
    here, there = (pointsman("suite", "run", *part, "--format", "json", "--on", on) for on in ("local", "ray"))
    assert here.returncode == there.returncode == 0, there.stderr
    assert figures(here.stdout) == figures(there.stdout) != []


def start(*given: str) -> "subprocess.Popen[str]":
    """The command, with a process group of its own."""
    command = [sys.executable, "-m", "pointsman", *given]
    return subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)


def has_ended(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


@has_ray
@pytest.mark.slow
@pytest.mark.parametrize("at", ["a node", "elsewhere"])
@pytest.mark.parametrize(
    ("signum", "word", "code"), [(signal.SIGINT, "interrupted", 130), (signal.SIGTERM, "terminated", 143)]
)
def test_interrupted_runs_end_here_and_there(
    at: str, signum: int, word: str, code: int, jobs: str, on_it: Cluster, witness: tuple[str, Path]
) -> None:
    policy, log = witness
    place = "ray" if at == "a node" else on_it.client
    given = ("simulate", jobs, "--cluster", "2x4", "--policy", policy, "--set", "witness.nap_s=600", "--on", place)
    started = start(*given, "-o", "never", "-q")
    while not (log.exists() and log.read_text().endswith("\n")):
        assert started.poll() is None, started.communicate()
        time.sleep(0.05)
    os.killpg(started.pid, signum)
    assert started.communicate(timeout=120) == ("", f"pointsman: {word}\n")
    assert started.returncode == code
    assert not Path("never").exists()
    worker = int(log.read_text().split()[1])
    for _ in range(600):
        if has_ended(worker):
            return
        time.sleep(0.1)
    raise AssertionError(f"{worker} still runs")


@has_ray
def test_a_cluster_that_does_not_answer_is_said_soon(here: Path, jobs: str) -> None:
    began = time.monotonic()
    given = ("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "--on")
    away = pointsman(*given, "ray://127.0.0.1:1")
    none = pointsman(*given, "ray", env={"RAY_ADDRESS": "127.0.0.1:1"})
    assert (away.returncode, none.returncode) == (5, 5)
    assert away.stderr.startswith("pointsman: cannot reach the Ray cluster at ray://127.0.0.1:1: ")
    assert none.stderr.startswith("pointsman: cannot reach a Ray cluster of this machine: ")
    assert "Connection refused" in away.stderr
    assert len(away.stderr.splitlines()) == len(none.stderr.splitlines()) == 1
    assert time.monotonic() - began < 180  # both, Python's imports and a busy machine included


def test_without_ray_the_extra_is_named(command: Command, jobs: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    for verb in ("simulate", "compare"):
        done = command(verb, jobs, "--cluster", "2x4", "--policy", "fifo", "--on", "ray")
        assert done.code == 2
        assert "pip install 'pointsman[ray]'" in done.err
    done = command("suite", "run", "--policy", "fifo", "--only", "load=0.7", "--on", "ray://head")
    assert (done.code, "pip install 'pointsman[ray]'" in done.err) == (2, True)


@pytest.mark.parametrize("on", ["", "rays", "ray:", "ray://", "ray://a b", "ray://head:port", "head:10001", "LOCAL"])
def test_other_places_are_refused(command: Command, jobs: str, on: str) -> None:
    done = command("simulate", jobs, "--cluster", "2x4", "--policy", "fifo", "--on", on)
    assert done.code == 2
    assert "there are local, ray and ray://HOST[:PORT]" in done.err


@has_ray
def test_a_connection_that_is_lost_is_an_answer() -> None:
    """To whoever waits for one; Ray's own thread would end, and nobody would hear of it."""
    code = """
import threading
from ray.util.multiprocessing.pool import ResultThread
from pointsman.parallel import ray_backend

class Lost(ResultThread):
    def run(self):
        raise ConnectionError("the connection is lost")

threading.excepthook = ray_backend._report_lost_thread
waiting = Lost([], True, None, lambda answer: print(repr(answer)))
waiting.start()
waiting.join()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert (done.stdout, done.stderr) == ("ConnectionError('the connection is lost')\n", "")
