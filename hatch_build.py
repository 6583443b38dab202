"""The compiled core of a wheel, made when the wheel is; hatchling calls this."""

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledCore(BuildHookInterface):
    """Compile and link all of it, put it into the wheel, and say on which machines that runs."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """A clone has none: it compiles what a run needs when it needs it."""
        if version == "editable":
            return
        made = Path(self.root, "build", "core")
        command = [sys.executable, "-m", "pointsman.whole_core", str(made)]
        subprocess.run(command, env={**os.environ, "PYTHONPATH": str(Path(self.root, "src"))}, check=True)
        for file in sorted(made.iterdir()):
            build_data["force_include"][str(file)] = f"pointsman/built/{file.name}"
        build_data["pure_python"] = False
        machine = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{machine.replace('linux_', 'manylinux_2_17_')}"
