"""Learning to schedule: environments on the compiled engine (`learn.environments`), networks, algorithms and the
learned policies.

PyTorch is imported by the networks, the algorithms and the policies, never by the environments.
"""
