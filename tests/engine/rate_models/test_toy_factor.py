"""A factor is one file and one registration: a toy one works with every base model and wherever options go.

Jobs a and b ask for 2 GPUs each and share node 0 of two, where computing takes twice as long; c has node 1 to itself::

            0        40        80        120   140
    node 0  a ------------------|--------------|      40 of 100 are done when b ends, 60 are left
            b ------------------|
    node 1  c ------------|                           60, alone
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[3]
REGISTERED = """\
from pointsman.engine.rate_models.registry import FACTORS
FACTORS["shared-nodes"] = "tests.engine.rate_models.shared_nodes:SharedNodes"
"""
JOBS = "job_id,submit_s,gpus,duration_s\na,0,2,100\nb,0,2,40\nc,0,4,60\n"
BASE_MODELS = ("rates", "tree:clamp=1,rack=0.1,node=0.1,gpu=0.01", "goodput", "iterations")
"""The tree's costs are below its clamp, so that it is 1 everywhere."""


def python(code: str, *args: str, cwd: Path) -> str:
    """What a process prints in which the toy factor is registered."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", REGISTERED + dedent(code), *args],
        env={**os.environ, "PYTHONPATH": path, "COLUMNS": "200", "NO_COLOR": "1"},
        cwd=cwd, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def pointsman(*commands: str, cwd: Path) -> list[str]:
    """What these commands print, one after another in one process."""
    code = """
    import sys
    from pointsman.cli import screen
    from pointsman.cli.run import run
    from pointsman.report.figures import catalogue
    catalogue.KINDS = catalogue.KINDS[:1]  # each figure of the page takes a second
    for command in sys.argv[1:]:
        screen.can_draw = lambda: command.startswith("report")
        assert run(command.split()) == 0, command
        print("=====")
    """
    return python(code, *commands, cwd=cwd).split("=====\n")[:-1]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "jobs.csv").write_text(JOBS)
    return tmp_path


def test_every_base_model_has_it_exactly(folder: Path) -> None:
    """Both run slowed until b ends at 40 times as long; a has 60 left then. Chains count in 1/2**16."""
    code = """
    import json, sys, pointsman
    FREE = {"overheads": "none", "audit": True}
    for base in sys.argv[1:]:
        for times in (2, 1.1, 1.48, 2.6):
            run = pointsman.simulate("jobs.csv", "2x4", "fifo", rate_model=base, shared_node_slowdown=times, **FREE)
            print(json.dumps([base, times, run.jobs["end_s"].to_list(), run.jobs["slowed_s"].to_list()]))
    """
    runs = [json.loads(line) for line in python(code, *BASE_MODELS, cwd=folder).splitlines()]
    assert len(runs) == 4 * len(BASE_MODELS)
    for base, times, ends, slowed in runs:
        near = {"abs": 0 if times == 2 else 0.0021}
        assert ends == [pytest.approx(40 * times + 60, **near), pytest.approx(40 * times, **near), 60], (base, times)
        assert slowed == [pytest.approx(40 * (times - 1), abs=0.003)] * 2 + [0], (base, times)


def test_the_command_line_has_it(folder: Path) -> None:
    asks, said, _, explained, later, again = pointsman(
        "simulate --help",
        "simulate jobs.csv --cluster 2x4 --policy fifo --shared-node-slowdown 2 -o run",
        "report run -o page",
        "explain a --run run --at 50",
        "explain a --run run --at 100",
        "simulate -c run/config.resolved.yaml -o again",
        cwd=folder,
    )
    assert "Slowdown of jobs that share a node" in asks
    assert "slowed by shared nodes, mean" in said and "26.6667 s" in said and "26.6667 s" in again
    assert json.loads((folder / "run/summary.json").read_text())["shared_nodes"] == {"slowed_mean_s": 80 / 3}
    pages = [page.read_text() for page in (folder / "page").rglob("*.html")]
    assert any("computing takes 2 times as long on shared nodes" in page for page in pages)
    assert "its computing takes 2 times as long (shared-nodes)" in explained
    assert "computing" not in later


def test_a_value_out_of_its_limits_is_refused(folder: Path) -> None:
    code = """
    import pointsman
    try:
        pointsman.simulate("jobs.csv", "2x4", "fifo", shared_node_slowdown=101)
    except pointsman.errors.UsageError as error:
        print(error)
    """
    assert "shared_node_slowdown" in python(code, cwd=folder)


def test_an_answer_that_is_no_slow_down_stops_the_run_and_the_episode(folder: Path) -> None:
    code = """
    import sys, pointsman
    from pointsman.learn.environments import PickJobEnv
    jobs = pointsman.read_workload("jobs.csv")
    def play(times):
        environment = PickJobEnv(
            cluster="2x4", workload=lambda seed, gpus: jobs, reward="jobs", horizon_s=None, gpus="consolidated",
            factors={"shared_node_slowdown": times}, episodes=1, slots=3, tau_s=100.0,
        )
        environment.reset(seed=1)
        for _ in "abc":
            environment.step(0)
    def run(times):
        pointsman.simulate("jobs.csv", "2x4", "fifo", overheads="none", shared_node_slowdown=times)
    for times in (0.5, 0, -1):
        for go in run, play:
            try:
                go(times)
            except pointsman.errors.RunError as error:
                print(error)
    """
    said = python(code, cwd=folder).splitlines()
    wrong = [f"factor 1 of this run says at 0.000 s that a job takes {times:g} times" for times in (0.5, 0, -1)]
    assert [begins in line for begins, line in zip(sorted(2 * wrong), sorted(said), strict=True)] == [True] * 6


def test_environments_have_it(folder: Path) -> None:
    code = """
    import sys, numpy as np, polars as pl, pointsman
    from pointsman.learn.environments import PickJobEnv
    jobs = pointsman.read_workload("jobs.csv")
    for base in sys.argv[1:]:
        environment = PickJobEnv(
            cluster="2x4", workload=lambda seed, gpus: jobs, rate_model=base, reward="jobs", horizon_s=None,
            gpus="consolidated", factors={"shared_node_slowdown": 2}, episodes=1, slots=3, tau_s=100.0,
        )
        environment.reset(seed=1)
        waited = 0.0
        for _ in "abc":
            _, _, ended, _, info = environment.step(0)
            waited += info["elapsed_s"]
        print(waited, ended)
    """
    assert python(code, *BASE_MODELS[:3], cwd=folder) == "140.0 True\n" * 3


def test_loads_are_those_of_running_jobs_at_any_time(folder: Path) -> None:
    """Under preemption, failures of nodes and starts that take time."""
    code = """
    import numpy as np, pointsman, polars as pl
    from pointsman.api import open_simulation
    from pointsman.cluster import load_cluster
    from pointsman.experiment import RunOptions
    from pointsman.policies.registry import get_policy
    draw = np.random.default_rng(1)
    n = 60
    jobs = pointsman.Workload.of(pl.DataFrame({
        "submit_s": np.sort(draw.integers(0, 600, n)).astype(float), "gpus": draw.integers(1, 7, n),
        "duration_s": draw.integers(1, 200, n).astype(float),
    }))
    for name, more in (
        ("srtf", {}), ("srtf", {"rate_model": "iterations"}), ("tiresias", {"overheads": "realistic"}), ("dally", {}),
    ):
        spec = get_policy(name)
        events = [(50.0, "0", "DOWN"), (90.0, "0", "UP"), (200.0, "1", "DOWN"), (260.0, "1", "UP")]
        options = RunOptions.checked({"shared_node_slowdown": 3, "audit": True, "node_events": events, **more})
        simulation, _ = open_simulation(jobs, load_cluster("3x4"), spec, spec.make(), options)
        seen = 0
        for until in range(0, 2_000_000, 7_001):
            simulation.run(until)
            state = simulation.handle.state
            loads = np.zeros(3, int)
            for job in np.asarray(simulation.handle.jobs):
                i = job["part"] if job["state"] == 3 else -1
                while i >= 0:
                    loads[state.parts[i]["node"]] += 1
                    i = state.parts[i]["next"]
            assert state.factor_loads.tolist() == loads.tolist(), (name, until, state.factor_loads, loads)
            seen = max(seen, loads.max())
        simulation.run()
        assert seen > 1 and not np.asarray(simulation.handle.state.factor_loads).any(), name
    """
    python(code, cwd=folder)
