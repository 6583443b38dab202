"""The same numbers give the same bits, wherever they lie in memory."""

import subprocess
import sys

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed (make learn)")

PRODUCTS = """
import numpy as np
import pointsman.learn
import torch
from torch.nn.functional import linear

def placed(numbers, offset):
    room = np.empty(numbers.size + 32, np.float32)
    first = (offset - room.ctypes.data // 4) % 16
    there = room[first : first + numbers.size].reshape(numbers.shape)
    there[...] = numbers
    return torch.from_numpy(there)

torch.set_num_threads(1)
rng = np.random.default_rng(0)
for rows, width, outputs in [(256, 512, 1), (36, 64, 1), (1, 387, 128), (7, 224, 20)]:
    x, w = (rng.normal(size=(n, width)).astype(np.float32) for n in (rows, outputs))
    print(len({linear(placed(x, i), placed(w, j)).numpy().tobytes() for i in range(16) for j in range(16)}))
"""
"""Of operands that begin 0, 4, 8, ... bytes after a multiple of 64: how many different products."""


def test_products_do_not_depend_on_addresses() -> None:
    done = subprocess.run([sys.executable, "-c", PRODUCTS], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1"] * 4
