"""What a plugin gets and gives to add to `agentfeedback doctor` (hook `doctor_sections`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from attrs import fields, frozen

from agentfeedback import wire
from agentfeedback.wire_doctor import Doctor

if TYPE_CHECKING:
    from agentfeedback.config import Paths
    from agentfeedback.wire_doctor import Secret, Setting


@frozen(eq=False)
class Checkup:
    """What the hook `doctor_sections` gets: where things lie and what is configured.

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
class Section:
    """A section a plugin adds: `value`, a `wire` record or JSON, becomes the member `name` of the JSON.

    `text` is what is shown behind the name in the text; `problems` are `(problem, remedy)`.
    """

    name: str
    value: Any
    text: str = ""
    problems: tuple[tuple[str, str], ...] = ()


def checked(section: Any) -> None:
    """Raise for what cannot be a section of the report."""
    if not isinstance(section, Section) or not section.name.isidentifier():
        raise TypeError("no section")
    if section.name in {member.name for member in fields(Doctor)}:
        raise ValueError(f"{section.name} is a member of every report")
    wire.encode(section.value)  # raises here what could not be printed
