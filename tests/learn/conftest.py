import sys

import pytest


@pytest.fixture(autouse=True)
def one_thread():
    """PyTorch's threads wait for each other at full speed: two on a busy core take many times as long as one."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
