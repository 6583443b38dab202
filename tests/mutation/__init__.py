"""Mutants of the engine and the reports: a change that no test notices is not tested.

``python -m tests.mutation --seed 1 --count 40`` draws mutants and applies one at a time to a copy of the package. It
runs the quick tests that execute the changed line, without the JIT, and lists the mutants that survive.
"""
