"""What a hook observed, as an adapter hands it to the spool.

An adapter says what happened; the spool gives it a number and a name, and writes it. All of these
are plain values: nothing here reads or writes.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, Literal

    #: What of a conversation is kept, and whether it may be shared.
    CaptureMode = Literal["metadata-only", "local-conversation", "shared-conversation"]
    TimeSource = Literal["host", "receipt", "transcript"]
    Role = Literal["prompt", "assistant", "tool_input", "tool_result", "tool_error"]
    MediaType = Literal["text/plain", "application/json"]
    #: What a SessionStart says about its session: it began, it goes on after a compaction, or neither.
    Start = Literal["original", "continued", "other"]

METADATA_ONLY, LOCAL, SHARED = "metadata-only", "local-conversation", "shared-conversation"
#: From the lowest to the highest.
CAPTURE_MODES = (METADATA_ONLY, LOCAL, SHARED)


class Namespace:
    """What a spool is bound to for ever: one Hub, one repository, one checkout."""

    __slots__ = ("hub", "repository", "worktree_id")

    def __init__(self, hub: str, repository: str, worktree_id: str) -> None:
        self.hub = hub
        self.repository = repository
        self.worktree_id = worktree_id


class Target:
    """The Work that a session belongs to, its generation, and the canonical id of the session."""

    __slots__ = ("generation", "session_id", "work_id")

    def __init__(self, work_id: str, generation: int, session_id: str) -> None:
        self.work_id = work_id
        self.generation = generation
        self.session_id = session_id

    def __eq__(self, other: object) -> bool:
        return self.record() == other.record() if isinstance(other, Target) else NotImplemented

    __hash__ = None  # type: ignore[assignment]

    def record(self) -> dict[str, Any]:
        """Return the members as they are written."""
        return {
            "generation": self.generation,
            "session_id": self.session_id,
            "work_id": self.work_id,
        }

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Target:
        """Return the target of a record's members."""
        return cls(record["work_id"], record["generation"], record["session_id"])


class Stream:
    """Whose facts they are: the adapter, the session that was observed, and where it is attributed."""

    __slots__ = ("adapter", "capture_mode", "observed", "target", "version")

    def __init__(
        self,
        observed: str,
        target: Target,
        capture_mode: CaptureMode,
        adapter: str = "claude-code",
        version: str = "1",
    ) -> None:
        self.observed = observed
        self.target = target
        self.capture_mode = capture_mode
        self.adapter = adapter
        self.version = version


class Body:
    """A selected piece of a conversation, redacted already where the mode asks for it.

    `data` is None for one that could not be retained (too large to read, not processed in time);
    then `size` is its length in bytes where that is known. `redactions` counts replacements.
    """

    __slots__ = ("data", "media_type", "redactions", "role", "size")

    def __init__(
        self,
        role: Role,
        data: bytes | None,
        media_type: MediaType,
        *,
        redactions: int = 0,
        size: int | None = None,
    ) -> None:
        self.role = role
        self.data = data
        self.media_type = media_type
        self.redactions = redactions
        self.size = size


class Fact:
    """One event that a hook observed.

    `event` is the name the harness gives it and `kind` ours. `identity` is what its provider
    identifies it by (`(tool_use_id, "start")`, `(message_id, index)`), None for nothing; then
    `timestamp` may hold the provider's time as spelled. An event with neither gets a number of this
    spool, and the gap `identity_uncertain` where `uncertain` says so. `members` are the event's other
    shared members as they are written (`boundary`, `origin`, `tool`, `subagent`, `correlation`).
    `setup` is what the payload exposed of `model`, `permission_mode` and `effort`. `gaps` are causes of
    `capture_interrupted` that qualify this event. `start` is given for a SessionStart alone.
    """

    __slots__ = (
        *("bodies", "ends", "event", "gaps", "identity", "kind", "members", "observed_at"),
        *("setup", "start", "time_source", "timestamp", "uncertain"),
    )

    def __init__(
        self,
        event: str,
        kind: str,
        observed_at: int,
        *,
        time_source: TimeSource = "receipt",
        identity: tuple[str | int, ...] | None = None,
        timestamp: str | None = None,
        uncertain: bool = False,
        members: Mapping[str, Any] | None = None,
        bodies: Sequence[Body] = (),
        setup: Mapping[str, str] | None = None,
        gaps: Sequence[str] = (),
        start: Start | None = None,
        ends: bool = False,
    ) -> None:
        self.event = event
        self.kind = kind
        self.observed_at = observed_at
        self.time_source = time_source
        self.identity = identity
        self.timestamp = timestamp
        self.uncertain = uncertain
        self.members = dict(members or {})
        self.bodies = list(bodies)
        self.setup = dict(setup or {})
        self.gaps = list(gaps)
        self.start = start
        self.ends = ends


class Call:
    """The call of a tool that a fact is one phase of; `fingerprint` is `identities.fingerprint` of the payload."""

    __slots__ = ("fingerprint", "tool", "tool_use_id")

    def __init__(self, tool: str, tool_use_id: str, fingerprint: str) -> None:
        self.tool = tool
        self.tool_use_id = tool_use_id
        self.fingerprint = fingerprint


class Action:
    """What is bound before a configured tool runs.

    `rule` has `kind`, `coverage` and `result_source`. `source` is the shared form of a source
    binding; nothing captures source yet, so it is always unavailable, and the adapter adds the cause
    `source_unavailable` to the fact's gaps.
    """

    __slots__ = ("recipe_digest", "rule", "setup_digest", "source")

    def __init__(
        self,
        rule: Mapping[str, str],
        recipe_digest: str,
        setup_digest: str,
        source: Mapping[str, Any] | None = None,
    ) -> None:
        self.rule = dict(rule)
        self.recipe_digest = recipe_digest
        self.setup_digest = setup_digest
        self.source = dict(source or {"cause": "source_unavailable", "type": "unavailable"})


class Ending:
    """How a configured tool ended, by the rule that its start is bound to.

    `setup_digest` is the configured one at this moment and `recipe_digest` that of the ending's own
    input; the start keeps its own. `source` is a second binding, None where none was captured.
    """

    __slots__ = (
        "execution",
        "exit_code",
        "recipe_digest",
        "setup_digest",
        "source",
        "verification",
    )

    def __init__(
        self,
        execution: str,
        verification: str,
        setup_digest: str,
        *,
        recipe_digest: str | None = None,
        exit_code: int | None = None,
        source: Mapping[str, Any] | None = None,
    ) -> None:
        self.execution = execution
        self.verification = verification
        self.setup_digest = setup_digest
        self.recipe_digest = recipe_digest
        self.exit_code = exit_code
        self.source = source
