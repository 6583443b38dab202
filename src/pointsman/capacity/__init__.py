"""How many nodes a cluster needs, so that a metric of its jobs meets a target."""
