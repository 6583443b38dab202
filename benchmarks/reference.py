"""The engine's other yardstick: five policies of ``docs/reference/semantics.md`` in pure Python, as fast as it goes.

The algorithms are the engine's: nodes by free GPUs (a Python int is a fine bitmap), waiting jobs by class in binary
heaps, one event heap, running jobs in a sorted list, evictions counted on paper, failed ones remembered. One cluster of
equal nodes; no log, overheads, queues, priorities, node failures or models.
"""

from bisect import bisect_left, insort
from heapq import heappop, heappush

FINISH, LEVEL = 0, 1
THRESHOLD = 28_800_000  # GPU-ms, of las
NEVER = 1 << 62
REMEMBERED = 1024

Part = tuple[int, int, int]  # node, mask, GPUs


class Cluster:
    """Free GPUs of equal nodes; `with_free[k]` is a bitmap of the nodes with k free."""

    def __init__(self, nodes: int, size: int) -> None:
        self.size, self.free = size, nodes * size
        self.masks = [(1 << size) - 1] * nodes
        self.free_on = [size] * nodes
        self.with_free = [0] * size + [(1 << nodes) - 1]
        self.count = [0] * size + [nodes]

    def take(self, part: Part) -> None:
        """These GPUs are free no more."""
        node, mask, k = part
        self.masks[node] &= ~mask
        self._reindex(node, -k)

    def give(self, part: Part) -> None:
        """These GPUs are free again."""
        node, mask, k = part
        self.masks[node] |= mask
        self._reindex(node, k)

    def _reindex(self, node: int, k: int) -> None:
        had, bit = self.free_on[node], 1 << node
        has = self.free_on[node] = had + k
        self.free += k
        self.with_free[had] ^= bit
        self.with_free[has] ^= bit
        self.count[had] -= 1
        self.count[has] += 1

    def fits(self, gpus: int) -> bool:
        """Whether a gang can be placed."""
        if gpus > self.free:
            return False
        size, count = self.size, self.count
        if gpus <= size:
            return any(count[gpus:])
        whole, rest = divmod(gpus, size)
        return count[size] >= whole and (rest == 0 or sum(count[rest:]) > whole)

    def place(self, gpus: int) -> list[Part]:
        """Take GPUs for a gang that fits."""
        size, parts = self.size, []
        whole, rest = divmod(gpus, size)
        for _ in range(whole):
            parts.append(self._take_lowest(size, size))
        if rest:
            k = rest
            while not self.count[k]:
                k += 1
            parts.append(self._take_lowest(k, rest))
        return parts

    def _take_lowest(self, free: int, k: int) -> Part:
        nodes = self.with_free[free]
        node = (nodes & -nodes).bit_length() - 1
        left = self.masks[node]
        for _ in range(k):
            left &= left - 1
        part = (node, self.masks[node] & ~left, k)
        self.take(part)
        return part


