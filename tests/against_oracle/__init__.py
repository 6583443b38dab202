"""The engine against the oracle on random instances: ``POINTSMAN_ORACLE_INSTANCES=10000`` draws so many a policy."""

import os

INSTANCES = int(os.environ.get("POINTSMAN_ORACLE_INSTANCES", "50"))
