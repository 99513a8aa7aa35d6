"""Secret names of table B.

A name counts by how it ends, so counters such as `max_tokens` stay readable.
"""

import re
from functools import lru_cache

_ENDINGS = (
    "password",
    "passwd",
    "passphrase",
    "token",
    "secret",
    "apikey",
    "secretkey",
    "accesskey",
    "privatekey",
    "signingkey",
    "encryptionkey",
    "dsn",
    "databaseurl",
    "connectionstring",
    "authorization",
    "cookie",
    "credential",
    "credentials",
)
_LAST_PARTS = ("pass", "pwd", "auth")
_SEPARATORS = re.compile(r"[-_. ]+")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")

# The same endings as they are searched for in a text: with one separator between the words.
_WORDS = (
    "pass[-_. ]?(?:word|wd|phrase)|token|secret|dsn|authorization|cookie|credentials?"
    "|(?:api|secret|access|private|signing|encryption)[-_. ]?key"
    "|data[-_. ]?base[-_. ]?url|connection[-_. ]?string"
)
NAME_END = rf"(?:{_WORDS}|(?P<part>pass|pwd|auth))"
"""Where a secret name ends, any case; a match of group `part` needs `is_part` too."""
NAME_END_HINT = rf"(?:{_WORDS}|pass|pwd|auth)"

NEEDLES = (
    *("pass", "pwd", "token", "secret", "key", "dsn", "url", "string", "auth", "cookie"),
    "credential",
)
"""One of these is in every secret name."""

LONGEST_NAME = 128
LONGEST_END = 40
"""No ending is longer, with the separators and the quote after it."""

NAME_BYTES = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
_LETTERS = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
_UPPER = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
_DIGITS = frozenset(b"0123456789")


@lru_cache(maxsize=2048)
def _is_secret(name: str) -> bool:
    joined = _SEPARATORS.sub("", name).lower()
    if joined.endswith(_ENDINGS):
        return True
    if not joined.endswith(_LAST_PARTS):
        return False
    parts = [part for part in _SEPARATORS.split(_CAMEL.sub("_", name)) if part]
    return parts[-1].lower() in _LAST_PARTS


def is_secret(name: str) -> bool:
    """Whether the value under this name is secret."""
    # Only the end decides; a longer name is not worth a place in the cache.
    return _is_secret(name[-LONGEST_NAME:])


def is_part(buf: bytes, start: int) -> bool:
    r"""Whether a part of a name begins at `start`: `pass` in `DB_PASS` and `dbPass`, not `bypass`.

    An escaped line break or tab before it (`\npass=`) is not part of the name.
    """
    if start == 0 or (buf[start - 1] not in _LETTERS and buf[start - 1] not in _DIGITS):
        return True
    before = buf[start - 1]
    if before in b"nrt" and start > 1 and buf[start - 2] == 0x5C:
        return True
    if buf[start] not in _UPPER:
        return False
    return before not in _UPPER or buf[start + 1] not in _UPPER


def name_start(buf: bytes, pos: int) -> int:
    """Return where the name around `pos` begins, at most `LONGEST_NAME` bytes before."""
    stop = max(0, pos - LONGEST_NAME)
    while pos > stop and buf[pos - 1] in NAME_BYTES:
        pos -= 1
    return pos
