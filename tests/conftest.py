"""For every test."""

import gc
import os
import sys

from hypothesis import settings

# Threads of linear algebra wait for each other at full speed: two on a busy core take twice the time of one. Those of
# Polars take a fifth longer than one for small tables. Set before they are imported, here and in the processes that
# tests start.
for pool in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS"):
    os.environ.setdefault(pool, "1")

# Each of the processes that tests start would compile all modules anew, and pytest those of the tests.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

gc.set_threshold(50_000, 10, 5)  # Python's own 700, 10, 10 take a tenth of the time of all tests

settings.register_profile("patient", deadline=None)  # how long an example takes says nothing on a busy machine
settings.load_profile("patient")


def pytest_collection_finish() -> None:
    """Modules and tests stay: the collector of rubbish would look at them again and again."""
    gc.freeze()
