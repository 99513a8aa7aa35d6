"""The key of a finding. What a span tells is tested where reports are filed from it."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.sessions.span_facts import SpanFacts, finding_key


@pytest.mark.parametrize(
    ("parts", "digest"),
    [
        (
            ("claude-code", "s1", "u-3", 1),
            "ff74ddf523b40d75643c52ac590cd4e5dba3e3affd88624a9955f9e20551a56c",
        ),
        (
            ("claude-code", "s1", "u-3", 2),
            "85ba3871c21724080ed175df8156a7bcb6cb0fae02b217fe506d79e85cec58d6",
        ),
        (
            ("opencode-v1", "ses_golden0001", "prt_0009", 1),
            "728bedd77f34449a125f84bd16518f726986713ce70effeae110e2d065fb05bc",
        ),
    ],
)
def test_vectors(parts: tuple[str, str, str, int], digest: str) -> None:
    """The published vectors, the older name of a harness among them."""
    assert finding_key(*parts) == f"session-scan-{digest}"


@given(st.tuples(*[st.text(st.characters(exclude_categories=["Cs"]))] * 3), st.integers(1))
def test_a_key_is_the_digest_of_its_parts(parts: tuple[str, str, str], ordinal: int) -> None:
    """Five parts joined by zero bytes, the last one the version of the detector."""
    material = "\0".join((*parts, str(ordinal), "1"))
    expected = hashlib.sha256(material.encode()).hexdigest()
    if parts[0] != "opencode-v1":
        assert finding_key(*parts, ordinal) == f"session-scan-{expected}"


def test_a_span_that_is_no_unicode_has_a_key() -> None:
    """Nothing a log can hold as a span keeps it from being filed."""
    facts = SpanFacts("codex", "s", "\ud800", "codex-rollout/1", 1_500, "", "")
    assert facts.key(1).startswith("session-scan-")
    assert facts.occurred_at == "1970-01-01T00:00:00.000001Z"
