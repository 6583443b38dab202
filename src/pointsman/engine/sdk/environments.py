"""All that training environments, and observations and rewards of your own, import of the engine.

Each name is documented where it is defined; ``docs/guides/training-environments.md`` shows a reward.
"""

from pointsman.engine.actions.running import work_done
from pointsman.engine.actions.verbs import set_alarm, start, start_on
from pointsman.engine.index.bits import bit, count, lowest
from pointsman.engine.index.event_heap import empty_heap
from pointsman.engine.index.free_gpus import lowest_bits
from pointsman.engine.index.queues import enqueue, over_limit
from pointsman.engine.index.treap import before
from pointsman.engine.jit.compile import cold, core, exported
from pointsman.engine.jit.loaded import unit, units
from pointsman.engine.jit.mode import COMPILING
from pointsman.engine.jit.units import hooks_unit, module_at
from pointsman.engine.placement.eligible import admits, alternative_with_room
from pointsman.engine.placement.placing import fits
from pointsman.engine.rate_models.base.tree import Tree
from pointsman.engine.rate_models.factors.gpu_sharing import GpuSharing
from pointsman.engine.rate_models.factors.learned_neighbours import combination_on, is_known, model_of
from pointsman.engine.rate_models.factors.policy_table import table_of_policy
from pointsman.engine.rate_models.forecast import send_at_once, take_off, try_on
from pointsman.engine.rate_models.rates import row_of
from pointsman.engine.rate_models.registry import options_of_factors, parse_rate_model
from pointsman.engine.run.assembly import assemble
from pointsman.engine.run.loop.instants import ADVANCE, COMMIT, instant, next_time
from pointsman.engine.run.snapshot import copied
from pointsman.engine.run.stops import DONE, said_by_factor
from pointsman.engine.setup.build import build
from pointsman.engine.setup.prepare import Prepared
from pointsman.engine.setup.schedulers import scheduler_of_nodes
from pointsman.engine.state.codes import OK, PENDING, RUNNING
from pointsman.engine.state.due_times import NEVER
from pointsman.engine.state.records import ACTIVE, TRACE, Int, State, World
from pointsman.engine.state.state_pointer import Handle, call_apart, open_state, open_world

__all__ = [  # noqa: RUF022 - by topic
    # Compiled code: how it is made, named and loaded.
    "cold",
    "core",
    "exported",
    "COMPILING",
    "hooks_unit",
    "module_at",
    "unit",
    "units",
    # The state of a run, and its world, of which no policy knows.
    "ACTIVE",
    "Int",
    "State",
    "World",
    "TRACE",
    "Handle",
    "call_apart",
    "copied",
    "open_state",
    "open_world",
    # A run: put together, and gone on with from instant to instant.
    "Prepared",
    "assemble",
    "build",
    "options_of_factors",
    "GpuSharing",
    "parse_rate_model",
    "Tree",
    "scheduler_of_nodes",
    "ADVANCE",
    "COMMIT",
    "DONE",
    "NEVER",
    "empty_heap",
    "instant",
    "next_time",
    "said_by_factor",
    # Jobs: their states and order, and the verbs.
    "OK",
    "PENDING",
    "RUNNING",
    "before",
    "enqueue",
    "over_limit",
    "set_alarm",
    "start",
    "start_on",
    "work_done",
    # GPUs: which are free, and where a gang fits.
    "admits",
    "alternative_with_room",
    "bit",
    "count",
    "fits",
    "lowest",
    "lowest_bits",
    # Speed: of a job beside others, and what a policy learns of it.
    "combination_on",
    "is_known",
    "model_of",
    "row_of",
    "send_at_once",
    "table_of_policy",
    "take_off",
    "try_on",
]
