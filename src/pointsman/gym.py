"""Importing this tells Gymnasium of ``pointsman/PickJob-v0``, ``pointsman/PlaceJob-v0`` and
``pointsman/PlaceGang-v0`` (extra ``[rl]``).

Gymnasium imports it by itself where an id says so: ``gymnasium.make("pointsman.gym:pointsman/PickJob-v0")``.
"""

from gymnasium.envs.registration import register

for _name, _module in (("PickJob", "pick_job"), ("PlaceJob", "place_job"), ("PlaceGang", "place_gang")):
    _place = f"pointsman.learn.environments.{_module}:{_name}"
    register(f"pointsman/{_name}-v0", entry_point=f"{_place}Env", vector_entry_point=f"{_place}VectorEnv")
