"""`pointsman explain` says what a network preferred, of real run directories, by the command line."""

import json
from collections.abc import Callable, Mapping
from math import log
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")
pytest.importorskip("safetensors", reason="safetensors is not installed (make learn)")

from pointsman.cli.run import run  # noqa: E402
from pointsman.learn.agents import AGENTS  # noqa: E402
from pointsman.learn.checkpoint import Card, Named, ObservationSpec, save_policy  # noqa: E402
from pointsman.learn.environments.compiled.observations.proximity import PLACES  # noqa: E402
from pointsman.learn.environments.loading import shapes_of, version_of  # noqa: E402
from pointsman.learn.networks import network_class  # noqa: E402
from tests.explain.test_schedulers import SEED  # noqa: E402

from .test_learned_policies import untrained  # noqa: E402

WAIT = -1
CLUSTER = "1x4"


def opinionated(agent: str, likes: Mapping[int, float], **environment: str) -> str:
    """A policy whose network likes actions as told, whatever it sees: how many times as much as any other."""
    kind = AGENTS[agent]
    seen, slots = ("proximity", PLACES) if kind.task == "place" else ("topdrl", 10)
    spec = ObservationSpec(name=seen, version=version_of(seen), shapes=shapes_of(seen, slots), actions=slots + 1)
    network = network_class(kind.network)
    made = network(network.Config(), spec.shapes, spec.actions)
    with torch.no_grad():
        for name, weight in made.named_parameters():
            weight.zero_()
            if name.startswith("actor") and weight.shape == (spec.actions,):
                for action, odds in likes.items():
                    weight[action] = log(odds)
    card = Card(
        agent=agent, network=Named(name=kind.network), observation=spec, observation_sha256=spec.digest,
        algorithm=Named(name=kind.algorithm), environment=environment, seed=0, steps=0, pointsman="0",
    )  # fmt: skip
    Path(agent).mkdir()
    save_policy(Path(agent), card, made.state_dict())
    return f"{agent}:{agent}"


