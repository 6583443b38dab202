"""Functions of a unit that have the same name, or are arguments."""

import functools

from pointsman.engine.jit.compile import cold, core, exported


@core
def step(x):
    return x + 1


first = step


@core
def step(x):
    return x + 10


def squared(function):
    inner = core(function)

    @core
    @functools.wraps(function)
    def outer(x):
        return inner(x) * inner(x)

    return outer


@squared
def plus_two(x):
    return x + 2


def made(k):
    scope = {}
    exec(f"def times(x): return x * {k}", scope)
    return core(scope["times"])


twice, thrice = made(2), made(3)


@cold
def apply(function, x):
    return function(x)


@cold
def taken(x):
    return first(x)


@exported("int64(int64)")
def alike(x):
    return 1000 * taken(x) + step(x)


@exported("int64(int64)")
def wrapped(x):
    return plus_two(x)


@exported("int64(int64)")
def generated(x):
    return twice(x) + thrice(x)


@exported("int64(int64)")
def given(x):
    return apply(taken, x) + apply(step, x)
