"""A cluster of two nodes of four GPUs behind each backend, and programs that do the same on all of them."""

import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Protocol

from pointsman.cluster import load_cluster
from pointsman.live.backends.facts import AttemptFact, AttemptId, Exit, Launch, Parts, Phase, Stop
from pointsman.live.backends.local.backend import Local
from pointsman.live.backends.protocol import Backend
from pointsman.live.backends.shadow import NEVER, Delays, Program, Shadow, always

SHORT, LONG, FAILS, MISSING = "short", "long", "fails", "missing"
"""What a job does: it is done soon, or not for a long time; it leaves with 7; its command does not exist."""
SOON = Stop(grace_s=0.5)
WAIT_S = 60.0
KINDS = (SHORT, LONG, FAILS, MISSING)


class UnderTest(Protocol):
    """A backend, and how time passes there."""

    backend: Backend

    def launch(self, id_: AttemptId, does: str = SHORT, parts: Parts = (("n0000", 1),)) -> None: ...

    def passes(self) -> None:
        """Some time."""
        ...

    def done(self, id_: AttemptId) -> int:
        """How often the job of an attempt did its work."""
        ...

    def reopened(self) -> None:
        """Whoever asks it is another process from now on."""
        ...


def fact(cluster: UnderTest, id_: AttemptId) -> AttemptFact | None:
    return next((one for one in cluster.backend.observe().attempts if one.id == id_), None)


def wait(cluster: UnderTest, id_: AttemptId, *phases: Phase) -> AttemptFact:
    """Until an attempt is in one of these phases."""
    until_s = time.monotonic() + WAIT_S
    while (one := fact(cluster, id_)) is None or one.phase not in phases:
        assert time.monotonic() < until_s, f"{id_} is {one}"
        cluster.passes()
    return one


class ShadowCluster:
    """Its clock is stepped. Which job does what is known by its number."""

    def __init__(self, folder: Path) -> None:
        self._does: dict[int, str] = {}
        delays = Delays(always(300), always(100), always(200))
        self.backend = Shadow(load_cluster("2x4"), _Programs(self._does), delays)

    def launch(self, id_: AttemptId, does: str = SHORT, parts: Parts = (("n0000", 1),)) -> None:
        self._does[id_.job] = does
        self.backend.launch(Launch(id_, parts))

    def passes(self) -> None:
        due_ms = self.backend.next_ms()
        self.backend.step(due_ms if due_ms < NEVER else self.backend.now_ms + 1)
        assert self.backend.twice == []

    def done(self, id_: AttemptId) -> int:
        return self.backend.runs.get(id_.job, 0)

    def reopened(self) -> None:
        self.backend.close()


class _Programs(Mapping[int, Program]):
    def __init__(self, does: dict[int, str]) -> None:
        self._does = does

    def __getitem__(self, job: int) -> Program:
        programs = {
            SHORT: Program(100.0), LONG: Program(1e9), FAILS: Program(100.0, Exit(7)),
            MISSING: Program(1.0, Exit(127)),
        }  # fmt: skip
        return programs[self._does[job]]

    def __iter__(self) -> Iterator[int]:
        return iter(self._does)

    def __len__(self) -> int:
        return len(self._does)


class LocalCluster:
    """Processes of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._work = folder, folder / "work"
        self._work.mkdir()
        self.backend = Local(load_cluster("2x4"), folder)

    def launch(self, id_: AttemptId, does: str = SHORT, parts: Parts = (("n0000", 1),)) -> None:
        note = f"open('{self._work}/{id_.job}', 'a').write('x')"
        texts = {
            SHORT: f"import time; time.sleep(0.1); {note}",
            LONG: "import time; time.sleep(1000)",
            FAILS: f"{note}; raise SystemExit(7)",
        }
        command = (sys.executable, "-I", "-S", "-c", texts[does]) if does in texts else ("no-such-command",)
        self.backend.launch(Launch(id_, parts, command))

    def passes(self) -> None:
        time.sleep(0.02)

    def done(self, id_: AttemptId) -> int:
        note = self._work / str(id_.job)
        return len(note.read_text()) if note.exists() else 0

    def reopened(self) -> None:
        self.backend.close()
        self.backend = Local(load_cluster("2x4"), self._folder)
