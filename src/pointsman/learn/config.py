"""What the configurations of algorithms and networks have in common: frozen, checked, every field documented."""

from pydantic import BaseModel, ConfigDict

from pointsman.policies.sdk import parameter

__all__ = ["Config", "parameter"]


class Config(BaseModel):
    """Settings that cannot be changed once made; unknown ones, infinities and NaN are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
