"""Interference on nodes learnt from recorded runs."""
