"""Who is compared: TopDRL, the six it is judged against, and those that place jobs as it does."""

from dataclasses import dataclass, replace
from pathlib import Path

from pointsman.learn import evaluation
from pointsman.policies.registry import get_policy


@dataclass(frozen=True)
class Contestant(evaluation.Contestant):
    """One of `pointsman eval`, and what it knows."""

    estimate: str = ""
    """What it is told of durations; empty: what it wants."""

    @property
    def knows(self) -> str:
        """As tables say it."""
        return self.estimate or get_policy(self.policies[0]).needs

    def told(self, sigma: float) -> "Contestant":
        """The same with estimates that are wrong by so much."""
        return replace(self, label=f"{self.label}, σ = {sigma:g}", estimate=f"lognormal:{sigma:g}")


def _pick(label: str, gpus: str, **params: str) -> Contestant:
    policy = "pick-place" if params else "pick-place-sjf"
    return Contestant(label, (policy,), {"gpus": gpus, **params})


UNTRAINED_SIX = (
    _pick("FCFS + first", "first-available", picker="fcfs"),
    _pick("SJF + balance", "load-balance"),
    _pick("Tetris + first", "first-available", picker="tetris"),
    _pick("DRF + balance", "load-balance", picker="drf"),
)
"""Of the six, those that learn nothing (docs/papers/topdrl.md §7)."""

NEAREST = (
    _pick("FCFS + nearest", "nearest", picker="fcfs"),
    _pick("SJF + nearest", "nearest"),
    _pick("Tetris + nearest", "nearest", picker="tetris"),
    _pick("DRF + nearest", "nearest", picker="drf"),
)
"""Not of the six: the same pickers with TopDRL's own choice of GPUs."""

TOPDRL, DEEPRM, PROXIMITY, RAW = "TopDRL", "DeepRM + first", "FCFS + PPO", "TopDRL, untrained"
LEARNED = {TOPDRL: "topdrl", DEEPRM: "deeprm", PROXIMITY: "proximity-drl", RAW: "untrained"}
"""Where the trainings of each are."""


def trained(folder: Path, label: str, directory: str = "") -> Contestant:
    """The trainings of a learned one: the directory of this name in `folder`."""
    found, _ = evaluation.contestant(folder / (directory or LEARNED[label]))
    return Contestant(label, found.policies)


def six(folder: Path) -> tuple[Contestant, ...]:
    """Those that TopDRL is judged against."""
    return (*UNTRAINED_SIX, trained(folder, DEEPRM), trained(folder, PROXIMITY))


def everybody(folder: Path) -> tuple[Contestant, ...]:
    """TopDRL first."""
    return (trained(folder, TOPDRL), *six(folder), *NEAREST, trained(folder, RAW))
