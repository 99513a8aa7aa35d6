"""The reader of Gemini CLI keeps every promise of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestGeminiCli(ReaderConformance):
    harness = "gemini-cli"
    corpus = "corpus/gemini-cli"
