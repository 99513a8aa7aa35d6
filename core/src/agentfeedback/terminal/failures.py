"""What foreign code raised, as a text for a person."""

from __future__ import annotations


def described(error: BaseException) -> str:
    """Return type and scrubbed text of what a plugin raised while it was loaded."""
    from agentfeedback.scrub import SUBMIT, Scrubber

    return f"{type(error).__name__}: {Scrubber(SUBMIT).text(str(error))}"
