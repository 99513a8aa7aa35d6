"""Local or remote: which server a run talks to, if any (platform details 1.2 and 1.3). Pure."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from attrs import field, frozen

from agentfeedback.errors import AgentFeedbackError, UsageError
from agentfeedback.settings import VARIABLES, Setting

#: What a spool entry of this machine's own database is bound to.
LOCAL = "local"
_PRINTABLE = re.compile(r"[!-~]+", re.ASCII)
#: The schemes a server may have, with the port each means.
PORTS = {"http": 80, "https": 443}


class ClientSetup(AgentFeedbackError):
    """The destination cannot be used as it is configured (outcome `error`, reason `client_setup`)."""


@frozen(eq=False)
class Server:
    """A server to talk to: its base URL without a slash at the end, and the key."""

    url: str
    key: str = field(repr=False)


def one_mode(*, local: bool, server: str) -> None:
    """Raises `UsageError` where a command line asks for both modes."""
    if local and server:
        raise UsageError("--local and --server are both given", "give one of them")


def server_of(url: Setting, key: Setting, *, local: bool = False) -> Server | None:
    """The server to talk to; None in local mode.

    Raises `ClientSetup` where one is configured that cannot be used, `UsageError` where the URL is a
    flag's. No text of either error holds the key, or a password of the URL.
    """
    if local or not url.value:
        return None
    try:
        base = base_url(url.value)
    except ValueError as error:
        if url.source == "flag":
            raise UsageError(f"--server is no server URL: {error}", _EXAMPLE) from None
        raise ClientSetup(f"the configured url is no server URL: {error}", _EXAMPLE) from None
    if not key.value:
        raise ClientSetup(
            "a server is configured and no key",
            f"set {VARIABLES['api_key']}, or api_key in the configuration, or pass --local",
        )
    if not _PRINTABLE.fullmatch(key.value):
        raise ClientSetup(
            "the key holds characters that no header can carry", "correct the key"
        ) from None
    return Server(base, key.value)


def base_url(text: str) -> str:
    """The one form of a base URL; raises `ValueError` with the reason, which quotes nothing of it."""
    if not _PRINTABLE.fullmatch(text) or "\\" in text:
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


_EXAMPLE = "write it like https://feedback.example.org"
