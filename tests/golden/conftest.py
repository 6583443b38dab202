"""Tests of learning (``tests/learn``) know how to make untrained checkpoints; theirs is a package beside this one."""

import sys
from pathlib import Path

TESTS = str(Path(__file__).parent.parent)
if TESTS not in sys.path:
    sys.path.insert(0, TESTS)
