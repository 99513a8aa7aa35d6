"""Local or remote: which server a run talks to, if any. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from attrs import field, frozen

from agentfeedback import __version__
from agentfeedback.config.resolve import VARIABLES, ResolvedSetting
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.urls import PRINTABLE, base_url, is_loopback, shown_url

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
        raise UsageError("--local and --server cannot be combined", "give one of them")


@frozen(eq=False)
class Key:
    """A key and the URL of the one server it may be sent to; None: the server that is named."""

    value: str = field(repr=False)
    url: str | None


def keys_of(config: Mapping[str, str], environ: Mapping[str, str]) -> list[Key]:
    """The keys there are, that of the environment first. `config` holds `url` and `api_key`, empty where unset.

    A key belongs to the URL it is configured with. One of the environment without a URL there
    belongs to that of the file; where no URL is configured at all, to the server named.
    """
    own, url = environ.get(VARIABLES["api_key"], ""), environ.get(VARIABLES["url"], "")
    keys = [Key(own, url or config["url"] or None)] if own else []
    return [*keys, Key(config["api_key"], config["url"])] if config["api_key"] else keys


def server_of(
    url: ResolvedSetting, keys: Sequence[Key], *, local: bool = False
) -> ServerSettings | None:
    """The server to talk to, with the first key that belongs to it; None in local mode.

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
    if not keys:
        raise ClientSetupError(
            "a server is configured and no key",
            f"set {VARIABLES['api_key']}, or api_key in the configuration, or pass --local",
        )
    key = next((each for each in keys if each.url is None or _form(each.url) == base), None)
    if key is None:
        other = shown_url(keys[0].url or "") or "no url"
        raise ClientSetupError(
            f"no key for {base}: the configured key belongs to {other}",
            f"set {VARIABLES['url']} and {VARIABLES['api_key']} for it",
        )
    parts = urlsplit(base)
    if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
        raise ClientSetupError(f"the key would travel in clear text to {base}", "use https")
    if not PRINTABLE.fullmatch(key.value):
        raise ClientSetupError(
            "the key holds characters that no header can carry", "correct the key"
        ) from None
    return ServerSettings(base, key.value)


def _form(url: str) -> str:
    try:
        return base_url(url)
    except ValueError:
        return ""


_EXAMPLE = "write it like https://feedback.example.org"
