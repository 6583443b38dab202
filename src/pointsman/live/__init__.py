"""Policies that decide on clusters that run."""
