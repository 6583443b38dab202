"""What TopDRL's networks are shown (docs/reference/api.md, "Observations"): five parts, each flat."""

from math import frexp

from .gpu_pickers import Edges, nearest
from .learned import LearnedWorld
from .model import Gpu
from .policies import Pass
from .world import Life

MINUTE_MS, TEN_DAYS_MS = 60_000, 864_000_000
ROWS, COLUMNS, BLOCK, CELLS = 20, 64, 8, 128


def observe(world: LearnedWorld, this: Pass, window: list[Life | None]) -> dict[str, list[float]]:
    return {
        "cluster": cluster(world, this),
        "queue": queue(world, window),
        "topology": topology(world),
        "jobs": [value for life in window for value in job(world, life)],
        "globals": in_all(world, len(window)),
    }


# -- scales ----------------------------------------------------------------------------------------------


def log2(x: float) -> float:
    """Exact at powers of two, straight between them."""
    mantissa, exponent = frexp(x)
    return exponent - 2 + 2 * mantissa


def of_time(ms: float) -> float:
    if ms <= MINUTE_MS:
        return 0.0
    return min(1.0, (log2(ms) - log2(MINUTE_MS)) / (log2(TEN_DAYS_MS) - log2(MINUTE_MS)))


def rows(ms: float) -> int:
    return 1 + int(of_time(ms) * (ROWS - 1))


def of_gpus(world: LearnedWorld, gpus: int) -> float:
    return log2(1 + gpus) / log2(1 + total(world))


def total(world: LearnedWorld) -> int:
    return sum(node.gpus for node in world.nodes)


def stripe(part: int, parts: int, cells: int) -> list[int]:
    """The cells of one of the parts: several where there are more cells, else one, which others have too."""
    first = part * cells // parts
    return list(range(first, max(first + 1, (part + 1) * cells // parts)))


# -- numbers ---------------------------------------------------------------------------------------------


def job(world: LearnedWorld, life: Life | None) -> list[float]:
    """Models are not known here, so nothing is of gradients and computing."""
    if life is None:
        return [0.0] * 10
    wants = [life.job.gpus / total(world), of_gpus(world, life.job.gpus)]
    times = [of_time(life.job.told_ms), of_time(world.now - life.pending_since_ms)]
    if not world.can_start(life):
        return [*wants, *times, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    offer = world.offer(life)
    assert offer is not None and offer.edges == Edges()
    shaped = world.find_place(life, world.free()) if life.job.per_node else None
    nodes = {node for node, _ in shaped or nearest(offer, life.job.gpus).place()}
    racks = {offer.rack_of(node) for node in nodes}
    return [*wants, *times, 0.0, 0.0, 1.0, 1.0, 1 / len(nodes), 1 / len(racks)]


def in_all(world: LearnedWorld, slots: int) -> list[float]:
    gpus, waiting, free = total(world), world.having("PENDING"), world.free()
    shares = [len([gpu for gpu in free if gpu[0] == n]) / node.gpus for n, node in enumerate(world.nodes)]
    return [
        len(free) / gpus,
        min(1.0, log2(1 + max(0, len(waiting) - slots)) / 16),
        min(1.0, log2(1 + sum(life.job.gpus for life in waiting) / gpus) / 8),
        of_gpus(world, len(world.having("RUNNING"))),
        max(shares),
        sum(share == 1 for share in shares) / len(shares),
    ]


# -- images ----------------------------------------------------------------------------------------------


def cluster(world: LearnedWorld, this: Pass) -> list[float]:
    """By row, until then, and column, a 64th of the GPUs: the share of them that is busy."""
    every = [(n, g) for n, node in enumerate(world.nodes) for g in range(node.gpus)]
    here = [[i for i in range(len(every)) if column in stripe(i, len(every), COLUMNS)] for column in range(COLUMNS)]
    busy = [busy_rows(world, this, gpu) for gpu in every]
    return [sum(row < busy[i] for i in gpus) / len(gpus) if gpus else 0.0 for row in range(ROWS) for gpus in here]


def busy_rows(world: LearnedWorld, this: Pass, gpu: Gpu) -> int:
    """How many rows it fills; one that has just been started is taken to run at its nominal rate."""
    holders = [life for life in world.lives if gpu in life.place]
    if not holders:
        return 0
    life = holders[0]
    has_rate = life.state == "RUNNING" and life.row not in this.started_rows
    return rows(max(0, world.remaining(life)) / (life.rate if has_rate else 1.0))


def queue(world: LearnedWorld, window: list[Life | None]) -> list[float]:
    """A block for each job: as high as it is long, as wide as its GPUs are many."""
    image = [[0.0] * BLOCK * len(window) for _ in range(ROWS)]
    for i, life in enumerate(window):
        for row in range(rows(life.job.told_ms)) if life else ():
            for column in range(BLOCK):
                wide = BLOCK * of_gpus(world, life.job.gpus) - column if life else 0.0
                image[row][i * BLOCK + column] = min(1.0, max(0.0, wide))
    return [value for row in image for value in row]


def topology(world: LearnedWorld) -> list[float]:
    """Nodes in cells: the share of their GPUs that is free."""
    cells, free = [0.0] * CELLS, world.free()
    for n, node in enumerate(world.nodes):
        for cell in stripe(n, len(world.nodes), CELLS):
            cells[cell] = len([gpu for gpu in free if gpu[0] == n]) / node.gpus
    return cells
