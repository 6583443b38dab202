"""All that the file of a factor imports of the engine (``docs/guides/add-a-factor.md``)."""

from pointsman.cluster.layout import Layout
from pointsman.engine.index.bits import bit, count, lowest
from pointsman.engine.index.dirty_jobs import mark
from pointsman.engine.jit.compile import cold, core
from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.engine.rate_models.named_models import NamedModels
from pointsman.engine.rate_models.rates import row_of
from pointsman.engine.rate_models.speeds import Speeds
from pointsman.engine.state.records import Int, State
from pointsman.inputs.option import option

__all__ = [
    "BaseModel",
    "Factor",
    "Int",
    "Layout",
    "NamedModels",
    "Speeds",
    "State",
    "bit",
    "cold",
    "core",
    "count",
    "lowest",
    "mark",
    "option",
    "row_of",
]
