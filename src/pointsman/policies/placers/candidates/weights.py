"""The parameters with which `scorer` ships: the means of five trainings (``python -m benchmarks.marl.trainings``,
``docs/papers/marl.md`` §3). The learned schedulers begin with them.
"""

from typing import Final

SLOW_DOWN: Final = 1.0
HARM: Final = 0.76
SERVERS: Final = 0.94
RACKS: Final = 0.92
GPUS_LEFT: Final = 0.96
BROKEN_SOCKETS: Final = 0.47
COSTS: Final = (SLOW_DOWN, HARM, SERVERS, RACKS, GPUS_LEFT, BROKEN_SOCKETS)
"""In the order of the features of a candidate."""
PATIENCE: Final = 4.24
