"""The readers of OpenCode V1 and OpenCode 2 keep every promise of the kit, over their corpora."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from agentfeedback.record import decoder
from agentfeedback_opencode.layout import Laid
from pytest_agentfeedback import ReaderConformance


class TestOpenCodeV1(ReaderConformance):
    harness = "opencode-v1"
    corpus = "corpus/opencode-v1"
    row_store = True

    def cuts(self, lines: Sequence[bytes]) -> Iterable[int]:
        """Only between messages: what a message is may only show in its parts."""
        heads = map(decoder(Laid), lines[1:])
        return [n for n, head in enumerate(heads, 1) if head and head.kind == "message"]


class TestOpenCodeV2(ReaderConformance):
    harness = "opencode-v2"
    corpus = "corpus/opencode-v2"
    row_store = True
