"""``python -m tests.live.daemon_to_kill FOLDER``: schedules forty real jobs on declared GPUs until all have ended.

Each job counts itself, computes in steps of 20 ms, writes down how far it is, and goes on from there.
"""

import sys
import time
from pathlib import Path

from pointsman.live.backends.facts import Stop
from pointsman.live.backends.local.backend import Local
from pointsman.live.control.clock import Clock
from pointsman.live.control.recovery import recovered
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store

from .killing import STEPS, case

TRAINING = """
import os, pathlib, signal, sys, time
folder, steps = pathlib.Path(sys.argv[1]), int(sys.argv[2])
alive = folder / "alive"
signal.signal(signal.SIGTERM, lambda *_: (alive.unlink(missing_ok=True), sys.exit(1)))
try:
    os.close(os.open(alive, os.O_CREAT | os.O_EXCL))
except FileExistsError:
    (folder / "twice").touch()
done = folder / "done"
step = int(done.read_text()) if done.exists() else 0
while step < steps:
    time.sleep(0.02)
    step += 1
    draft = folder / "draft"
    draft.write_text(str(step))
    draft.replace(done)
signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it is done, and will say so by its exit code
with (folder / "ended").open("a") as file:
    file.write("x")
alive.unlink(missing_ok=True)
"""


def main(folder: Path) -> None:
    jobs_case = case()
    world = jobs_case.world()
    store = Store(folder / "store")
    loop = recovered(world, store, Local(jobs_case.cluster, folder), jobs_case.prepared.layout.node_names)
    clock = Clock(store, world.now_ms)
    jobs = []
    for k, ask in enumerate(jobs_case.asks()):
        own = folder / f"job{k}"
        own.mkdir(exist_ok=True)
        command = (sys.executable, "-S", "-c", TRAINING, str(own), str(STEPS[k]))
        jobs.append(
            Job(ask, requeues=True, zero_is_done=True, command=command, request_key=str(k), stop=Stop(grace_s=5))
        )
    while True:
        loop.turn(clock.now_ms(), jobs)
        jobs = []
        if not loop.jobs:
            break
        time.sleep(0.05)
    print("all ended")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
