"""Declarations have no order: with every list of them reversed, each policy makes the same schedule to the byte."""

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import pointsman
from pointsman.engine.setup.overheads import Overheads
from pointsman.policies.registry import BUILT_IN

from .test_every_policy import SMALL

REVERSE = """
from pointsman.engine.setup import parameters
from pointsman.engine.state import named

declared_in, declared_parameters = named.declared_in, parameters.declared_parameters
named.declared_in = lambda record: declared_in(record)[::-1]
parameters.declared_parameters = lambda policy: [*declared_parameters(policy)][::-1]
"""
RUN = """
import sys
from tests.properties.test_reversed_declarations import digest

for name in sys.argv[1:]:
    print(name, digest(name))
"""
SOME = ("tiresias", "gittins", "multifactor", "kueue", "scorer", "sjf-bsbf", "pollux", "pick-place")
"""Policies that together declare nearly all there is."""


def digest(policy: str) -> str:
    """Of the events of a busy minute."""
    draw = np.random.default_rng(4)
    frame = {
        "submit_s": np.sort(draw.integers(0, 20, 24)).astype(float),
        "gpus": draw.choice([1, 1, 2, 4, 6], 24),
        "duration_s": draw.integers(1, 15, 24).astype(float),
        "queue": draw.choice(["a", "b"], 24),
        "user": draw.choice(["u", "v"], 24),
    }
    jobs = pointsman.Workload.of(pl.DataFrame(frame))
    params = SMALL[policy] | ({"refit_s": 20, "groups": 2} if policy == "gittins" else {})
    result = pointsman.simulate(
        jobs, "2x4/rack=1,gpu=v100", policy, params=params, assign_models=7, oversized="clamp", until_s=90,
        overheads=Overheads(start_s=0.5), node_events=((9.0, "1", "DOWN"), (15.0, "1", "UP")),
    )  # fmt: skip
    return hashlib.sha256(result.events.write_csv().encode()).hexdigest()


def said(script: str, policies: tuple[str, ...]) -> str:
    """What a process without the JIT prints."""
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    here = Path(__file__).parents[2]
    env["PYTHONPATH"] = os.pathsep.join([*filter(None, [os.environ.get("PYTHONPATH")]), str(here / "src"), str(here)])
    done = subprocess.run(
        [sys.executable, "-c", script, *policies], env=env, cwd=here, capture_output=True, text=True, timeout=1800
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def check(policies: tuple[str, ...]) -> None:
    found = "".join(f"{name} {digest(name)}\n" for name in policies)
    assert said(REVERSE + RUN, policies) == found


@pytest.mark.slow
def test_some_policies() -> None:
    check(SOME)


@pytest.mark.slow
def test_every_policy() -> None:
    check(tuple(BUILT_IN))
