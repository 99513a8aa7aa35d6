"""A checksum over the columns of a row: what tells that a row is as it was written. Pure."""

from __future__ import annotations

from collections.abc import Sequence


def checksum(values: Sequence[object]) -> str:
    """Sixteen hex digits for the values of a row's columns: texts, whole numbers and None.

    Empty for a value of any other type, which no row is written with.
    """
    # Not before there is a row: both cost start-up time.
    import hashlib
    import json

    if not all(value is None or type(value) in (int, str) for value in values):
        return ""
    text = json.dumps(list(values), separators=(",", ":")).encode()
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def is_sound(values: Sequence[object], kept: object) -> bool:
    """Whether a row is the one its checksum was made of; a row of an earlier version has no checksum (None)."""
    return kept is None or (kept != "" and kept == checksum(values))
