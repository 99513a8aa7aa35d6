"""The readers of OpenCode V1 and OpenCode 2 keep every promise of the kit, over their corpora."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from agentfeedback.reading.record import decoder
from agentfeedback_opencode.layout import Laid
from pytest_agentfeedback import ReaderConformance

#: Rows of either format, and any bytes.
LINES = st.one_of(
    st.binary(max_size=60).map(lambda piece: piece.replace(b"\n", b"")),
    st.sampled_from(
        [
            b'{"kind":"message","id":"m","role":"user"}',
            b'{"kind":"message","id":"m","role":"assistant","error":{"name":"MessageAbortedError"}}',
            b'{"kind":"part","id":"p","type":"tool","state":{"status":"completed","output":"\\ud800"}}',
            b'{"kind":"part","id":"p","type":"text","text":"x"}',
            b'{"kind":"message","id":"m","type":"assistant","content":[{"type":"tool"},null,7]}',
            b'{"kind":"part","messageID":"m","ordinal":"1","item":{"type":"tool","state":[]}}',
            b'{"kind":"message","data":null}',
            b'{"kind":7}',
        ]
    ),
)


class TestOpenCodeV1(ReaderConformance):
    harness = "opencode-v1"
    corpus = "corpus/opencode-v1"
    row_store = True

    def more_logs(self) -> st.SearchStrategy[list[bytes]]:
        return st.lists(LINES, max_size=8)

    def cuts(self, lines: Sequence[bytes]) -> Iterable[int]:
        """Only between messages: what a message is may only show in its parts."""
        heads = map(decoder(Laid), lines[1:])
        return [n for n, head in enumerate(heads, 1) if head and head.kind == "message"]


class TestOpenCodeV2(ReaderConformance):
    harness = "opencode-v2"
    corpus = "corpus/opencode-v2"
    row_store = True

    def more_logs(self) -> st.SearchStrategy[list[bytes]]:
        return st.lists(LINES, max_size=8)
