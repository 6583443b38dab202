"""``python -m pointsman.measure.job DESCRIPTOR CORES``."""

import sys

from pointsman.measure.job.serve import main

main(*sys.argv[1:])
