"""Section 10: `rebatch` and `resize`, what a policy may do at all, and when it is woken."""

from dataclasses import dataclass, field

from .model import Gpu, Place, as_masks
from .placement import alternatives
from .shapes import keeps_shape
from .sharing import SharedLife, SharingWorld
from .world import Life

NEVER_MS = 1 << 62


@dataclass
class ChangingWorld(SharingWorld):
    wake_ms: int = NEVER_MS
    changing: set[int] = field(default_factory=set)
    """Rows of jobs that are STARTING by a change and go on at the event RESIZED."""

    # -- what may be done -------------------------------------------------------------------------------

    def gpus_with_room(self, life: SharedLife, steps: int) -> set[Gpu]:
        """Whatever their types: those that are free, or have room for a waiting job beside others."""
        before, life.steps = life.steps, steps
        every = {(n, g) for n, node in enumerate(self.nodes) for g in range(node.gpus)}
        found = {gpu for gpu in self.up(every) if self.gpu_has_room(life, gpu)}
        life.steps = before
        return found

    def may_have(self, life: SharedLife, chosen: Place, steps: int) -> bool:
        """Its own GPUs count as free, as long as their nodes are UP."""
        fits = chosen <= self.gpus_with_room(life, steps) | self.up(life.place)
        eligible = any(all(node in nodes for node, _ in chosen) for nodes in alternatives(self.nodes, life.job))
        return len(chosen) == life.job.gpus and keeps_shape(life.job, chosen) and fits and eligible

    def may_start(self, life: SharedLife, chosen: Place | None, steps: int) -> bool:
        limit = self.rules.queue_limits.get(life.job.queue)
        within = limit is None or self.queue_held(life.job.queue) + life.job.gpus <= limit
        can = life.state == "PENDING" and steps in self.speeds.steps(life.job)
        if chosen is None:
            return can and within and self.find_place(life, self.free()) is not None
        return can and within and self.may_have(life, chosen, steps)

    def may_preempt(self, life: SharedLife) -> bool:
        return life.state == "RUNNING" and life.row not in self.just_started

    def may_resize(self, life: SharedLife, chosen: Place) -> bool:
        return self.may_preempt(life) and self.may_have(life, chosen, life.steps)

    def may_rebatch(self, life: SharedLife, steps: int) -> bool:
        if life.state != "RUNNING" or steps not in self.speeds.steps(life.job):
            return False
        if self.sharing == 1:
            return True
        more = {
            gpu: self.speeds.takes_bytes(life.job, steps, self.speeds.type_of(gpu))
            - self.speeds.takes_bytes(life.job, life.steps, self.speeds.type_of(gpu))
            for gpu in life.place
        }
        return all(more[gpu] <= self.free_bytes(gpu) for gpu in life.place)

    # -- changes ----------------------------------------------------------------------------------------

    def resize(self, life: SharedLife, chosen: Place) -> None:
        assert self.may_resize(life, chosen)
        self.halt(life)
        self.free_gpus(life)
        life.place = life.last_place = chosen
        life.held_since_ms = self.now
        life.restored = life.done
        self.just_started.add(life.row)
        self.note("RESIZE", life, len(chosen), chosen)
        self.pause(life, self.rules.stop_ms + self.rules.start_ms + self.rules.restore_ms)

    def rebatch(self, life: SharedLife, steps: int) -> None:
        """To as many as it does, it is no change."""
        assert self.may_rebatch(life, steps)
        if steps != life.steps:
            self.halt(life)
            life.steps = steps
            self.note("REBATCH", life, steps)
            self.pause(life, self.rebatch_ms)

    def pause(self, life: SharedLife, ms: int) -> None:
        if ms > 0:
            life.state = "STARTING"
            life.running_from_ms = self.now + ms
            self.changing.add(life.row)
        else:
            self.go_on(life)

    def go_on(self, life: SharedLife) -> None:
        """A new stretch, even if it will have the rate that it had."""
        restored, life.rate = life.restored, self.rate_on(life, life.place)
        super().begin_to_run(life)
        life.restored = restored

    def begin_to_run(self, life: Life) -> None:
        assert isinstance(life, SharedLife)
        if life.row in self.changing:
            self.changing.remove(life.row)
            self.note("RESIZED", life, 0)
            self.go_on(life)
        else:
            super().begin_to_run(life)

    def become_pending(self, life: Life) -> None:
        self.changing.discard(life.row)
        super().become_pending(life)

    def cancel(self, life: Life) -> None:
        self.changing.discard(life.row)
        super().cancel(life)

    def note(self, what: str, life: SharedLife, arg: int, place: Place = frozenset()) -> None:
        self.log.append((self.now, what, life.row, as_masks(place)))
        self.args.append(arg)

    # -- being woken ------------------------------------------------------------------------------------

    def wake_at(self, time_ms: int) -> None:
        self.wake_ms = min(self.wake_ms, time_ms)

    def next_event_ms(self) -> int | None:
        due = [at for at in (super().next_event_ms(), self.wake_ms) if at is not None and at < NEVER_MS]
        return min(due, default=None)

    def apply_timer(self) -> bool:
        if self.wake_ms <= self.now:
            self.wake_ms = NEVER_MS
            return True
        return super().apply_timer()