Ask = Callable[..., str]


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ask:
    """What is said of a job of (submit_s, gpus, duration_s), named a, b, c ..., under a policy at a time."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pointsman.cli.screen.can_draw", lambda: False)  # a page takes seconds
    ran = []

    def answer(
        jobs: list[tuple[int, int, int]], policy: str, job: str, at: str, *more: str, cluster: str = CLUSTER
    ) -> str:
        rows = [f"{submit},{gpus},{s},{chr(ord('a') + i)}" for i, (submit, gpus, s) in enumerate(jobs)]
        Path("jobs.csv").write_text("\n".join(["submit_s,gpus,duration_s,job_id", *rows]) + "\n")
        given = [
            "simulate",
            "jobs.csv",
            "--cluster",
            cluster,
            "--policy",
            policy,
            "-o",
            "run",
            "--force",
            "--overheads",
            "none",
            *more,
        ]
        if ran[-1:] != [(rows, given)]:  # a run may be asked several questions
            assert run(given) == 0, capsys.readouterr().err
            ran.append((rows, given))
        capsys.readouterr()
        assert run(["explain", job, "--run", "run", "--at", at, "--format", "json"]) == 0, capsys.readouterr().err
        (said,) = json.loads(capsys.readouterr().out)
        return f"{said['state']} ({said['reason']}): {said['said']}"

    return answer


SMALL = [(0, 3, 100), (5, 1, 10), (5, 1, 20)]
"""After the first there is room for one of the others."""


@pytest.mark.parametrize("agent", ["topdrl", "deeprm"])
def test_a_network_that_would_rather_wait(agent: str, ask: Ask) -> None:
    policy = opinionated(agent, {0: 2, WAIT: 7})
    assert ask(SMALL, policy, "b", "6") == (
        "PENDING (HeldByDelay): it would fit, but the network chose to wait "
        "(probability 0.7, against 0.2 for starting this one)"
    )
    assert ask(SMALL, policy, "c", "6").endswith("against 0.1 for starting this one, and 0.2 for job b)")
    assert ask(SMALL, policy, "a", "6").startswith("RUNNING")


def test_a_job_that_it_prefers(ask: Ask) -> None:
    """Between two rounds, for else the preferred job would be running."""
    policy = opinionated("topdrl", {0: 1, 1: 3, WAIT: 0.001})
    assert ask(SMALL, f"rounds({policy}, 60)", "b", "6") == (
        "PENDING (Priority): it would fit, but the network prefers job c (probability 0.75, "
        "against 0.25 for starting this one)"
    )
    assert ask(SMALL, f"rounds({policy}, 60)", "c", "6") == (
        "PENDING (HeldByDelay): it would fit, and the network starts it at its next decision"
    )


def test_a_job_that_it_does_not_see(ask: Ask) -> None:
    policy = opinionated("topdrl", {WAIT: 7})
    jobs = [SMALL[0], *[(5, 1, 10)] * 12]
    assert ask(jobs, policy, "l", "6") == (
        "PENDING (Priority): it would fit, but the network sees 10 of the 12 waiting jobs, and this one is not among "
        "them"
    )
    assert "the network chose to wait" in ask(jobs, policy, "k", "6")


def test_a_job_that_has_waited_too_long_goes_first(ask: Ask) -> None:
    policy = opinionated("topdrl", {WAIT: 7})
    jobs, bound = [SMALL[0], (1, 4, 10), (2, 1, 10)], ("--set", "topdrl.patience_durations=2")
    assert "the network chose to wait" in ask(jobs, policy, "c", "20", *bound)
    assert ask(jobs, policy, "c", "22", *bound) == (
        "PENDING (Reserved): it would fit, but job b has waited for 2 times its duration and goes next"
    )
    assert ask(jobs, policy, "b", "22", *bound).startswith("PENDING (Resources): needs 4 GPUs; 1 of those")
    assert ask(jobs, policy, "c", "111", *bound).startswith("RUNNING")


def test_a_network_that_chooses_gpus(ask: Ask) -> None:
    policy = opinionated("proximity-drl", {WAIT: 4}, picker="sjf")
    assert ask([SMALL[0], (5, 1, 20), (5, 1, 10)], policy, "c", "6") == (
        "PENDING (HeldByDelay): it would fit and is first in line, but the network chose to wait (probability 0.8)"
    )
    assert ask([SMALL[0], (5, 1, 20), (5, 1, 10)], policy, "b", "6") == (
        "PENDING (Priority): it would fit, but job c goes first (ahead of this one: 1)"
    )


FIRST, SECOND = "scheduler 1 of 2 (n0000 to n0001)", "scheduler 2 of 2 (n0002 to n0003)"
GANGS = [(0, 8, 100), (10, 7, 500), (20, 2, 50), (150, 4, 50)]
"""The first takes the rack of the first scheduler; the second is of that scheduler too; the third of the other one."""


@pytest.mark.parametrize(
    ("job", "begins", "whose"),
    [
        ("a", "RUNNING (): it holds 8 GPUs on n0000, n0001 since 0 s", FIRST),
        (
            "b",
            "RUNNING (): it holds 7 GPUs on n0002, n0003 since 10 s",
            f"{SECOND}, forwarded by {FIRST} at 10 s (10 s after the first submit)",
        ),
        ("c", "PENDING (Resources): needs 2 GPUs; 1 of those it may use are free", SECOND),
    ],
)
def test_the_scheduler_of_a_job_and_who_forwarded_it(job: str, begins: str, whose: str, ask: Ask) -> None:
    """A job that was forwarded, and two that were not, by a network that has learnt nothing."""
    policy = f"marl:{untrained('marl', Path('marl'), schedulers=2)}"
    said = ask(GANGS, policy, job, "50", "--seed", str(SEED), cluster="4x4/rack=2,gpu=v100")
    assert said.startswith(begins)
    assert said.endswith(f"; it belongs to {whose}")
