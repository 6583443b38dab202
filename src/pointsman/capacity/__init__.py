"""How many nodes a cluster needs, so that a figure of its jobs meets a target."""
