"""How fast a job runs on a placement: model profiles, all-reduce, iteration time, and the tables of a run."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.speed.fitting.fit import fit_compute
    from pointsman.speed.interference.slow_downs import Interference, load_interference
    from pointsman.speed.laws.allreduce import GangShape, Network, all_reduce_s, shape_of
    from pointsman.speed.laws.fair_share import max_min_rates
    from pointsman.speed.laws.gangs import Topology, topology
    from pointsman.speed.laws.iteration import exposed_s, iteration_time_s
    from pointsman.speed.profiles.assign import assign_models
    from pointsman.speed.profiles.catalogue import Catalogue, load_catalogue
    from pointsman.speed.profiles.profiles import Compute, ModelProfile
    from pointsman.speed.tables.rates import Demand, Tables, distinct, tabulate

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

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "Catalogue": "profiles.catalogue",
        "Compute": "profiles.profiles",
        "Demand": "tables.rates",
        "GangShape": "laws.allreduce",
        "Interference": "interference.slow_downs",
        "ModelProfile": "profiles.profiles",
        "Network": "laws.allreduce",
        "Tables": "tables.rates",
        "Topology": "laws.gangs",
        "all_reduce_s": "laws.allreduce",
        "assign_models": "profiles.assign",
        "distinct": "tables.rates",
        "exposed_s": "laws.iteration",
        "fit_compute": "fitting.fit",
        "iteration_time_s": "laws.iteration",
        "load_catalogue": "profiles.catalogue",
        "load_interference": "interference.slow_downs",
        "max_min_rates": "laws.fair_share",
        "shape_of": "laws.allreduce",
        "tabulate": "tables.rates",
        "topology": "laws.gangs",
    },
)
