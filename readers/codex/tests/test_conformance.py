"""The promises every reader makes."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestCodex(ReaderConformance):
    harness = "codex"
    corpus = "corpus/codex"
