"""The reader of Codex rollouts keeps every promise of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestCodex(ReaderConformance):
    harness = "codex"
    corpus = "corpus/codex"
