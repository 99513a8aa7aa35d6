"""What a client says of a session before it sends it: read strictly, and made into the submission it will be. Pure."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from agentfeedback.foundation.canonical import canonical
from agentfeedback.foundation.json_text import Number
from agentfeedback_submissions.envelope import EnvelopeRefused, Normalised, normalise
from agentfeedback_web.answers import HttpError, bad_request, invalid, too_large
from agentfeedback_web.bodies import fitted

#: The formats of logs that are taken.
FORMATS = (
    "claude-code-jsonl",
    "codex-rollout",
    "opencode-virtual-log",
    "cursor-agent-transcript",
)
KIND = "session"
#: The member of the payload that a transcript would be; it is kept beside the record instead.
TRANSCRIPT = "transcript"
_SHA256 = re.compile(r"[0-9a-f]{64}", re.ASCII)
_REVISION = re.compile(r"0|[1-9][0-9]{0,17}", re.ASCII)


@frozen
class Limits:
    """How large an upload may be: its envelope as canonical JSON with the transcript, one part, and how many."""

    envelope_bytes: int = 24 << 20
    part_bytes: int = 4 << 20
    parts_max: int = 4096

    def shown(self) -> dict[str, int]:
        """The limits as clients get them."""
        return {
            "envelope_bytes": self.envelope_bytes,
            "part_bytes": self.part_bytes,
            "parts_max": self.parts_max,
        }


@frozen
class Part:
    """A piece of the transcript: its length in bytes and its SHA-256 in lower-case hex."""

    bytes: int
    sha256: str


@frozen(eq=False)
class _Body:
    consent_id: str
    manifest: dict  # type: ignore[type-arg]
    parts: list[Part]
    transcript_bytes: int
    transcript_sha256: str
    envelope_bytes: int


@frozen(eq=False)
class Begin:
    """An upload that a client asks for.

    `envelope` is the submission it becomes; `manifest` the same as canonical JSON, to be kept until then.
    """

    consent_id: str
    key: str
    parts: list[Part]
    transcript_bytes: int
    transcript_sha256: str
    manifest: bytes
    envelope: Normalised = field(repr=False)


def read_begin(body: bytes, limits: Limits) -> Begin:
    """The body of a begin. Raises `HttpError`."""
    given = fitted(body, _Body)
    _sizes(given, limits)
    if not _SHA256.fullmatch(given.transcript_sha256):
        raise invalid("invalid_format", "/transcript_sha256", "not a SHA-256 in lower-case hex")
    for index, part in enumerate(given.parts):
        if not _SHA256.fullmatch(part.sha256):
            raise invalid(
                "invalid_format", f"/parts/{index}/sha256", "not a SHA-256 in lower-case hex"
            )
    manifest = _manifest(given)
    envelope = envelope_of(manifest)
    _is_session(envelope.members)
    return Begin(
        given.consent_id,
        envelope.members["key"],
        given.parts,
        given.transcript_bytes,
        given.transcript_sha256,
        manifest,
        envelope,
    )


def envelope_of(manifest: bytes) -> Normalised:
    """The submission of a manifest. Raises `HttpError`."""
    try:
        return normalise(manifest)
    except EnvelopeRefused as refused:
        raise bad_request(f"the manifest is refused: {refused.message}") from None


def session_key(harness: str, session_id: str, revision: str) -> str:
    """The key of the submission of one revision of a session."""
    named = f"{harness}\0{session_id}\0{revision}"
    return f"session-{hashlib.sha256(named.encode()).hexdigest()}"


def envelope_bytes(envelope: Normalised, escaped: int) -> int:
    """The length of the canonical JSON with a transcript that is `escaped` bytes long as a piece of a JSON string."""
    members = dict(envelope.members)
    members["payload"] = {**members["payload"], TRANSCRIPT: ""}
    return len(canonical(members)) + escaped


def over(limits: Limits, problem: str) -> HttpError:
    """413 with the limits."""
    return too_large(problem, {"limits": limits.shown()})


def _sizes(given: _Body, limits: Limits) -> None:
    if not given.parts:
        raise invalid("out_of_range", "/parts", "an upload has at least one part")
    if len(given.parts) > limits.parts_max:
        raise over(limits, f"an upload takes at most {limits.parts_max} parts")
    for index, part in enumerate(given.parts):
        if part.bytes < 1:
            raise invalid("out_of_range", f"/parts/{index}/bytes", "a part is not empty")
        if part.bytes > limits.part_bytes:
            raise over(limits, f"a part takes at most {limits.part_bytes} bytes")
    if sum(part.bytes for part in given.parts) != given.transcript_bytes:
        problem = "the parts do not add up to it"
        raise invalid("out_of_range", "/transcript_bytes", problem)
    if max(given.envelope_bytes, given.transcript_bytes) > limits.envelope_bytes:
        raise over(limits, f"an envelope takes at most {limits.envelope_bytes} bytes")


def _manifest(given: _Body) -> bytes:
    """The manifest with what it must say of the transcript, which is part of the submission's identity."""
    payload = given.manifest.get("payload")
    if not isinstance(payload, dict):
        raise invalid("type_mismatch", "/manifest/payload", "/manifest/payload is not an object")
    if TRANSCRIPT in payload:
        raise invalid(
            "unknown_field", "/manifest/payload/transcript", "the transcript is sent in parts"
        )
    facts: dict[str, Any] = {
        "transcript_bytes": Number(str(given.transcript_bytes)),
        "transcript_sha256": given.transcript_sha256,
    }
    for name, value in facts.items():
        if payload.get(name, value) != value:
            pointer = f"/manifest/payload/{name}"
            raise invalid("out_of_range", pointer, f"{pointer} differs from /{name}")
    return canonical({**given.manifest, "payload": {**payload, **facts}})


def _is_session(members: Mapping[str, Any]) -> None:
    """Raises unless the members are those of one revision of one session, under its key."""
    if members["kind"] != KIND:
        raise invalid("out_of_range", "/manifest/kind", f"the kind is not {KIND}")
    if members["schema_version"] != 1:
        raise invalid("out_of_range", "/manifest/schema_version", "the version is not 1")
    if "harness" not in members:
        raise invalid("required", "/manifest/harness", "/manifest/harness is required")
    payload = members["payload"]
    for name in ("format", "session_id", "revision"):
        pointer = f"/manifest/payload/{name}"
        if name not in payload:
            raise invalid("required", pointer, f"{pointer} is required")
        if not isinstance(payload[name], str):
            raise invalid("type_mismatch", pointer, f"{pointer} is not a string")
        if not payload[name]:
            raise invalid("empty", pointer, f"{pointer} is empty")
    if payload["format"] not in FORMATS:
        raise invalid(
            "out_of_range", "/manifest/payload/format", f"format takes {', '.join(FORMATS)}"
        )
    if not _REVISION.fullmatch(payload["revision"]):
        raise invalid(
            "invalid_format", "/manifest/payload/revision", "a revision is a number of bytes"
        )
    wanted = session_key(members["harness"], payload["session_id"], payload["revision"])
    if members.get("key") != wanted:
        problem = "the key is not that of harness, session and revision"
        raise invalid("out_of_range", "/manifest/key", problem)
