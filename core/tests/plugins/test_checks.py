"""What plugins may hand over: everything else is refused before it can spoil a digest or a report."""

from __future__ import annotations

from typing import Any

import pytest

from agentfeedback.digest.build import BuiltDigest
from agentfeedback.digest.detect import Denials, Detector, Troubles
from agentfeedback.plugins.checks import (
    printable_digest,
    usable_detector,
    usable_format,
    usable_section,
)
from agentfeedback.plugins.doctor_section import DoctorSection
from agentfeedback.scrub import Format


def detector(name: Any, kind: type[Detector] = Detector) -> Detector:
    """A detector of that name."""
    found = kind()
    found.name = name
    return found


@pytest.mark.parametrize(
    "found",
    [
        detector(""),
        detector("ref"),
        detector("findings"),
        detector("troubles"),
        detector("troubles", Denials),
        object(),
        None,
    ],
)
def test_a_detector_has_a_name_of_its_own(found: Any) -> None:
    """No name, that of a member of every digest, or of a detector of the core."""
    with pytest.raises((TypeError, ValueError)):
        usable_detector(found)


def test_detectors_of_others_are_usable() -> None:
    """Under a name of their own, or that of the core's when they derive from it."""
    usable_detector(detector("mine"))
    usable_detector(type("Better", (Troubles,), {})())


def test_a_format_compiles() -> None:
    """A pattern with a fault would stop every scrub."""
    usable_format(Format("mine", "mine_[a-z]{8,}"))
    with pytest.raises(Exception):  # noqa: B017 - whatever the engine of patterns raises
        usable_format(Format("bad", "("))


@pytest.mark.parametrize("name", ["", "two words", "problems", "harnesses"])
def test_a_section_has_a_name_of_its_own(name: str) -> None:
    """A word, and not that of a member of every report."""
    with pytest.raises((TypeError, ValueError)):
        usable_section(DoctorSection(name, {"x": 1}))


def test_what_is_printed_can_be_printed() -> None:
    """Sections and digests are encoded once before they are taken."""
    usable_section(DoctorSection("mine", {"x": 1}))
    for bad in (object(), {1, 2}):
        with pytest.raises(Exception):  # noqa: B017 - what encoding raises is not promised
            usable_section(DoctorSection("mine", {"x": bad}))
        with pytest.raises(Exception):  # noqa: B017 - as above
            printable_digest(BuiltDigest({"ref": "a:b", "x": bad}, 0))
    with pytest.raises(TypeError):
        usable_section({"name": "mine"})
    printable_digest(BuiltDigest({"ref": "a:b"}, 0))
    for odd in (BuiltDigest({}, 0), BuiltDigest({"ref": "a:b"}, -1), {"ref": "a:b"}, None):
        with pytest.raises(TypeError):
            printable_digest(odd)  # type: ignore[arg-type]
