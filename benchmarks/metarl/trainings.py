"""``python -m benchmarks.metarl.trainings [--only KIND-SEED ...]``: the trainings of `benchmarks/metarl/trained`.

What is there is kept. Everything goes through the command line, as an operator would do it.
"""

import argparse
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from benchmarks.placement.contestants import FIVE, TWO

PRACTICE: Final = {
    "practice.cluster": " + ".join(("32x4/rack=4,gpu=v100", "32x4/rack=4,nic=10Gbps,gpu=gtx1080ti") * 2),
    "practice.workload": "dl2-philly + dl2-philly + dl2-1-8 + dl2-1-8",
    "practice.load": "0.7 + 0.7 + 0.9 + 0.9",
    "meta.runs": "96",
}
KINDS: Final[Mapping[str, tuple[tuple[int, ...], Mapping[str, str]]]] = {
    "metarl": (TWO, {"meta.network": "reptile"}),
    "plain": (TWO, {"meta.network": "fine-tuning", "meta.method": "fine-tuning"}),
    "actor-critic": ((1,), {"meta.network": "actor-critic", "meta.method": "fine-tuning"}),
    "no-network": (FIVE, {"meta.network": "none"}),
}
"""By name: seeds, and what differs."""


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=Path("out/metarl"))
    parser.add_argument("--only", nargs="*", default=[], help="such as metarl-1")
    given = parser.parse_args()
    for kind, (seeds, settings) in KINDS.items():
        for seed in seeds:
            name = f"{kind}-{seed}"
            place = given.into / name
            if (name in given.only or not given.only) and not (place / "performance-model.yaml").is_file():
                _train(place, seed, settings)


def _train(place: Path, seed: int, settings: Mapping[str, str]) -> None:
    words = [word for name, value in (PRACTICE | settings).items() for word in ("--set", f"{name}={value}")]
    goes_on = ["--resume"] * place.is_dir()
    command = [sys.executable, "-m", "pointsman", "train", "metarl", "--seed", str(seed), *words, *goes_on]
    done = subprocess.run([*command, "-o", str(place)], check=False)
    if done.returncode:
        sys.exit(done.returncode)


if __name__ == "__main__":
    main()
