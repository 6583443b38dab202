"""What is public of the engine, a module for each room that builds on it.

Policies have `pointsman.policies.sdk`, factors `pointsman.engine.rate_models.factors.sdk`.
"""
