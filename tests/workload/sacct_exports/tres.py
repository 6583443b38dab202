"""Slurm's lists of trackable resources, of what a part of a job is allocated or requests."""

from .site import Gres, Part, Site


def tracked_gres(part: Part, site: Site, allocated: bool) -> list[Gres]:
    """The generic resources that a record names."""
    typed = site.tracked if allocated or site.requests_typed else "untyped"
    gpus = [gres for gres in part.gres if gres.kind == "gpu"]
    others = [gres for gres in part.gres if gres.kind != "gpu"]
    named = [gres for gres in gpus if gres.gpu_type] if typed != "untyped" else []
    whole = [Gres(sum(gres.count for gres in gpus))] if gpus and (typed != "typed" or not named) else []
    return named + whole + others


def tres_text(part: Part, site: Site, allocated: bool) -> str:
    """`billing=8,cpu=8,gres/gpu:a100=8,gres/gpu=8,mem=64G,node=1`."""
    gres = [f"gres/{one.name}={one.count}" for one in tracked_gres(part, site, allocated)]
    return ",".join(["billing=8", "cpu=8", *gres, "mem=64G", f"node={part.nodes}"])


def tres_objects(part: Part, site: Site, allocated: bool, none: str | None) -> list[dict[str, object]]:
    """The same as `sacct --json` writes it; `none` stands where there is no name."""
    gres = [("gres", one.name, one.count) for one in tracked_gres(part, site, allocated)]
    listed = [("cpu", none, 8), ("mem", none, 65536), ("node", none, part.nodes), ("billing", none, 8), *gres]
    ids = {"cpu": 1, "mem": 2, "node": 4, "billing": 5}
    return [
        {"type": kind, "name": name, "id": ids.get(kind, 1001 + place), "count": count}
        for place, (kind, name, count) in enumerate(listed)
    ]
