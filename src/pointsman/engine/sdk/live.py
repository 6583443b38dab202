"""All that live clusters import of the engine: a run put together, a state whose jobs others start and stop, and what
goes on from it. Each name is documented where it is defined.
"""

from pointsman.engine.estimates.history import FEATURES, HEAD, KEYS
from pointsman.engine.estimates.keys import NOTHING
from pointsman.engine.index.event_heap import AROUND, TOP
from pointsman.engine.jit.loaded import unit
from pointsman.engine.jit.policy_code import load_policy
from pointsman.engine.jit.units import ADOPTING, PYTHON_API, SEATING
from pointsman.engine.run.assembly import assemble
from pointsman.engine.run.blindfold import instants
from pointsman.engine.run.contract import CompiledPolicy, Policy
from pointsman.engine.run.kept_log import KeptLog
from pointsman.engine.run.logged import level_of
from pointsman.engine.run.simulation import Simulation
from pointsman.engine.run.view import done_by
from pointsman.engine.setup.briefing import Briefing
from pointsman.engine.setup.build import EXTRA_BUCKETS, NO_SCRIPT, Rules, build, with_larger_inbox
from pointsman.engine.setup.job_columns import declared_by
from pointsman.engine.setup.overheads import STARTS_INCLUDED
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.setup.schedulers import homes_of
from pointsman.engine.setup.terms import Terms
from pointsman.engine.state.records import TRACE
from pointsman.engine.state.state_pointer import Handle

__all__ = [  # noqa: RUF022 - by topic
    # A run, put together of jobs, a cluster, a policy and options.
    "Briefing",
    "CompiledPolicy",
    "Policy",
    "Prepared",
    "Rules",
    "STARTS_INCLUDED",
    "Terms",
    "assemble",
    "build",
    "declared_by",
    "homes_of",
    "load_policy",
    # A simulation, which goes on from a state.
    "Handle",
    "KeptLog",
    "Simulation",
    "instants",
    "done_by",
    "level_of",
    # What a state is made of, to be kept, grown and filled.
    "AROUND",
    "EXTRA_BUCKETS",
    "FEATURES",
    "HEAD",
    "KEYS",
    "NOTHING",
    "NO_SCRIPT",
    "TOP",
    "TRACE",
    "with_larger_inbox",
    # Compiled code that seats jobs, takes over from another policy, and answers.
    "ADOPTING",
    "PYTHON_API",
    "SEATING",
    "unit",
]
