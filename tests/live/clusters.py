"""Clusters of nodes of four GPUs behind each backend, and programs that do the same on all of them."""

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
GPUS = 4
"""Of each node."""
KINDS = (SHORT, LONG, FAILS, MISSING)


class UnderTest(Protocol):
    """A backend, how time passes there, and where it differs from others by its nature."""

    backend: Backend
    nodes: tuple[str, ...]
    """Their names."""

    chooses_gpus: bool
    """Which of a node's GPUs an attempt has is decided there: it has as many as it was launched for."""
    lists_what_ended: bool
    """For a while, even if it may be forgotten."""
    forgets_what_never_began: bool
    """An attempt that is stopped before it has begun is absent from then on, as if it had never been launched."""

    def launch(self, id_: AttemptId, does: str = SHORT, masks: tuple[int, ...] = (1,)) -> None:
        """`masks`: of the GPUs of the first node, the second ..."""
        ...

    def passes(self) -> None:
        """Some time."""
        ...

    def done(self, id_: AttemptId) -> int:
        """How often the job of an attempt did its work."""
        ...

    def reopened(self) -> None:
        """Whoever asks it is another process from now on."""
        ...

    def end(self) -> None:
        """What still runs there is left to itself."""
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


def wait_for_end(cluster: UnderTest, id_: AttemptId) -> AttemptFact | None:
    """Until an attempt that was stopped is over; None if nothing is known of it any more, which may be."""
    until_s = time.monotonic() + WAIT_S
    while (one := fact(cluster, id_)) is None or one.phase != Phase.ENDED:
        if one is None and cluster.forgets_what_never_began:
            return None
        assert time.monotonic() < until_s, f"{id_} is {one}"
        cluster.passes()
    return one


def parts_of(nodes: tuple[str, ...], masks: tuple[int, ...]) -> Parts:
    """The GPUs that are asked for."""
    return tuple((node, mask) for node, mask in zip(nodes, masks, strict=False) if mask)


def has(cluster: UnderTest, parts: Parts, masks: tuple[int, ...]) -> bool:
    """Whether these are the GPUs for which an attempt was launched."""
    wanted = parts_of(cluster.nodes, masks)
    if cluster.chooses_gpus:
        return [(node, mask.bit_count()) for node, mask in parts] == [(node, mask.bit_count()) for node, mask in wanted]
    return parts == wanted


class _Alike:
    """Two nodes; all is as it was asked for, and what is forgotten is gone."""

    nodes = ("n0000", "n0001")
    chooses_gpus = lists_what_ended = forgets_what_never_began = False

    def end(self) -> None:
        """Nothing runs there any more."""


class ShadowCluster(_Alike):
    """Its clock is stepped. Which job does what is known by its number."""

    def __init__(self, folder: Path) -> None:
        self._does: dict[int, str] = {}
        delays = Delays(always(300), always(100), always(200))
        self.backend = Shadow(load_cluster("2x4"), _Programs(self._does), delays)

    def launch(self, id_: AttemptId, does: str = SHORT, masks: tuple[int, ...] = (1,)) -> None:
        self._does[id_.job] = does
        self.backend.launch(Launch(id_, parts_of(self.nodes, masks)))

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


class LocalCluster(_Alike):
    """Processes of this machine."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._work = folder, folder / "work"
        self._work.mkdir()
        self.backend = Local(load_cluster("2x4"), folder)

    def launch(self, id_: AttemptId, does: str = SHORT, masks: tuple[int, ...] = (1,)) -> None:
        note = f"open('{self._work}/{id_.job}', 'a').write('x')"
        texts = {
            SHORT: f"import time; time.sleep(0.1); {note}",
            LONG: "import time; time.sleep(1000)",
            FAILS: f"{note}; raise SystemExit(7)",
        }
        command = (sys.executable, "-I", "-S", "-c", texts[does]) if does in texts else ("no-such-command",)
        self.backend.launch(Launch(id_, parts_of(self.nodes, masks), command))

    def passes(self) -> None:
        time.sleep(0.02)

    def done(self, id_: AttemptId) -> int:
        note = self._work / str(id_.job)
        return len(note.read_text()) if note.exists() else 0

    def reopened(self) -> None:
        self.backend.close()
        self.backend = Local(load_cluster("2x4"), self._folder)
