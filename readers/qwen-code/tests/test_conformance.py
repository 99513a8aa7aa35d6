"""The reader keeps every promise of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestQwenCode(ReaderConformance):
    harness = "qwen-code"
    corpus = "corpus/qwen-code"
