"""Where matplotlib and fontconfig keep their lists of fonts when the user has no cache folder."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from pointsman.cache_folder import find_place, has_user_cache
from pointsman.inputs.environment import environment


@contextmanager
def font_cache() -> Generator[None]:
    """While matplotlib is imported, give it a folder that it can write to; else it complains on stderr."""
    if "MPLCONFIGDIR" in os.environ or has_user_cache():
        yield
        return
    folder = str(find_place("matplotlib").folder)
    with environment(MPLCONFIGDIR=folder, XDG_CACHE_HOME=folder):
        yield
