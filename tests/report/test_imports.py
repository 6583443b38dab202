"""What is light stays light."""

import subprocess
import sys


def test_the_room_opens_without_heavy_imports() -> None:
    code = (
        "import sys, pointsman.report\n"
        "assert not {'numba', 'polars', 'matplotlib', 'jinja2'} & set(sys.modules)\n"
        "from pointsman.report import compare, summarise, write_run\n"
        "assert callable(compare) and callable(summarise) and callable(write_run)\n"
        "assert not {'numba', 'matplotlib', 'jinja2', 'torch'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
