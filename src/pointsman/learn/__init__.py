"""Learning to schedule: environments on the compiled engine (`learn.environments`), networks, algorithms and the
learned policies.

PyTorch is imported by the networks, the algorithms and the policies, never by the environments.
"""

import os

# Otherwise a product of a matrix and a vector depends, in its last bits, on where its operands lie in memory, and so
# differs from run to run. MKL reads this when it is first used.
os.environ.setdefault("MKL_CBWR", "AUTO")
