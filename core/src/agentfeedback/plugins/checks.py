"""What a plugin may hand over beside the core's own; each check raises for anything else. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import fields

if TYPE_CHECKING:
    from agentfeedback.digest.build import BuiltDigest
    from agentfeedback.digest.detect import Detector
    from agentfeedback.scrub import Format

# Each imports what it needs: a run checks few of these, and most runs none.


def usable_format(format: Format) -> None:
    """A format of secrets that the scrubber can compile."""
    from agentfeedback.scrub import SUBMIT, Scrubber

    Scrubber(SUBMIT, extra=(format,)).text("")


def usable_detector(detector: Detector) -> None:
    """A detector whose findings have a name of their own in a digest."""
    from agentfeedback.digest.detect import Detector, Troubles
    from agentfeedback.wire.records import Digest

    if not isinstance(detector, Detector) or not detector.name:
        raise TypeError("not a detector")
    if detector.name in {member.name for member in fields(Digest)}:
        raise ValueError(f"{detector.name} is a member of every digest")
    if detector.name == Troubles.name and not isinstance(detector, Troubles):
        raise ValueError(f"{detector.name} is a detector of the core")


def usable_section(section: Any) -> None:
    """A section of the report of `doctor` that can be printed under a name of its own."""
    from agentfeedback.plugins.doctor_section import DoctorSection
    from agentfeedback.wire.doctor import Doctor
    from agentfeedback.wire.encode import encode

    if not isinstance(section, DoctorSection) or not section.name.isidentifier():
        raise TypeError("not a section")
    if section.name in {member.name for member in fields(Doctor)}:
        raise ValueError(f"{section.name} is a member of every report")
    encode(section.value)  # raises here what could not be printed


def printable_digest(built: BuiltDigest) -> None:
    """A digest that names its session and can be printed."""
    import orjson

    from agentfeedback.digest.build import BuiltDigest

    if not isinstance(built, BuiltDigest) or built.covered < 0 or "ref" not in built.digest:
        raise TypeError("not a digest")
    orjson.dumps(built.digest)
