"""Several runs of one command: which there are, which are finished already, and the cells of a grid."""

from typing import TYPE_CHECKING

from pointsman.lazy_names import lazy_names

if TYPE_CHECKING:
    from pointsman.sweeps.grids import sweep

__all__ = ["sweep"]

__getattr__, __dir__ = lazy_names(__name__, {"sweep": "grids"})
