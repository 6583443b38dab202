"""``python -m benchmarks.topdrl.trainings``: chooses how DeepRM and Proximity-DRL are trained; trains each of them five
times, and TopDRL four.

Each candidate is trained once, a million decisions, and measured on held-out jobs of seeds that no table uses; the one
with the highest throughput is trained with seeds 1 to 5, three million decisions each, as the shipped TopDRL was. What
is there is kept. `benchmarks/topdrl/trained` holds the weights, as float16 where they would be larger than a megabyte,
and the throughput of the candidates. TopDRL's other trainings have the settings of the shipped one, whose seed is 0.
"""

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.topdrl.contestants import TRAINED
from pointsman.learn.checkpoint import CARD, WEIGHTS, tensors_bytes
from pointsman.learn.evaluation import measure
from pointsman.learn.training_setup import PracticeConfig

Settings = Mapping[str, object]

TOPDRLS_PPO: Final[Settings] = {
    "ppo.num_envs": 36, "ppo.learning_rate": 1e-3, "ppo.trace": 0.98, "ppo.epochs": 4, "ppo.value_weight": 0.5,
    "ppo.entropy_weight": 0.01,
}  # fmt: skip
OF_THROUGHPUT: Final[Settings] = {"practice.reward": "throughput", "practice.hold": 0.0}
CANDIDATES: Final[Mapping[str, Mapping[str, Settings]]] = {
    "deeprm": {
        "80 jobs": {"practice.jobs": 80, "reinforce.sequences": 3},
        "80 jobs, entropy": {"practice.jobs": 80, "reinforce.sequences": 3, "reinforce.entropy_weight": 0.01},
        "400 jobs": {"practice.jobs": 400, "reinforce.sequences": 3},
        "400 jobs, entropy": {"practice.jobs": 400, "reinforce.sequences": 3, "reinforce.entropy_weight": 0.01},
        "80 jobs, throughput": {"practice.jobs": 80, "reinforce.sequences": 3, **OF_THROUGHPUT},
    },
    "proximity-drl": {
        "as in its code": {},
        "TopDRL's PPO": TOPDRLS_PPO,
        "throughput": OF_THROUGHPUT,
        "TopDRL's PPO, throughput": {**TOPDRLS_PPO, **OF_THROUGHPUT},
    },
}
"""By agent, settings of `pointsman train`."""
CHOOSING = range(100, 110)
"""Seeds of held-out jobs on which the candidates are compared; the tables use 0 to 9."""
FIVE = range(1, 6)
OTHERS = range(1, 5)
TRIED, DECISIONS = 1_000_000, 3_000_000
SATURATED = PracticeConfig(jobs=1000, horizon_s=None, horizon_share=0.6)
MOST_BYTES = 1_000_000


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/topdrl"))
    into: Path = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    chosen: dict[str, dict[str, float]] = {}
    for agent in CANDIDATES:
        chosen[agent] = _tried(into, agent)
        best = max(chosen[agent], key=chosen[agent].__getitem__)
        for seed in FIVE:
            _train(into / f"{agent}-{seed}", agent, CANDIDATES[agent][best], seed, DECISIONS)
    for seed in OTHERS:
        _train(into / f"topdrl-{seed}", "topdrl", {}, seed, DECISIONS)
    for place in sorted(into.glob("*-[1-5]")):
        if "candidate" not in place.name:
            _keep(place)
    (TRAINED / "candidates.json").write_text(json.dumps(chosen, indent=1) + "\n")


def _tried(into: Path, agent: str) -> dict[str, float]:
    """The throughput of each candidate."""
    throughput = {}
    for k, (name, settings) in enumerate(CANDIDATES[agent].items()):
        place = into / f"{agent}-candidate-{k}"
        _train(place, agent, settings, 0, TRIED)
        throughput[name] = _throughput(agent, place)
        print(f"{agent}, {name}: {throughput[name]:.3f} a GPU", flush=True)
    return throughput


def _throughput(agent: str, place: Path) -> float:
    runs = [measure(f"{agent}:{place.absolute()}", {}, SATURATED, seed)["throughput"] for seed in CHOOSING]
    return float(np.mean([run or 0.0 for run in runs])) / 32


def _train(place: Path, name: str, settings: Settings, seed: int, steps: int) -> None:
    if (place / CARD).is_file():
        return
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    words = ("train", name, "--seed", seed, "--steps", steps, *given, "-o", place)
    done = subprocess.run([sys.executable, "-m", "pointsman", *map(str, words)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


def _keep(place: Path) -> None:
    """Its weights and card, in the repository."""
    from safetensors.torch import load_file

    kept = TRAINED / place.name
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(place / CARD, kept / CARD)
    if (place / WEIGHTS).stat().st_size <= MOST_BYTES:
        shutil.copyfile(place / WEIGHTS, kept / WEIGHTS)
        return
    half = {name: tensor.half() for name, tensor in load_file(place / WEIGHTS).items()}
    (kept / WEIGHTS).write_bytes(tensors_bytes(half))


if __name__ == "__main__":
    main()
