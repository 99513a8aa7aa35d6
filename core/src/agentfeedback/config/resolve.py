"""One value of a setting out of several: flag over environment over `config.toml`. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from attrs import field, frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agentfeedback.config.shape import Config

Source = Literal["flag", "env", "config", ""]
#: The environment variable of each setting; an empty value counts as unset.
VARIABLES = {
    "url": "AGENT_FEEDBACK_URL",
    "api_key": "AGENT_FEEDBACK_API_KEY",
    "machine": "AGENT_FEEDBACK_MACHINE",
    "model": "AGENT_FEEDBACK_MODEL",
    "harness": "AGENT_FEEDBACK_HARNESS",
}


@frozen
class ResolvedSetting:
    """A value and where it comes from; both are empty when it is set nowhere. The value may be a secret."""

    value: str = field(default="", repr=False)
    source: Source = ""


def resolve(
    name: str, config: Config, environ: Mapping[str, str], flag: str = ""
) -> ResolvedSetting:
    """The setting `url`, `api_key`, `machine`, `model` or `harness` as it counts."""
    if flag:
        return ResolvedSetting(flag, "flag")
    if value := environ.get(VARIABLES[name], ""):
        return ResolvedSetting(value, "env")
    configured: str = getattr(config, name)
    return ResolvedSetting(configured, "config") if configured else ResolvedSetting()
