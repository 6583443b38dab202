"""What agents are rewarded for, a module each: the compiled `flow(S)`, reward per τ as things are, and `at_start(S,
j)`, for a job that has just been given its GPUs. A user's own is a file with both.
"""
