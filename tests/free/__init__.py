"""Runs in which starting, stopping and restoring jobs are free, so that times can be worked out by hand."""

from functools import partial
from typing import Any

import pointsman

simulate: Any = partial(pointsman.simulate, overheads="none")
