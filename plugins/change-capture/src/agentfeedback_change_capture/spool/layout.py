"""Where every record of a spool is, and how it is named; pure.

A name that is not here is debris of a crash or of somebody else: it is quarantined by name alone.
"""

from __future__ import annotations

import re

VERSION = 4
SPOOL_LOCK, MANAGED_LOCK, CHECKOUT_LOCK = "spool.lock", "managed.lock", "checkout.lock"
FORMAT, NAMESPACE, SCOPE = "format.json", "namespace.json", "scope.json"
LIMITS, ORDER, COMPACTION, CURSOR = "limits.json", "order.json", "compaction.json", "cursor.json"
CHECKOUT = "checkout.json"

ROOT = ""
SESSIONS, OBSERVATIONS, SOURCES = "sessions", "observations", "sources"
ARTIFACTS, ACTIONS, ATTEMPTS = "artifacts", "actions", "attempts"
OUTBOX, ACKS, DEFERRED = "outbox", "acks", "deferred"
HISTORY, QUARANTINE = "history", "quarantine"
FOLDERS = (
    *(SESSIONS, OBSERVATIONS, SOURCES, ARTIFACTS, ACTIONS, ATTEMPTS),
    *(OUTBOX, ACKS, DEFERRED, HISTORY, QUARANTINE),
)
LOCKS = (SPOOL_LOCK, MANAGED_LOCK, CHECKOUT_LOCK)

RECORD_BYTES = 64 << 10
ENVELOPE_BYTES = 256 << 10
#: Both receipts and envelopes are in an action's file.
RECEIPT_BYTES = 64 << 10
#: The ledger of 1,024 active actions does not fit the bound of other records.
ORDER_BYTES = 512 << 10
MOST_ACTIVE = 1024
#: What a scan looks at; a spool with more may only be inspected.
MOST_ENTRIES = 262_144
#: The claims and receipts that a hook looks at: a killed hook can leave fewer unfinished.
NEWEST = 64

_HEX = "[0-9a-f]"
_NAMES = {
    ROOT: "|".join(
        re.escape(name)
        for name in (
            *LOCKS,
            *(FORMAT, NAMESPACE, SCOPE, LIMITS, ORDER, COMPACTION, CURSOR, CHECKOUT),
        )
    ),
    SESSIONS: rf"{_HEX}{{32}}\.json",
    OBSERVATIONS: rf"{_HEX}{{32}}\.json",
    SOURCES: rf"{_HEX}{{64}}\.json",
    ARTIFACTS: rf"{_HEX}{{64}}",
    ACTIONS: rf"{_HEX}{{32}}\.(?:start|finish)\.json",
    ATTEMPTS: rf"{_HEX}{{32}}\.json",
    OUTBOX: rf"[0-9]{{16}}\.{_HEX}{{32}}\.json",
    ACKS: rf"[0-9]{{16}}\.{_HEX}{{32}}\.json",
    DEFERRED: rf"[0-9]{{12}}\.{_HEX}{{16}}\.json",
    HISTORY: rf"{_HEX}{{32}}\.json",
    QUARANTINE: rf"q_{_HEX}{{32}}",
}
_KNOWN = {folder: re.compile(pattern, re.ASCII) for folder, pattern in _NAMES.items()}
_TEMPORARY = re.compile(rf"\.t\.(.+)\.{_HEX}{{16}}", re.ASCII | re.DOTALL)


def is_known(folder: str, name: str) -> bool:
    """Return whether a name is one of a folder's records."""
    return _KNOWN[folder].fullmatch(name) is not None


def temporary(name: str, random: bytes) -> str:
    """Return the name of a record while it is written; `random` has eight bytes."""
    return f".t.{name}.{random.hex()}"


def temporary_target(name: str) -> str | None:
    """Return the name that a temporary file was to get, None for another kind of name."""
    match = _TEMPORARY.fullmatch(name)
    return match[1] if match else None


def envelope_name(order: int, primary: str) -> str:
    """Return the name of an envelope; `primary` is its first event's id or a digest, in hexadecimal."""
    return f"{order:016d}.{primary[:32]}.json"


def envelope_order(name: str) -> int:
    """Return the place of an envelope by its name."""
    return int(name[:16])


def envelope_primary(name: str) -> str:
    """Return the part of an envelope's name that says what it holds."""
    return name[17:49]


def receipt_name(action: str, phase: str) -> str:
    """Return the name of a receipt; `action` is `identities.action_file` of the action's id."""
    return f"{action}.{phase}.json"


def deferred_name(receipt_order: int, event_id: str) -> str:
    """Return the name of a deferred fact; `event_id` is the one that its event would have had."""
    return f"{receipt_order:012d}.{event_id[4:20]}.json"


def label(folder: str, name: str) -> str:
    """Return a record's path below the root of its spool."""
    return f"{folder}/{name}" if folder else name
