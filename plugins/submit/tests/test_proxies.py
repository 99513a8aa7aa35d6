"""Which proxy a request takes, by the environment."""

from __future__ import annotations

import os
from urllib.request import getproxies_environment

import pytest

from agentfeedback_submit.remote.proxies import Proxy, proxy_for
from agentfeedback_submit.remote.server import ClientSetupError


def asked(monkeypatch: pytest.MonkeyPatch, url: str, environ: dict[str, str]) -> Proxy | None:
    """The proxy for a URL in a process with this environment alone."""
    monkeypatch.setattr(os, "environ", environ)
    return proxy_for(url, getproxies_environment())


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
