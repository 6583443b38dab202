"""Where matplotlib and fontconfig keep their lists of fonts when the user has no cache folder."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from pointsman.engine.jit.compiled_folder import find_place, has_user_cache


@contextmanager
def font_cache() -> Generator[None]:
    """While matplotlib is imported, give it a folder that it can write to; else it complains on stderr."""
    if "MPLCONFIGDIR" in os.environ or has_user_cache():
        yield
        return
    folder = str(find_place("matplotlib").folder)
    before = {name: os.environ.get(name) for name in ("MPLCONFIGDIR", "XDG_CACHE_HOME")}
    os.environ.update(dict.fromkeys(before, folder))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
