"""Section 7, `gittins`: gangs are placed on whole nodes, or by levels, by what the network costs those that came."""

from dataclasses import dataclass, field
from math import inf

from .dally_waiting import PatientDallyWorld
from .model import Gpu, Place
from .network import NETWORK, NODE, RACK
from .placement import alternatives, place
from .world import Life


@dataclass
class ChoosingWorld(PatientDallyWorld):
    whole: bool = False
    """Gangs are placed on whole nodes now."""
    came: list[Life] = field(default_factory=list)
    """Gangs that have been submitted, in order."""

    def become_pending(self, life: Life) -> None:
        if life.row not in self.crowding and life.job.gpus > 1:
            self.came.append(life)
        super().become_pending(life)

    def nodes_of(self, life: Life) -> list[list[int]]:
        """GPUs of each node that it may use, by alternative."""
        return [[self.nodes[n].gpus for n in nodes] for nodes in alternatives(self.nodes, life.job) if nodes]

    def loss_beyond(self, life: Life, level: int) -> float:
        return self.rate_at(life, level) / self.rate_at(life, level + 1) - 1.0

    def choose_places(self) -> None:
        if self.settings.whole_nodes_loss == 0:
            return
        before, self.whole = self.whole, self.should_be_whole()
        if self.whole != before:
            self.changed = True
            for life in self.having("PENDING"):
                self.sink(life)
                self.begin_to_wait(life)

    def should_be_whole(self) -> bool:
        within = [life for life in self.came if life.job.gpus <= max(self.nodes_of(life)[0])]
        if sum(life.job.gpus for life in within) < self.settings.whole_nodes_gpus:
            return False
        node = weighted([(life.job.gpus, self.loss_beyond(life, NODE)) for life in within])
        racks = {(node.pod, node.rack) for node in self.nodes}
        rack = weighted([(life.job.gpus, self.loss_beyond(life, RACK)) for life in self.came])
        slack = 1.25 if self.whole else 1.0
        return slack * node > self.settings.whole_nodes_loss and (rack if len(racks) > 1 else 0) < slack * node

    def takes_whole_nodes(self, life: Life) -> bool:
        every_gpu = {(n, i) for n, node in enumerate(self.nodes) for i in range(node.gpus)}
        return self.whole and place(self.nodes, life.job, every_gpu, "few-racks") is not None

    def find_within(self, life: Life, free: set[Gpu], loosest: int) -> Place | None:
        if not self.takes_whole_nodes(life):
            return super().find_within(life, free, loosest)
        chosen = place(self.nodes, life.job, free, "few-racks")
        return chosen if chosen is not None and self.level_of(chosen) <= loosest else None

    def loosens_ms(self, life: Life) -> float:
        if self.takes_whole_nodes(life) and self.of(life).accepts < NETWORK:
            return -inf
        return super().loosens_ms(life)

    def note_wait(self, life: Life) -> None:
        if not self.takes_whole_nodes(life):
            super().note_wait(life)

    def may_be_moved(self, life: Life) -> bool:
        return super().may_be_moved(life) and (not self.whole or self.takes_whole_nodes(life))


def weighted(weights_and_values: list[tuple[int, float]]) -> float:
    """The mean, summed in order."""
    total = 0.0
    for weight, value in weights_and_values:
        total += weight * value
    return total / sum(weight for weight, _ in weights_and_values)
