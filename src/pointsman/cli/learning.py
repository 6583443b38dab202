"""What the commands that learn need: PyTorch, which is not installed with the rest."""

from importlib.util import find_spec

from pointsman.errors import UsageError

NEEDED = ("torch", "gymnasium", "safetensors", "tensorboard")


def need_torch() -> None:
    """UsageError where what learning needs is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise UsageError(f"learning needs {', '.join(missing)}: pip install 'pointsman[learn]'")
