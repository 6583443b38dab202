"""Policies that know the network, on networks from fast to congested: makes the tables of ``docs/results/network.md``."""
