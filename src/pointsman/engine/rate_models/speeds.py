"""How fast jobs run: the tables that the engine looks speeds up in."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pointsman.cluster.layout import Layout
from pointsman.engine.rate_models.links.baseline_iteration import Alone
from pointsman.engine.rate_models.links.uplinks import as_wide_as_cards, uplinks
from pointsman.engine.rate_models.named_models import NamedModels
from pointsman.engine.rate_models.rates import FINEST
from pointsman.engine.rate_models.subbatches import subbatches_of, without_models
from pointsman.engine.state.records import LINK, MODEL, RATE_STEP, STEP, SUBBATCH, UPLINK
from pointsman.types import LOCALITIES, Contention


@dataclass(frozen=True)
class Told:
    """What policies are told, where it is not what holds; tables as in `Speeds`."""

    rates: NDArray[np.float64]
    goodputs: NDArray[np.float64]
    slowdowns: NDArray[np.float64]


@dataclass(frozen=True)
class Speeds:
    """How fast jobs run: rows are a job's profile times the number of GPU types, plus the type."""

    rates: NDArray[np.float64]
    """(rows, LOCALITIES) nominal work per time of gangs of the usual shapes, and of all whose model is not known."""
    models: NDArray[np.void]
    """MODEL, (rows,)"""
    links: NDArray[np.void]
    """LINK, (GPU types * LOCALITIES,)"""
    uplinks: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, UPLINK))
    """UPLINK: see `uplinks.uplinks`; none where jobs share no links."""
    steps: NDArray[np.void] = field(default_factory=lambda: np.zeros(1, STEP))
    """STEP, (rows,), where jobs are chains of iterations."""
    subbatches: NDArray[np.void] = field(default_factory=lambda: np.zeros(1, SUBBATCH))
    """SUBBATCH, (rows * ACCUMULATIONS,)"""
    slowdowns: NDArray[np.float64] = field(default_factory=lambda: np.ones((1, 1)))
    """(GPU types * kinds of models, kinds) ξ of a job of one kind beside one of another."""
    node_demands: NDArray[np.float64] = field(default_factory=lambda: np.zeros((0, 7)))
    """(rows, 7) what a job takes of nodes, where jobs slow each other there: see `factors.node_interference`."""
    names: tuple[str | None, ...] = ()
    """(rows) the catalogue's names of models, where a factor goes by these."""
    forecast: "Speeds | None" = None
    """What the factor has that policies forecast by, if another than that of the run."""
    goodputs: NDArray[np.float64] = field(default_factory=lambda: np.zeros((1, 1)))
    """(rows * stages of progress, (most GPUs + 1) * LOCALITIES) rates of elastic jobs."""
    rate_steps: NDArray[np.void] = field(default_factory=lambda: np.zeros((1, 1), RATE_STEP))
    """RATE_STEP, as `goodputs`: the iterations behind them, where a factor slows computing."""
    stages: int = 0
    """Stages of progress, where rates depend on it."""
    told: Told | None = None
    """What policies are told, if not the truth."""

    @staticmethod
    def without_models(rates: NDArray[np.float64], gpu_types: int) -> "Speeds":
        """The speed of a job is what the table says for its locality, wherever its GPUs are."""
        return Speeds(rates, np.zeros(len(rates), MODEL), np.zeros(gpu_types * LOCALITIES, LINK))


def speeds_of_rates(named: NamedModels) -> Speeds:
    """The tables of jobs which run at the rates that their place on the network decides.

    Where rings share the uplinks of racks and pods, a lone one is as fast as its nodes' cards.
    """
    if named.nameless:
        return speeds_without_models(named.layout)
    from pointsman.speed.tables.rates import links

    slow, contention, tables = named.congested, named.contention, named.tables
    shared = contention not in (Contention.NONE, Contention.NODE_LINK)
    models = np.zeros(len(tables.models), MODEL)
    for name, column in zip(("compute", "bytes", "delta", "reference"), tables.models.T, strict=True):
        models[name] = column
    if shared:
        models["reference"] = Alone(named.layout, contention).iterations_s(tables.models, tables.best, named.demands)
    return Speeds(
        tables.rate,
        models,
        _records(links(as_wide_as_cards(slow) if shared else slow), LINK),
        uplinks(slow, contention),
        subbatches=subbatches_of(slow, named.demands, named.catalogue),
    )


def speeds_without_models(layout: Layout) -> Speeds:
    """The tables where no job names a model: all run at the same speed everywhere."""
    types = len(layout.gpu_types)
    speeds = Speeds.without_models(np.ones((types, LOCALITIES)), types)
    return replace(speeds, subbatches=without_models(layout))


def _records(numbers: NDArray[np.float64], dtype: np.dtype) -> NDArray[np.void]:
    """Rows of numbers as records of float64 fields."""
    return np.ascontiguousarray(numbers).view(dtype).ravel()


def rounded(rates: NDArray[np.float64]) -> NDArray[np.float64]:
    """In whole 1/2^30, so that the last bit of a power does not decide a schedule."""
    return np.ascontiguousarray(np.floor(rates * FINEST + 0.5) / FINEST)
