"""A control loop on a simulated cluster whose clock jumps to whatever happens next."""

from collections.abc import Callable
from pathlib import Path

from pointsman.live.backends.shadow import Delays, Faults, Program, Shadow, always
from pointsman.live.control.loop import ControlLoop
from pointsman.live.control.recovery import recovered
from pointsman.live.control.safety import NodeFaults
from pointsman.live.records.job import Job
from pointsman.live.records.store import Store
from pointsman.types import NEVER_MS

from .toy import Case


class Stepped:
    """The jobs of a case, submitted when its log says."""

    def __init__(
        self, case: Case, path: Path, faults: Faults | None = None, delays: Delays | None = None, seed: int = 0
    ) -> None:
        self.case, self.path = case, path
        trace, rules = case.prepared.trace, case.rules
        self.names = case.prepared.layout.node_names
        programs = {row: Program(float(work)) for row, work in enumerate(trace["work"].tolist())}
        own = Delays(always(rules.start_ms), always(rules.restore_ms), always(rules.stop_ms), rules.lost_ms)
        self.shadow = Shadow(case.cluster, programs, delays or own, faults, seed)
        self.submits = trace["submit"].tolist()
        self.jobs = [Job(ask, requeues=True) for ask in case.asks()]
        self.submitted = 0
        self.poll_ms = NEVER_MS
        """How long it looks at the cluster at the latest after it did, while it has attempts."""
        self.loop = self.begin()

    def begin(self) -> ControlLoop:
        """A daemon that has just come up."""
        self.store = Store(self.path)
        self.store.connection.execute("PRAGMA synchronous = OFF")  # the machine goes on, whatever dies here
        loop = recovered(self.case.world(), self.store, self.shadow, self.names)
        if self.shadow.faults != Faults():
            loop.faults = NodeFaults(faults=1_000_000)  # or most nodes are drained
        return loop

    def die(self) -> None:
        """As by SIGKILL between two turns; another comes up at once."""
        self.loop.store.close()
        self.loop = self.begin()

    def next_ms(self) -> int:
        submit = self.submits[self.submitted] if self.submitted < len(self.submits) else NEVER_MS
        poll = self.shadow.now_ms + self.poll_ms if self.loop.attempts else NEVER_MS
        return min(submit, self.shadow.next_ms(), self.loop.due_ms, poll)

    def turn(self) -> bool:
        """All that happens next; False if nothing does."""
        now = self.next_ms()
        if now >= NEVER_MS:
            return False
        self.shadow.step(now)
        first = self.submitted
        while self.submitted < len(self.submits) and self.submits[self.submitted] <= now:
            self.submitted += 1
        self.loop.turn(now, self.jobs[first : self.submitted])
        return True

    def run(self, after_turn: Callable[[], object] = lambda: None) -> None:
        while self.turn():
            after_turn()

    def decisions(self) -> list[tuple[int, int, int, str]]:
        """(ms, job, attempt, its GPUs) of every start, in order."""
        rows = self.loop.store.connection.execute("SELECT intended_ms, job, attempt, parts FROM attempts")
        return sorted(tuple(row) for row in rows)
