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


@pytest.mark.parametrize(
    ("environ", "url"),
    [
        ({}, None),
        ({"http_proxy": "http://p:1"}, None),
        ({"https_proxy": "http://p:1"}, "http://p:1"),
        ({"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "https_proxy": "http://q:2"}, "http://q:2"),
        ({"ALL_PROXY": "http://p:1"}, "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "y.example, *"}, None),
        ({"HTTPS_PROXY": "http://p:1", "https_proxy": ""}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "y.example, x.example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": ".example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "example"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x.example:443"}, None),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "x.example:8443,ample, ,"}, "http://p:1"),
    ],
)
def test_proxy_variables(
    environ: dict[str, str], url: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lower case before upper case, the scheme's own before all_proxy, no_proxy before both."""
    proxy = asked(monkeypatch, "https://x.example/a", environ)
    assert (proxy and proxy.url) == url


def test_proxy_with_credentials_and_proxies_that_are_none() -> None:
    """User and password leave the URL; what cannot be used is named by its variable alone."""
    proxy = proxy_for("https://x.example", {"https": "http://us%40er:hun%2Fter2@p:3128"})
    assert proxy is not None and (proxy.url, proxy.credentials) == (
        "http://p:3128",
        "us@er:hun/ter2",
    )
    assert "ter2" not in repr(proxy)
    for bad in ("socks5://u:hunter2@p:1", "http://", "http://u:hunter2@p:port"):
        with pytest.raises(ClientSetupError) as raised:
            proxy_for("https://x.example", {"https": bad})
        assert "https_proxy" in str(raised.value) and "hunter2" not in str(raised.value)


def test_header_of_a_request_is_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under CGI the variable HTTP_PROXY comes from whoever asks."""
    environ = {"HTTP_PROXY": "http://p:1", "REQUEST_METHOD": "GET"}
    assert asked(monkeypatch, "http://x.example", environ) is None
    assert asked(monkeypatch, "http://x.example", {"HTTP_PROXY": "http://p:1"}) is not None
