"""Environment variables, set for a while."""

import os
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def environment(**values: str) -> Generator[None]:
    """Meanwhile these variables are set, for this process and those that it starts."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
