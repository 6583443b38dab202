"""States of jobs, answers of verbs and placements as whole numbers, which compiled code compares."""

from pointsman.types import JobState, Outside, Placement, Reason

PENDING, STARTING, RUNNING, STOPPING, HELD = (
    int(s) for s in (JobState.PENDING, JobState.STARTING, JobState.RUNNING, JobState.STOPPING, JobState.HELD)
)
OK, RESOURCES, FRAGMENTATION, QUOTA = (
    int(r) for r in (Reason.OK, Reason.Resources, Reason.Fragmentation, Reason.QuotaExceeded)
)
NOT_PENDING, NOT_RUNNING, THIS_PASS = (int(r) for r in (Reason.NotPending, Reason.NotRunning, Reason.StartedThisPass))
GANG_INCOMPLETE, GPU_TAKEN, NOT_ELIGIBLE = (
    int(r) for r in (Reason.GangIncomplete, Reason.GpuTaken, Reason.GpuNotEligible)
)
SHARING_LIMIT, MEMORY = int(Reason.SharingLimit), int(Reason.Memory)
NOT_SUPPORTED, PROTECTED = int(Reason.NotSupported), int(Reason.MinRuntimeProtected)
DECISIONS_OUTSIDE = int(Outside.DECISIONS)
CONSOLIDATED, FIRST_FIT, SPREAD, TIGHTEST, FEW_RACKS = (int(p) for p in Placement)
