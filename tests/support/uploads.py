"""A session as a client uploads it: the body of a begin, and the parts."""

from __future__ import annotations

import hashlib
from typing import Any

from attrs import evolve, field, frozen


def sha256(data: bytes) -> str:
    """In lower-case hex."""
    return hashlib.sha256(data).hexdigest()


@frozen(eq=False)
class Upload:
    """One revision of one session, cut into parts of at most `part` bytes."""

    transcript: bytes = b'{"type":"user"}\n{"type":"assistant"}\n'
    session_id: str = "s1"
    revision: str = "37"
    harness: str = "claude-code"
    part: int = 16
    members: dict[str, Any] = field(factory=dict)

    def but(self, **members: Any) -> Upload:
        """The same with other members."""
        return evolve(self, **members)

    @property
    def parts(self) -> list[bytes]:
        """The pieces of the transcript."""
        size = self.part
        return [self.transcript[at : at + size] for at in range(0, len(self.transcript), size)]

    @property
    def manifest(self) -> dict[str, Any]:
        """The submission without its transcript."""
        named = f"{self.harness}\0{self.session_id}\0{self.revision}"
        return {
            "kind": "session",
            "schema_version": 1,
            "key": f"session-{sha256(named.encode())}",
            "summary": "a session",
            "machine": "m",
            "model": "o",
            "harness": self.harness,
            "occurred_at": "2026-01-02T03:04:05.000000Z",
            "context": {"origin": "session-push", "session_id": self.session_id},
            "payload": {
                "format": "claude-code-jsonl",
                "session_id": self.session_id,
                "revision": self.revision,
                "scrub": {"version": "2"},
            },
            **self.members,
        }

    def body(self, consent_id: str) -> dict[str, Any]:
        """The body of a begin."""
        return {
            "consent_id": consent_id,
            "manifest": self.manifest,
            "parts": [{"bytes": len(each), "sha256": sha256(each)} for each in self.parts],
            "transcript_bytes": len(self.transcript),
            "transcript_sha256": sha256(self.transcript),
            "envelope_bytes": len(self.transcript) + 1000,
        }
