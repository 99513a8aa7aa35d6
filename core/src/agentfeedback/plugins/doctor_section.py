"""What a plugin gets and gives to add to `agentfeedback doctor` (hook `doctor_sections`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import frozen

if TYPE_CHECKING:
    from agentfeedback.config.paths import Paths
    from agentfeedback.wire.doctor import Secret, Setting


@frozen(eq=False)
class DoctorContext:
    """What the hook `doctor_sections` gets: the places of things and what is configured.

    `tables` is `config.toml` as parsed, empty when it cannot be. `mode`, `url` and `api_key` are
    those of the report.
    """

    paths: Paths
    environ: Mapping[str, str]
    tables: Mapping[str, Any]
    mode: str
    url: Setting
    api_key: Secret


@frozen(eq=False)
class DoctorSection:
    """A section a plugin adds: `value`, a `wire` record or JSON, becomes the member `name` of the JSON.

    `text` is what is shown behind the name in the text; `problems` are `(problem, remedy)`.
    """

    name: str
    value: Any
    text: str = ""
    problems: tuple[tuple[str, str], ...] = ()