class Simulation:
    """One run of one policy; times in ms."""

    def __init__(
        self, submit: list[int], work: list[int], gpus: list[int], *, nodes: int, size: int, policy: str
    ) -> None:
        self.submit, self.left, self.gpus = submit, list(work), gpus
        jobs = len(submit)
        self.start, self.end = [-1] * jobs, [-1] * jobs
        self.settled, self.attained, self.key = [0] * jobs, [0] * jobs, [0] * jobs
        self.started_pass, self.event = [-1] * jobs, [-1] * jobs
        self.parts: list[list[Part]] = [[] for _ in range(jobs)]
        self.cluster = Cluster(nodes, size)
        self.occupants: list[set[int]] = [set() for _ in range(nodes)]
        self.waiting: dict[int, list[tuple[int, int]]] = {g: [] for g in dict.fromkeys(gpus)}
        self.queue: list[tuple[int, int]] = []
        self.events: list[tuple[int, int, int]] = []
        self.running: list[tuple[int, int]] = []
        self.freed: list[int] = []
        self.failures: dict[int, tuple[int, int, int, bool]] = {}
        self.now = self.turn = self.preemptions = 0
        self.las, self.preemptive = policy == "las", policy in ("srtf", "las")
        self.by_work = policy in ("sjf", "srtf")
        self.strict = policy in ("fifo", "sjf")
        self.decide = {
            "fifo": self._strict, "sjf": self._strict, "fifo-backfill": self._backfill,
            "srtf": self._evicting, "las": self._evicting,
        }[policy]  # fmt: skip

    def run(self) -> None:
        """Simulate until nothing is left to happen."""
        submit, events, arrived, jobs = self.submit, self.events, 0, len(self.submit)
        while arrived < jobs or events:
            now = events[0][0] if events else NEVER
            if arrived < jobs and submit[arrived] < now:
                now = submit[arrived]
            self.now = now
            self.turn += 1
            while events and events[0][0] <= now:
                time, kind, j = heappop(events)
                if self.event[j] == time:
                    if kind == FINISH:
                        self._finish(j)
                    else:
                        self._sink(j)
            while arrived < jobs and submit[arrived] <= now:
                self._wait(arrived)
                arrived += 1
            self.decide()

    def _wait(self, j: int) -> None:
        key = self.left[j] if self.by_work else 0
        if self.las:
            key = 1 if self.attained[j] >= THRESHOLD else 0
        self.key[j] = key
        heappush(self.queue if self.strict else self.waiting[self.gpus[j]], (key, j))

    def _commence(self, j: int, parts: list[Part]) -> None:
        now = self.now
        self.parts[j] = parts
        if self.start[j] < 0:
            self.start[j] = now
        self.settled[j] = now
        self.started_pass[j] = self.turn
        if self.preemptive:
            for node, _, _ in parts:
                self.occupants[node].add(j)
            if not self.las:
                self.key[j] = now + self.left[j]
            insort(self.running, (self.key[j], j))
        self._schedule(j)

    def _schedule(self, j: int) -> None:
        time, kind = self.settled[j] + self.left[j], FINISH
        if self.las and not self.key[j]:
            level = self.now - (self.attained[j] - THRESHOLD) // self.gpus[j]
            if level < time:
                time, kind = level, LEVEL
        self.event[j] = time
        heappush(self.events, (time, kind, j))

    def _leave_running(self, j: int) -> None:
        del self.running[bisect_left(self.running, (self.key[j], j))]
        for node, _, _ in self.parts[j]:
            self.occupants[node].discard(j)
            self.freed.append(node)

    def _finish(self, j: int) -> None:
        for part in self.parts[j]:
            self.cluster.give(part)
        if self.preemptive:
            self._leave_running(j)
        self.event[j] = -1
        self.parts[j] = []
        self.end[j] = self.now

    def _settle(self, j: int) -> None:
        ran = self.now - self.settled[j]
        self.left[j] -= ran
        self.attained[j] += ran * self.gpus[j]
        self.settled[j] = self.now

    def _sink(self, j: int) -> None:
        self._settle(j)
        del self.running[bisect_left(self.running, (self.key[j], j))]
        self.key[j] = 1
        insort(self.running, (1, j))
        self.freed.extend(node for node, _, _ in self.parts[j])
        self._schedule(j)

    def _strict(self) -> None:
        queue, cluster = self.queue, self.cluster
        while queue:
            j = queue[0][1]
            if not cluster.fits(self.gpus[j]):
                return
            heappop(queue)
            self._commence(j, cluster.place(self.gpus[j]))

    def _first(self, below: int) -> int:
        """The first waiting job narrower than `below`, -1 if none."""
        heads = [heap[0] for width, heap in self.waiting.items() if width < below and heap]
        return min(heads)[1] if heads else -1

    def _backfill(self) -> None:
        cluster, below = self.cluster, NEVER
        while cluster.free and (j := self._first(below)) >= 0:
            gpus = self.gpus[j]
            if cluster.fits(gpus):
                heappop(self.waiting[gpus])
                self._commence(j, cluster.place(gpus))
            else:
                below = gpus

    def _evicting(self) -> None:
        below = NEVER
        while (j := self._first(below)) >= 0:
            if not self._start_or_evict(j, self.key[j] + (0 if self.las else self.now)):
                below = self.gpus[j]

    def _start_or_evict(self, j: int, bar: int) -> bool:
        gpus, cluster = self.gpus[j], self.cluster
        victims: list[int] | None = []
        if not cluster.fits(gpus):
            victims = None if self._will_fail(j, bar) else self._count_victims(j, bar)
        if victims is None:
            return False
        for v in victims:
            for part in self.parts[v]:
                cluster.give(part)
        parts = cluster.place(gpus)
        evicted = [v for v in reversed(victims) if not self._keeps(v)]
        heappop(self.waiting[gpus])
        for v in evicted:
            self._preempt(v)
        self._commence(j, parts)
        return True

    def _keeps(self, v: int) -> bool:
        """Whether a released job whose GPUs are still free has taken them back."""
        masks = self.cluster.masks
        if any(mask & ~masks[node] for node, mask, _ in self.parts[v]):
            return False
        for part in self.parts[v]:
            self.cluster.take(part)
        return True

    def _preempt(self, v: int) -> None:
        self._settle(v)
        self._leave_running(v)
        self.event[v] = -1
        self.parts[v] = []
        self.preemptions += 1
        self._wait(v)

    def _count_victims(self, j: int, bar: int) -> list[int] | None:
        """Whom to release, worst first, until `j` fits, by counting GPUs on nodes; None if it never does."""
        victims, cluster, parts = [], self.cluster, self.parts
        size, free_on, paper = cluster.size, cluster.free_on, {}
        whole, rest = divmod(self.gpus[j], size) if self.gpus[j] > size else (0, self.gpus[j])
        have_whole, have_rest = cluster.count[size], sum(cluster.count[rest:]) if rest else 0
        for key, v in reversed(self.running):
            if key <= bar:
                break
            if self.started_pass[v] == self.turn:
                continue
            victims.append(v)
            for node, _, k in parts[v]:
                before = paper.get(node, free_on[node])
                paper[node] = free = before + k
                have_whole += free == size
                have_rest += before < rest <= free
            if have_whole >= whole and (rest == 0 or have_rest > whole):
                return victims if whole else self._beside(victims)
        lacking = whole - have_whole
        self.failures[self.gpus[j]] = (len(self.freed), self.key[j], max(lacking, 1), lacking > 0)
        return None

    def _beside(self, victims: list[int]) -> list[int]:
        """Those that share a node with the last; the others would be spared."""
        nodes = {node for node, _, _ in self.parts[victims[-1]]}
        return [v for v in victims if any(node in nodes for node, _, _ in self.parts[v])]

    def _will_fail(self, j: int, bar: int) -> bool:
        """Whether too little has changed since an eviction for a job of this width, no worse than `j`, failed."""
        gpus, size = self.gpus[j], self.cluster.size
        at, key, lacking, lacks_whole = self.failures.get(gpus, (-NEVER, 0, 0, False))
        if len(self.freed) - at > REMEMBERED or self.key[j] < key:
            return False
        enough = gpus if gpus <= size else size if lacks_whole else gpus % size
        found = sum(self._could_free(node, bar) >= enough for node in self.freed[at:])
        if found >= lacking:
            return False
        self.failures[gpus] = (len(self.freed), self.key[j], lacking - found, lacks_whole)
        return True

    def _could_free(self, node: int, bar: int) -> int:
        free = self.cluster.free_on[node]
        for v in self.occupants[node]:
            if self.key[v] > bar:
                free += sum(k for n, _, k in self.parts[v] if n == node)
        return free
