"""How this process has the functions of the core: as built machine code, as plain Python, or as what it compiles."""

import os

COMPILING = "POINTSMAN_COMPILING" in os.environ
"""This process compiles (`engine.jit.compiling.emit`): decorated functions are Numba's, and none is run."""
AS_PYTHON = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
"""Decorated functions run as the Python that they are, for debugging; Numba's own variable says so."""
