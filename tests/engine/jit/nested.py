"""Functions of each kind that compiled code has, as a unit of its own."""

import math

import numpy as np

from pointsman.engine.jit.compile import cold, core, exported
from pointsman.types import JobState

FACTOR = 2


@core
def twice(x):
    return FACTOR * x


@cold
def smaller(x, y):
    return min(twice(x), y)  # of Numba's own library


@core
def both(x, y):
    return smaller(x, y) + smaller(y, x) + twice(y)


@exported("int64(int64, int64)")
def total(x, y):
    return both(x, y) + twice(np.int64(1))


@exported("int64(int64, int64, int64)")
def by_symbol(x, y, z):
    return total(x, y) + z


@exported("float64(float64, int64)", releases_gil=True)
def power(x, n):
    return math.exp(x) ** n


@exported("boolean(int64)")
def runs(state):
    return state == JobState.RUNNING


@exported("void(int64[::1], float64[:, ::1], float32[::1], int8[::1])")
def fill(ints, floats, small, bytes_):
    for i in range(floats.shape[0]):
        for k in range(floats.shape[1]):
            floats[i, k] = ints[i] + 0.5 * k
    small[0] = floats[0, 1]
    bytes_[0] = bytes_.shape[0]


@core
def spin(n):
    x = np.int64(1)
    for _ in range(n):
        x = x * 6364136223846793005 + 1442695040888963407
    return x


@exported("int64(int64)")
def keeps_the_gil(n):
    return spin(n)


@exported("int64(int64)", releases_gil=True)
def releases_the_gil(n):
    return spin(n)
