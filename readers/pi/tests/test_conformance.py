"""The reader of pi keeps every promise of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestPi(ReaderConformance):
    harness = "pi"
    corpus = "corpus/pi"
