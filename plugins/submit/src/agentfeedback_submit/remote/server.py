"""Local or remote: which server a run talks to, if any. Pure."""

from __future__ import annotations

from attrs import field, frozen

from agentfeedback import __version__
from agentfeedback.config.resolve import VARIABLES, ResolvedSetting
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.urls import PRINTABLE, base_url

#: How this program names itself to a server, and in the context of a report.
CLIENT = f"agentfeedback/{__version__}"
SUBMISSIONS = "/api/v1/submissions"
META = "/api/v1/meta"
#: What a spool entry of this machine's own database is bound to.
LOCAL = "local"


class ClientSetupError(AgentFeedbackError):
    """The destination cannot be used as it is configured (outcome `error`, reason `client_setup`)."""


@frozen(eq=False)
class ServerSettings:
    """A server to talk to: its base URL without a slash at the end, and the key."""

    url: str
    key: str = field(repr=False)


def one_mode(*, local: bool, server: str) -> None:
    """Raises `UsageError` where a command line asks for both modes."""
    if local and server:
        raise UsageError("--local and --server are both given", "give one of them")


def server_of(
    url: ResolvedSetting, key: ResolvedSetting, *, local: bool = False
) -> ServerSettings | None:
    """The server to talk to; None in local mode.

    Raises `ClientSetupError` where one is configured that cannot be used, `UsageError` where the URL is a
    flag's. No text of either error holds the key, or a password of the URL.
    """
    if local or not url.value:
        return None
    try:
        base = base_url(url.value)
    except ValueError as error:
        if url.source == "flag":
            raise UsageError(f"--server is not a server URL: {error}", _EXAMPLE) from None
        raise ClientSetupError(
            f"the configured url is not a server URL: {error}", _EXAMPLE
        ) from None
    if not key.value:
        raise ClientSetupError(
            "a server is configured and no key",
            f"set {VARIABLES['api_key']}, or api_key in the configuration, or pass --local",
        )
    if not PRINTABLE.fullmatch(key.value):
        raise ClientSetupError(
            "the key holds characters that no header can carry", "correct the key"
        ) from None
    return ServerSettings(base, key.value)


_EXAMPLE = "write it like https://feedback.example.org"
