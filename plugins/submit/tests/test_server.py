"""Which server a run talks to, and through what."""

from __future__ import annotations

import os
from urllib.request import getproxies_environment

import pytest

from agentfeedback.config.resolve import ResolvedSetting
from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.urls import base_url
from agentfeedback_submit.remote.proxies import Proxy, proxy_for
from agentfeedback_submit.remote.server import ClientSetupError, server_of

KEY = ResolvedSetting("k" * 20, "env")


def asked(monkeypatch: pytest.MonkeyPatch, url: str, environ: dict[str, str]) -> Proxy | None:
    """The proxy for a URL in a process with this environment alone."""
    monkeypatch.setattr(os, "environ", environ)
    return proxy_for(url, getproxies_environment())


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("https://x.example", "https://x.example"),
        ("HTTPS://X.Example/", "https://x.example"),
        ("https://x.example/feed//", "https://x.example/feed"),
        ("https://x.example:443/a", "https://x.example/a"),
        ("http://x.example:80", "http://x.example"),
        ("http://x.example:8080", "http://x.example:8080"),
        ("http://[::1]:8080/", "http://[::1]:8080"),
    ],
)
def test_one_server_has_one_base_url(text: str, form: str) -> None:
    """However it is written, reports for it are bound to one name; the form is its own form."""
    assert base_url(text) == base_url(form) == form


@pytest.mark.parametrize(
    "text",
    [
        "x.example",
        "ftp://x.example",
        "https://",
        "https:///path",
        "https://user@x.example",
        "https://user:hunter2@x.example",
        "https://user:hun/ter2@x.example",
        "https://x.example?hunter2",
        "https://x.example/#hunter2",
        "https://x.example?",
        "https://x.example:port",
        "https://x.example:99999",
        "https://[x.example",
        "https://x .example",
        "https://x.example\n",
        "https://ünicode.example",
        "https://x.example\\@y.example",
        "javascript:alert(1)",
    ],
)
def test_what_is_no_base_url_is_refused_without_being_quoted(text: str) -> None:
    """The reason names the rule; a password in the URL is not in it."""
    with pytest.raises(ClientSetupError) as raised:
        server_of(ResolvedSetting(text, "config"), KEY)
    assert "hunter2" not in str(raised.value) and "ter2" not in str(raised.value)
    with pytest.raises(UsageError):
        server_of(ResolvedSetting(text, "flag"), KEY)


def test_mode() -> None:
    """Local without a URL or when asked for; remote otherwise, and then with a key."""
    url = ResolvedSetting("https://x.example", "config")
    assert server_of(ResolvedSetting(), KEY) is None
    assert server_of(url, KEY, local=True) is None
    server = server_of(url, KEY)
    assert server is not None and (server.url, server.key) == (url.value, KEY.value)
    assert KEY.value not in repr(server)
    for key in ("", "two words", "line\nbreak", "ümlaut"):
        with pytest.raises(ClientSetupError) as raised:
            server_of(url, ResolvedSetting(key, "env"))
        assert not key or key not in str(raised.value)
