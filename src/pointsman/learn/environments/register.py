"""The environments' ids, which Gymnasium finds by an entry point."""


def register() -> None:
    """Register ``pointsman/PickJob-v0`` and ``pointsman/PlaceJob-v0``; Gymnasium puts the entry point's name before."""
    from gymnasium.envs.registration import register as register_env

    for name, module in (("PickJob", "pick_job"), ("PlaceJob", "place_job")):
        place = f"pointsman.learn.environments.{module}:{name}"
        register_env(f"{name}-v0", entry_point=f"{place}Env", vector_entry_point=f"{place}VectorEnv")
