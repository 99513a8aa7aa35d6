"""The promises every reader makes."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestClaudeCode(ReaderConformance):
    harness = "claude-code"
    corpus = "corpus/claude-code"
