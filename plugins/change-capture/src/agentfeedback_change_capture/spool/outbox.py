"""Envelopes that wait for a Hub: their names, and which of them are acknowledged."""

from __future__ import annotations


class Pending:
    """An envelope without an acknowledgement.

    `kind` is one of `events`, `action_start`, `action_finish`, `usage`; `order` is its place in the
    spool, `sha256` the digest of `data`, the file's bytes.
    """

    __slots__ = ("data", "kind", "name", "order", "sha256")

    def __init__(self, name: str, order: int, kind: str, data: bytes, sha256: str) -> None:
        self.name = name
        self.order = order
        self.kind = kind
        self.data = data
        self.sha256 = sha256
