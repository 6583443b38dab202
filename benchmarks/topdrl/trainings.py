"""``python -m benchmarks.topdrl.trainings``: chooses how DeepRM is trained; trains it five times, and TopDRL four.

Each candidate is trained once, a million decisions, and measured on held-out jobs of seeds that no table uses; the one
with the highest throughput is trained with seeds 1 to 5, three million decisions each, as the shipped TopDRL was. What
is there is kept. `benchmarks/topdrl/trained` holds the five, and the throughput of the candidates. TopDRL's other
trainings have the settings of the shipped one, whose seed is 0.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import numpy as np

from pointsman.learn.evaluation import measure
from pointsman.learn.training_setup import PracticeConfig

CANDIDATES: Final[Mapping[str, Mapping[str, object]]] = {
    "80 jobs": {"practice.jobs": 80, "reinforce.sequences": 3},
    "80 jobs, entropy": {"practice.jobs": 80, "reinforce.sequences": 3, "reinforce.entropy_weight": 0.01},
    "400 jobs": {"practice.jobs": 400, "reinforce.sequences": 3},
    "400 jobs, entropy": {"practice.jobs": 400, "reinforce.sequences": 3, "reinforce.entropy_weight": 0.01},
    "80 jobs, throughput": {
        "practice.jobs": 80, "reinforce.sequences": 3, "practice.reward": "throughput", "practice.hold": 0.0,
    },
}  # fmt: skip
"""Settings of `pointsman train deeprm`."""
CHOOSING = range(100, 110)
"""Seeds of held-out jobs on which the candidates are compared; the tables use 0 to 9."""
FIVE = range(1, 6)
OTHERS = range(1, 5)
TRIED, DECISIONS = 1_000_000, 3_000_000
SATURATED = PracticeConfig(jobs=1000, horizon_s=None, horizon_share=0.6)


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/topdrl"))
    into: Path = parser.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    throughput = {}
    for k, (name, settings) in enumerate(CANDIDATES.items()):
        place = into / f"candidate-{k}"
        _train(place, "deeprm", settings, 0, TRIED)
        throughput[name] = _throughput(place)
        print(f"{name}: {throughput[name]:.3f} a GPU", flush=True)
    (into / "candidates.json").write_text(json.dumps(throughput, indent=1) + "\n")
    best = max(throughput, key=throughput.__getitem__)
    for seed in FIVE:
        _train(into / f"deeprm-{seed}", "deeprm", CANDIDATES[best], seed, DECISIONS)
    for seed in OTHERS:
        _train(into / f"topdrl-{seed}", "topdrl", {}, seed, DECISIONS)


def _throughput(place: Path) -> float:
    runs = [measure(f"deeprm:{place.absolute()}", {}, SATURATED, seed)["throughput"] for seed in CHOOSING]
    return float(np.mean([run or 0.0 for run in runs])) / 32


def _train(place: Path, name: str, settings: Mapping[str, object], seed: int, steps: int) -> None:
    if (place / "policy.yaml").is_file():
        return
    given = [word for name, value in settings.items() for word in ("--set", f"{name}={value}")]
    words = ("train", name, "--seed", seed, "--steps", steps, *given, "-o", place)
    done = subprocess.run([sys.executable, "-m", "pointsman", *map(str, words)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
