"""``pointsman warmup``."""

from pointsman.cli import screen


def warmup() -> None:
    """Compile the simulator now, once, so that no later run has to wait for it."""
    import time

    from pointsman.cli.compiled import compile_all

    started_s = time.perf_counter()
    with screen.progress("compiling the simulator, once") as progress:
        compile_all(progress.update)
    screen.note(f"the simulator is compiled ({time.perf_counter() - started_s:.1f} s)")
