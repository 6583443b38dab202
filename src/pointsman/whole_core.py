"""All compiled code there is, and the library of it that a wheel has: ``python -m pointsman.whole_core FOLDER``."""

import hashlib
import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pointsman.engine.jit import built
from pointsman.engine.jit.build import prepare, reached
from pointsman.engine.jit.policy_code import units_of
from pointsman.engine.jit.store import take_object
from pointsman.engine.jit.target import target
from pointsman.engine.jit.units import CORE, HOSTED_HOOKS, factor_unit
from pointsman.errors import RunError

_LINKED = {
    "darwin": ["-dynamiclib", "-Wl,-undefined,dynamic_lookup"],
    "linux": ["-shared", "-Wl,-Bsymbolic", "-Wl,--build-id=none", "-Wl,-s"],
}
"""How a library is linked; what is of libm and of Python is found in the process that loads it."""


def all_units() -> list[str]:
    """Whatever a built-in policy, one written in Python, `explain`, a rate model, a factor, a live cluster or a
    learning environment needs, each once.
    """
    from pointsman.engine.rate_models.registry import base_models, factors
    from pointsman.learn.environments.loading import all_units as of_environments
    from pointsman.policies.registry import get_policy, policy_names

    hooks = {getattr(get_policy(name).factory, "hooks", HOSTED_HOOKS) for name in policy_names()}
    of_models = (unit for model in base_models().values() for unit in model.units)
    of_factors = (factor_unit(factor.hooks) for factor in factors().values())
    of_policies = (unit for each in sorted(hooks | {HOSTED_HOOKS}) for unit in units_of(each))
    return list(dict.fromkeys([*of_policies, *CORE, *of_models, *of_factors, *of_environments()]))


def make_library(folder: Path) -> None:
    """Write the library of all units into `folder`, and the table of what is in it.

    Raises:
        RunError: there is nothing to compile or to link with.
    """
    units = all_units()
    prepare(units)
    found = reached(units)
    objects = [take_object(facts.digest) for functions in found.values() for facts in functions.values()]
    folder.mkdir(parents=True, exist_ok=True)
    _link(folder / built.LIBRARY, [each.code for each in sorted(objects, key=lambda each: each.symbol)])
    digest = hashlib.sha256((folder / built.LIBRARY).read_bytes()).hexdigest()
    table = {"target": target(), "sha256": digest, "units": {unit: sorted(found[unit]) for unit in sorted(found)}}
    (folder / built.TABLE).write_text(json.dumps(table))


def _link(library: Path, objects: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, f"{k}.o") for k in range(len(objects))]
        for file, code in zip(files, objects, strict=True):
            file.write_bytes(code)
        said = subprocess.run(
            [*_linker(), "-nostdlib", *_LINKED[sys.platform], "-o", library, *files],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    if said.returncode:
        raise RunError(f"the compiled core cannot be linked: {said.stderr.strip()}")


def _linker() -> list[str]:
    """A C compiler, which only links here.

    Raises:
        RunError: there is none.
    """
    if found := shutil.which("cc"):
        return [found]
    if importlib.util.find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc"]
    raise RunError("nothing here can link the compiled core: install a C compiler, or 'pip install ziglang'")


if __name__ == "__main__":
    make_library(Path(sys.argv[1]))
