"""The reader of Copilot CLI keeps every promise of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestCopilot(ReaderConformance):
    harness = "copilot"
    corpus = "corpus/copilot"
