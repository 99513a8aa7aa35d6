"""How much a spool may hold, and who may use the last of it; pure.

Every regular file below the root counts as one record, locks, temporaries and quarantined files
included. The last twelve records and 16 KiB are headroom: ordinary facts stop before it, so that
what was started can be finished and a pause can be said.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    #: `ordinary` stops before the headroom; `finishing` completes what was started; `pause` says that
    #: capture stopped; `recovery` puts in order what is there already, and is not limited.
    Admission = Literal["ordinary", "finishing", "pause", "recovery"]

#: The smallest spool that holds the declared lifecycle of one managed run.
FLOOR_RECORDS, FLOOR_BYTES = 48, 65_536
MOST_RECORDS = 65_536
HEADROOM_RECORDS, HEADROOM_BYTES = 12, 16_384
#: Kept free for each envelope without an acknowledgement, and for each action that may still finish.
ACK_RECORDS, ACK_BYTES = 1, 256
FINISH_RECORDS, FINISH_BYTES = 4, 8_192
#: The file that is being written.
WRITER_RECORDS = 1
#: Above an index without entries.
_INDEX_BYTES = 4096


class SpoolLimits:
    """The bounds of a spool, in records and bytes; `replay` bounds are those of the compaction index.

    Raises:
        ValueError: A bound is below the floor or above what a scan looks at; the text says which.
    """

    __slots__ = ("artifact_bytes", "bytes", "records", "replay_bytes", "replay_records")

    def __init__(
        self,
        records: int = 4096,
        bytes: int = 67_108_864,
        artifact_bytes: int = 16_777_216,
        replay_records: int | None = None,
        replay_bytes: int | None = None,
    ) -> None:
        self.records = records
        self.bytes = bytes
        self.artifact_bytes = artifact_bytes
        self.replay_records = 4 * records if replay_records is None else replay_records
        self.replay_bytes = (
            max(artifact_bytes, _INDEX_BYTES) if replay_bytes is None else replay_bytes
        )
        if (wrong := _problem(self)) is not None:
            raise ValueError(wrong)

    def record(self) -> dict[str, Any]:
        """Return the members as they are written."""
        return {name: getattr(self, name) for name in self.__slots__}

    def admits_all_of(self, other: SpoolLimits) -> bool:
        """Return whether no bound is below the other's: the limits of a spool only grow."""
        return all(getattr(self, name) >= getattr(other, name) for name in self.__slots__)


def _problem(limits: SpoolLimits) -> str | None:
    if limits.records < FLOOR_RECORDS:
        return f"{limits.records} records are fewer than the {FLOOR_RECORDS} of one managed run"
    if limits.records > MOST_RECORDS:
        return f"{limits.records} records are more than {MOST_RECORDS}"
    if limits.bytes < FLOOR_BYTES:
        return f"{limits.bytes} bytes are fewer than the {FLOOR_BYTES} of one managed run"
    if not 0 < limits.artifact_bytes <= limits.bytes:
        return f"{limits.artifact_bytes} bytes of an artifact do not fit {limits.bytes} bytes"
    if limits.replay_records < 1 or limits.replay_bytes < _INDEX_BYTES:
        return f"the replay index needs room for one entry in {_INDEX_BYTES} bytes"
    return None


class Usage:
    """What a spool holds, and what is promised: unacknowledged envelopes and actions that may finish."""

    __slots__ = ("bytes", "open_actions", "records", "unacknowledged")

    def __init__(
        self, records: int = 0, bytes: int = 0, unacknowledged: int = 0, open_actions: int = 0
    ) -> None:
        self.records = records
        self.bytes = bytes
        self.unacknowledged = unacknowledged
        self.open_actions = open_actions


def admits(
    limits: SpoolLimits, usage: Usage, admission: Admission, records: int, bytes: int
) -> bool:
    """Return whether new records and bytes fit, with everything that is promised already.

    `records` and `bytes` are what the whole operation adds, its own promises included.
    """
    if admission == "recovery":
        return True
    records += usage.records + WRITER_RECORDS
    bytes += usage.bytes
    if admission == "finishing":
        return records <= limits.records and bytes <= limits.bytes
    records += ACK_RECORDS * usage.unacknowledged + FINISH_RECORDS * usage.open_actions
    bytes += ACK_BYTES * usage.unacknowledged + FINISH_BYTES * usage.open_actions
    if admission == "pause":
        return records <= limits.records and bytes <= limits.bytes
    return records <= limits.records - HEADROOM_RECORDS and bytes <= limits.bytes - HEADROOM_BYTES
