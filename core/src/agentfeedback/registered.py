"""What a plugin may register beside the core's own; each check raises for anything else. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import fields

from agentfeedback import wire
from agentfeedback.scrub import SUBMIT, Format, Scrubber

if TYPE_CHECKING:
    from agentfeedback.detect import Detector


def usable_format(format: Format) -> None:
    """A format of secrets that the scrubber can compile."""
    Scrubber(SUBMIT, extra=(format,)).text("")


def usable_detector(detector: Detector) -> None:
    """A detector whose findings have a name of their own in a digest."""
    from agentfeedback.detect import Detector

    if not isinstance(detector, Detector) or not detector.name:
        raise TypeError("no detector")
    if detector.name in {member.name for member in fields(wire.Digest)}:
        raise ValueError(f"{detector.name} is a member of every digest")
