"""How fast a job runs on a placement: model profiles, all-reduce, iteration time, and the tables of a run."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pointsman.speed.allreduce import GangShape, Network, all_reduce_s, shape_of
    from pointsman.speed.assign import assign_models
    from pointsman.speed.catalogue import Catalogue, load_catalogue
    from pointsman.speed.fair_share import max_min_rates
    from pointsman.speed.fit import fit_compute
    from pointsman.speed.gangs import Topology, topology
    from pointsman.speed.interference import Interference, load_interference
    from pointsman.speed.iteration import exposed_s, iteration_time_s
    from pointsman.speed.profiles import Compute, ModelProfile
    from pointsman.speed.tables import Demand, Tables, distinct, tabulate

_HOMES = {
    "Catalogue": "catalogue",
    "Compute": "profiles",
    "Demand": "tables",
    "GangShape": "allreduce",
    "Interference": "interference",
    "ModelProfile": "profiles",
    "Network": "allreduce",
    "Tables": "tables",
    "Topology": "gangs",
    "all_reduce_s": "allreduce",
    "assign_models": "assign",
    "distinct": "tables",
    "exposed_s": "iteration",
    "fit_compute": "fit",
    "iteration_time_s": "iteration",
    "load_catalogue": "catalogue",
    "load_interference": "interference",
    "max_min_rates": "fair_share",
    "shape_of": "allreduce",
    "tabulate": "tables",
    "topology": "gangs",
}

__all__ = [
    "Catalogue",
    "Compute",
    "Demand",
    "GangShape",
    "Interference",
    "ModelProfile",
    "Network",
    "Tables",
    "Topology",
    "all_reduce_s",
    "assign_models",
    "distinct",
    "exposed_s",
    "fit_compute",
    "iteration_time_s",
    "load_catalogue",
    "load_interference",
    "max_min_rates",
    "shape_of",
    "tabulate",
    "topology",
]


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
