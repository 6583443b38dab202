"""Policies that know the network, on networks fast and congested: makes ``docs/results/network.md``."""
