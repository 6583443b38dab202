"""Processes of one machine."""
