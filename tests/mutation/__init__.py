"""Mutants of every room of the package: a change that no test notices is not tested.

``python -m tests.mutation --seed 1 --count 40`` draws mutants and applies one at a time to a copy of the package. It
runs the quick tests of the room that execute the changed line (without the JIT, where the room is compiled), and lists
the mutants that survive.
"""
