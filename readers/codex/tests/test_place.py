"""What the gate learns from a first line, and when it fails."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
import zstandard

from agentfeedback.reading.blocks import UnreadableLog
from agentfeedback.reading.reader import Session
from agentfeedback_codex.reader import Codex

if TYPE_CHECKING:
    from conftest import Rollout, Store

MIB = 1 << 20


def test_directory_of_the_first_line(store: Store, rollout: Rollout) -> None:
    """The absolute `cwd` of the first line is the place, and the line is kept for the load to check."""
    line = rollout.meta("/srv/app")
    place = store.place(line + b"not json\n")
    assert (place.paths, place.failed, place.first_line) == (("/srv/app",), False, line[:-1])


def test_directory_of_a_compressed_rollout(store: Store, rollout: Rollout) -> None:
    """A compressed rollout is asked in the same way."""
    packed = zstandard.ZstdCompressor().compress(rollout.meta("/srv/app") * 50)
    for strict in (True, False):
        assert store.place(packed, strict=strict, suffix=".zst").paths == ("/srv/app",)


@pytest.mark.parametrize("payload", [{}, {"cwd": None}, None, {"cwd": "src"}, {"cwd": "/a\0b"}])
def test_no_directory_is_no_failure(store: Store, rollout: Rollout, payload: object) -> None:
    """An absent or relative directory is simply not known."""
    place = store.place(rollout.line("session_meta", payload))
    assert (place.paths, place.failed) == ((), False)


def test_first_line_needs_no_payload(store: Store) -> None:
    """A `session_meta` line without a payload is not a failure either."""
    assert not store.place(b'{"type":"session_meta"}\n').failed


@pytest.mark.parametrize(
    "line",
    [
        b"not json\n",
        b"\n",
        b"null\n",
        b"[]\n",
        b"{}\n",
        b'{"type":null,"payload":{"cwd":"/srv/app"}}\n',
        b'{"type":["session_meta"],"payload":{"cwd":"/srv/app"}}\n',
        b'{"type":"turn_context","payload":{"cwd":"/srv/app"}}\n',
        b'{"type":"session_meta","payload":[]}\n',
        b'{"type":"session_meta","payload":"/srv/app"}\n',
        b'{"type":"session_meta","payload":{"cwd":["/srv/app"]}}\n',
        b'{"type":"session_meta","payload":{"cwd":7}}\n',
        b'{"type":"session_meta","payload":{"cwd":"/srv/app"}}',
        b"",
    ],
)
@pytest.mark.parametrize("strict", [True, False])
def test_gate_fails_on_a_line_it_cannot_trust(store: Store, line: bytes, strict: bool) -> None:
    """No JSON object, another type, or a payload or directory of a wrong type leaves the policy unchecked."""
    place = store.place(line, strict=strict)
    assert (place.paths, place.failed) == ((), True)


def test_byte_order_mark_is_refused_by_gate_and_read(store: Store, rollout: Rollout) -> None:
    """A first line with a byte order mark is not JSON for either, so neither sees more than the other."""
    line = b"\xef\xbb\xbf" + rollout.meta("/srv/app")
    assert store.place(line).failed
    timeline = rollout.read(line)
    assert (timeline.unparsed_lines, timeline.cwds) == (1, {})


@pytest.mark.parametrize(("extra", "failed"), [(-1, False), (0, False), (1, True)])
@pytest.mark.parametrize("suffix", ["", ".zst"])
def test_first_line_of_one_mebibyte(
    store: Store, rollout: Rollout, extra: int, failed: bool, suffix: str
) -> None:
    """A first line of up to 1 MiB is read whole; a longer one fails the gate."""
    bare = len(rollout.meta("/srv/app", pad="")) - 1
    line = rollout.meta("/srv/app", pad="x" * (MIB + extra - bare))
    assert len(line) == MIB + extra + 1
    content = line + b"{}\n"
    if suffix:
        content = zstandard.ZstdCompressor().compress(content)
    place = store.place(content, strict=False, suffix=suffix)
    assert place.failed is failed
    assert place.paths == (() if failed else ("/srv/app",))


def test_endless_first_line_fails(store: Store) -> None:
    """Without a newline within the bound the gate fails, however long the file is."""
    assert store.place(b"{" * (MIB + 5000), strict=False).failed


@pytest.mark.parametrize(("strict", "most"), [(True, 0), (False, 511)])
def test_nothing_past_the_block_is_read(
    store: Store, rollout: Rollout, monkeypatch: pytest.MonkeyPatch, strict: bool, most: int
) -> None:
    """Under a strict policy not one byte past the newline is read, else less than a block."""
    taken = []
    read = os.read

    def counted(descriptor: int, size: int) -> bytes:
        piece = read(descriptor, size)
        taken.append(len(piece))
        return piece

    line = rollout.meta("/srv/app")
    monkeypatch.setattr(os, "read", counted)
    assert store.place(line + b"x" * 9000, strict=strict).paths == ("/srv/app",)
    assert len(line) <= sum(taken) <= len(line) + most


def test_open_error_is_no_refusal(store: Store) -> None:
    """A file that is gone, or is a pipe now, is left for the load to report."""
    gone = Session("codex", "s1", str(store.root / "gone.jsonl"), 0)
    place = Codex().place(gone, strict=True)
    assert (place.paths, place.failed, place.first_line) == ((), False, None)
    store.root.mkdir()
    os.mkfifo(store.root / "pipe.jsonl")
    pipe = Session("codex", "s1", str(store.root / "pipe.jsonl"), 0)
    assert not Codex().place(pipe, strict=True).failed
    with pytest.raises(UnreadableLog):
        Codex().open(pipe)


def test_damaged_frame_is_left_for_the_load(store: Store) -> None:
    """What cannot be decompressed is unreadable, not refused."""
    assert not store.place(b"not a frame", suffix=".zst").failed
    (session,) = store.find()[0]
    log = Codex().open(session)
    with pytest.raises(UnreadableLog, match="damaged"):
        list(log.blocks())
    log.close()


def test_gate_reads_odd_text_as_the_log_does(store: Store, rollout: Rollout) -> None:
    """An unpaired surrogate in the directory becomes U+FFFD for the gate and for the read alike."""
    payload = json.dumps({"cwd": "/srv/\ud800app"})
    line = b'{"type":"session_meta","payload":%s}\n' % payload.encode()
    assert store.place(line).paths == ("/srv/\ufffdapp",)
    assert list(rollout.read(line).cwds) == ["/srv/\ufffdapp"]
