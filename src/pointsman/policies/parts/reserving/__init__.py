"""Reservations of GPUs for jobs that wait: for whom, until when, and which."""
