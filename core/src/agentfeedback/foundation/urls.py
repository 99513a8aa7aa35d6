"""URLs of servers: their one form, and how they are shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

#: What a URL and a header may hold: ASCII without white space.
PRINTABLE = re.compile(r"[!-~]+", re.ASCII)
_BYTE = "(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])"
_LOOPBACK = re.compile(rf"127(?:\.{_BYTE}){{3}}", re.ASCII)
_SCHEME_AND_HOST = re.compile(r"[a-z]{2,10}://[A-Za-z0-9.-]{1,253}(?=[:/]|\Z)", re.ASCII)
#: The schemes a server may have, with the port each means.
PORTS = {"http": 80, "https": 443}


def shown_url(url: str) -> str:
    """A URL as it may be shown: without a user, a password, a query or a fragment, however odd it is.

    Of a text that is not the URL of a server not even the rest is shown, but for its scheme and host,
    since a key can stand anywhere in it.
    """
    before, scheme, rest = url.strip().rpartition("://")
    # A password may hold a slash: whatever stands before the last @ is not shown.
    plain = re.split(r"[?#;]", before + scheme + rest.rpartition("@")[2], maxsplit=1)[0]
    try:
        base_url(plain)
    except ValueError:
        host = _SCHEME_AND_HOST.match(plain)
        return f"{host[0]}… (malformed)" if host else "(malformed, not shown)" if url else ""
    return plain


def is_loopback(host: str) -> bool:
    """Whether a host of a base URL is this machine: `localhost`, a name below it, 127.0.0.0/8, `::1`."""
    return (
        host in ("localhost", "::1")
        or host.endswith(".localhost")
        or bool(_LOOPBACK.fullmatch(host))
    )


def base_url(text: str) -> str:
    """The one form of a base URL; raises `ValueError` with the reason, which quotes nothing of it."""
    if not PRINTABLE.fullmatch(text) or "\\" in text:
        raise ValueError("it holds white space or characters beyond ASCII")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname, parts.port
    except ValueError:
        raise ValueError("its host or port is malformed") from None
    if parts.scheme not in PORTS:
        raise ValueError("it is neither http nor https")
    if "@" in parts.netloc:
        raise ValueError("it holds a user name or password")
    if not host:
        raise ValueError("it names no host")
    if "?" in text or "#" in text:
        raise ValueError("it has a query or a fragment")
    shown = f"[{host}]" if ":" in host else host
    if port is not None and port != PORTS[parts.scheme]:
        shown += f":{port}"
    return f"{parts.scheme}://{shown}{parts.path.rstrip('/')}"
