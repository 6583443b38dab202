"""Several runs of one command: which there are, which are finished already, and the cells of a grid."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.sweeps.comparing import compare
    from pointsman.sweeps.grids import sweep

__all__ = ["compare", "sweep"]

__getattr__, __dir__ = lazy_names(__name__, {"compare": "comparing", "sweep": "grids"})
