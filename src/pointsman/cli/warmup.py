"""``pointsman warmup``."""

from pointsman.cli import screen


def warmup() -> None:
    """Compile the simulator once, so that later runs start at once; a wheel has it compiled."""
    import time

    from pointsman.cache_folder import find_place
    from pointsman.engine.jit.build import missing, prepare
    from pointsman.errors import RunError
    from pointsman.whole_core import all_units

    if not missing(all_units()):
        screen.note("the simulator is compiled")
        return
    place = find_place()
    if not place.lasts:
        raise RunError(f"compiled code would be {place.why}; set POINTSMAN_HOME to your own directory")
    started_s = time.perf_counter()
    with screen.progress("compiling the simulator") as progress:
        prepare(all_units(), progress.update)
    screen.note(f"the simulator is compiled ({time.perf_counter() - started_s:.1f} s)")
