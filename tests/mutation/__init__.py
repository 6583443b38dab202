"""Mutants of the engine and the reports: what a test does not notice is not tested.

``python -m tests.mutation --seed 1 --count 40`` draws mutants, applies one at a time to a copy of the package, and runs
those of a quick set of tests that come by the changed line, without the JIT. `survivors.md` says what became of those
that survived.
"""
