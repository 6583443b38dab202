"""The factor of jobs that share GPUs: how many may, and how much they slow each other (``docs/reference/semantics.md``
§10).
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

from pointsman.engine.rate_models.contract import BaseModel, Factor
from pointsman.errors import UsageError
from pointsman.inputs.option import option
from pointsman.inputs.option_types import Interference
from pointsman.types import MAX_SHARING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from pydantic.fields import FieldInfo

    from pointsman.engine.rate_models.named_models import NamedModels
    from pointsman.engine.rate_models.speeds import Speeds

NO_JOB_SHARES = "no job names a model, so none shares a GPU but by a fraction (--assign-models SEED gives them some)"


@dataclass(frozen=True)
class GpuSharing(Factor):
    """An iteration takes ξ times as long beside the other jobs of the slowest GPU of a gang."""

    interference: str = "table"
    """Where ξ is from: see `speed.interference.slow_downs.load_interference`."""

    name = "gpu-sharing"
    slows = "iterations"
    hooks = "pointsman.engine.rate_models.factors.co_runners"
    options: ClassVar[Mapping[str, tuple[Any, "FieldInfo"]]] = {
        "interference": (
            Interference | None,
            option(
                "Slowdown of jobs that share a GPU",
                None,
                values={
                    "table": "measured pairs of models",
                    "law": "a formula fitted to the measured pairs",
                    "NUMBER": "the same slowdown for all jobs, from 1",
                    "FILE": "a file of 'pointsman profile pairs'",
                    "table:MAPPING": "table, law or FILE, with the stand-ins of MAPPING for unmeasured models",
                },
                unset="table",
                metavar="SOURCE",
                see="../guides/sharing-gpus.md#how-much-jobs-slow-each-other",
                panel="Assumptions",
            ),
        ),
    }

    @classmethod
    def chosen(cls, options: Mapping[str, Any], policy: object, base: BaseModel) -> Self | None:
        """Where a GPU may have several jobs, and the base model does not let them take turns.

        Raises:
            UsageError: no such number of jobs, the policy uses whole GPUs, or there is no such source of ξ.
        """
        interference = options.get("interference")
        if interference is not None:
            from pointsman.speed.interference.slow_downs import load_interference
            from pointsman.speed.profiles.catalogue import load_catalogue

            load_interference(str(interference), load_catalogue(*options.get("profiles", ())))
        if jobs_per_gpu(policy, options.get("gpu_sharing")) == 1 or base.counts_iterations:
            return None
        return cls("table" if interference is None else str(interference))

    def speeds(self, named: "NamedModels", speeds: "Speeds") -> "Speeds":
        """Adds ξ of each pair of models."""
        import numpy as np

        if named.nameless:
            named.assumptions.append(NO_JOB_SHARES)
            return speeds
        types = named.layout.gpu_types
        kinds, slowdowns = _slowdowns(self.interference, named)
        models = speeds.models.copy()
        models["kind"] = np.repeat(kinds, len(types))
        return replace(speeds, models=models, slowdowns=slowdowns)


def jobs_per_gpu(policy: object, asked: int | None) -> int:
    """How many jobs a GPU may have: what was asked for, or the policy's own, else 1.

    Raises:
        UsageError: no such number, or the policy uses whole GPUs.
    """
    own = int(getattr(policy, "gpu_sharing", 1))
    limit = own if asked is None else asked
    title = getattr(policy, "name", type(policy).__name__)
    if isinstance(limit, bool) or limit not in range(1, MAX_SHARING + 1):
        raise UsageError(f"gpu sharing {limit}: a GPU has 1 to {MAX_SHARING} jobs")
    takes_whole = getattr(policy, "takes_whole_gpus", False) is True  # of a class, a property says: by its parameters
    if limit > own and own == 1 and takes_whole:
        raise UsageError(
            f"policy {title!r} uses whole GPUs, or shares them by its own rules: leave out the sharing of GPUs "
            f"({limit} jobs each)"
        )
    if limit < own:
        raise UsageError(f"policy {title!r} shares GPUs among {own} jobs: leave out the limit of {limit}")
    return limit


def _slowdowns(text: str, named: "NamedModels") -> "tuple[NDArray[np.int64], NDArray[np.float64]]":
    """Each demand's kind, and (GPU types * kinds, kinds) ξ of a job of one kind beside one of another. Kind
    0, of models not known, slows no job.

    Raises:
        UsageError, InputError: `text` names no source of ξ.
    """
    import numpy as np

    from pointsman.speed.interference.slow_downs import load_interference

    catalogue, gpu_types = named.catalogue, named.layout.gpu_types
    interference = load_interference(text, catalogue)
    models = [model for model, *_ in named.demands]
    names = list(dict.fromkeys(catalogue.model_name(name) for name in models if name is not None))
    named.assumptions.extend(interference.about(gpu_types, names))
    slowdowns = np.ones((len(gpu_types), len(names) + 1, len(names) + 1))
    for t, gpu_type in enumerate(gpu_types):
        for a, mine in enumerate(names, 1):
            for b, beside in enumerate(names, 1):
                slowdowns[t, a, b] = interference.slow_down(gpu_type, mine, beside)
    index = {name: i for i, name in enumerate(names, 1)}
    kinds = np.array([0 if name is None else index[catalogue.model_name(name)] for name in models], np.int64)
    return kinds, slowdowns.reshape(-1, len(names) + 1)
