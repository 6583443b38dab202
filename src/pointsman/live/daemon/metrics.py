"""The state of a live cluster for Prometheus."""

from collections import Counter

from prometheus_client import CollectorRegistry, Gauge, generate_latest

from pointsman.live.daemon.views import Views


def exposition(views: Views) -> bytes:
    """All metrics, in Prometheus' text format."""
    registry = CollectorRegistry()
    status = views.status()
    jobs = Gauge("pointsman_jobs", "Jobs that have not ended.", ["state"], registry=registry)
    for state in ("pending", "starting", "running", "stopping"):
        jobs.labels(state).set(status[state])
    gpus = Gauge("pointsman_gpus", "GPUs.", ["state", "gpu_type"], registry=registry)
    for (state, gpu_type), many in _gpus(views).items():
        gpus.labels(state, gpu_type).set(many)
    turns = Gauge("pointsman_turns", "Turns since the daemon started.", registry=registry)
    turns.set(status["turns"])
    alarms = Gauge("pointsman_alarms", "Alarms since the database was made.", registry=registry)
    alarms.set(views.daemon.loop.alarms.count())
    promised = Gauge(
        "pointsman_start_estimates", "Start estimates of jobs that have started.", ["kept"], registry=registry
    )
    promised.labels("yes").set(status["starts_as_promised"])
    promised.labels("no").set(status["starts_promised"] - status["starts_as_promised"])
    failures = Gauge("pointsman_policy_replaced", "Whether a failed policy was replaced.", registry=registry)
    failures.set(status["decides"] != status["policy"])
    return generate_latest(registry)


def _gpus(views: Views) -> Counter[tuple[str, str]]:
    """GPUs by state and type."""
    counts: Counter[tuple[str, str]] = Counter()
    for row in views.nodes():
        free = "free" if row["state"] == "UP" else row["state"].lower()
        counts[free, row["gpu_type"]] += row["gpus"] - row["gpus_allocated"]
        counts["allocated", row["gpu_type"]] += row["gpus_allocated"]
    return counts
