"""``python -m benchmarks.measure_gpu -o out/gpu``: everything that a page on one GPU needs, within 15 minutes.

In this order: step times of nine models with batches at once and in parts, all their pairs by time slicing, overheads
of three models, and the pairs again under NVIDIA MPS if its daemon can be started. What is measured when the time is
over, or when the script is ended, is in the files; run again with the same directory, it goes on where it stopped.
``--device cpu --models tiny_mlp,tiny_transformer`` tries it without a GPU.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

MODELS = "resnet50,bert,ncf,vgg16,gpt2,resnet18,vit_b16,lstm,dcgan"
OF_OVERHEADS = 3
"""Models whose overheads are measured, the first ones."""
UNTIL = {"steps": 0.3, "pairs": 0.6, "overheads": 0.75, "mps": 0.98}
"""Shares of the whole time after which each part ends; one that ends early leaves more to the next."""
BRIEF = ("--rounds", "3", "--round-s", "0.4")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="DIR")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--models", default=MODELS, help="separated by commas; default: %(default)s")
    parser.add_argument("--batch", action="append", default=[], help="as for pointsman measure")
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--minutes", type=float, default=15.0)
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("ended by SIGTERM"))  # which ends what runs, and MPS
    begin_s = time.monotonic()

    def within(part: str, parts: int = 1) -> Sequence[str]:
        """The option for a budget: the time that is left to a part, or to the first of several."""
        left = UNTIL[part] * given.minutes - (time.monotonic() - begin_s) / 60
        return "--minutes", f"{max(0.0, left / parts):.3f}"

    models, batch = given.models.split(","), [word for text in given.batch for word in ("--batch", text)]
    where = ("--device", given.device, "--precision", given.precision, *batch)
    steps, pairs = given.output / "steps.csv", given.output / "pairs.csv"
    codes = [
        measure("step", *models, *where, "--accumulate", "2,4", *BRIEF, *within("steps"), "-o", steps),
        measure("pairs", *models, *where, *BRIEF, *within("pairs"), "-o", pairs),
    ]
    for left, model in zip(range(OF_OVERHEADS, 0, -1), models, strict=False):
        file = given.output / f"overheads-{model.rpartition(':')[2]}.yaml"
        if not file.exists():
            codes.append(measure("overheads", model, *where, "--rounds", "2", *within("overheads", left), "-o", file))
    with mps(given.output) as environment:
        if environment:
            of_mps = given.output / "pairs-mps.csv"
            codes.append(measure("pairs", *models, *where, *BRIEF, *within("mps"), "-o", of_mps, more=environment))
    sys.exit(max(map(abs, codes)))  # negative: ended by a signal


def measure(*words: str | Path, more: Mapping[str, str] | None = None) -> int:
    """One command; what it could not measure does not keep the next from being measured. Returns its exit code."""
    command = [sys.executable, "-m", "pointsman", "measure", *map(str, words)]
    print("$ pointsman", *command[3:], flush=True)
    done = subprocess.run(command, env={**os.environ, **(more or {})}, check=False)
    if done.returncode:
        print(f"exit code {done.returncode}", flush=True)
    return done.returncode


@contextmanager
def mps(folder: Path) -> Generator[dict[str, str] | None]:
    """The environment of processes under a control daemon of MPS of our own; None where there is none to start."""
    control = shutil.which("nvidia-cuda-mps-control")
    places = {name: folder.resolve() / f"mps-{name.lower()}" for name in ("PIPE", "LOG")}
    environment = {f"CUDA_MPS_{name}_DIRECTORY": str(place) for name, place in places.items()}
    if control:
        for place in places.values():
            place.mkdir(exist_ok=True)
    if not control or subprocess.run([control, "-d"], env=os.environ | environment, check=False).returncode:
        print("MPS cannot be started here: pairs by time slicing only", flush=True)
        yield None
        return
    try:
        yield environment
    finally:
        subprocess.run([control], input="quit\n", text=True, env=os.environ | environment, check=False)


if __name__ == "__main__":
    main()
