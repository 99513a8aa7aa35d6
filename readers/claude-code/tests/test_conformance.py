"""The reader of Claude Code keeps every promise of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestClaudeCode(ReaderConformance):
    harness = "claude-code"
    corpus = "corpus/claude-code"
