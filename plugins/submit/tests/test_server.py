"""Which server a run talks to, and through what."""

from __future__ import annotations

import os
from typing import Any
from urllib.request import getproxies_environment

import pytest

from agentfeedback.config.resolve import ResolvedSetting, resolve
from agentfeedback.config.shape import Config
from agentfeedback.foundation.errors import UsageError
from agentfeedback.foundation.urls import base_url
from agentfeedback_submit.remote.proxies import Proxy, proxy_for
from agentfeedback_submit.remote.server import ClientSetupError, Key, keys_of, server_of

KEY = Key("k" * 20, None)


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
        server_of(ResolvedSetting(text, "config"), [KEY])
    assert "hunter2" not in str(raised.value) and "ter2" not in str(raised.value)
    with pytest.raises(UsageError):
        server_of(ResolvedSetting(text, "flag"), [KEY])


def test_mode() -> None:
    """Local without a URL or when asked for; remote otherwise, and then with a key."""
    url = ResolvedSetting("https://x.example", "config")
    assert server_of(ResolvedSetting(), [KEY]) is None
    assert server_of(url, [KEY], local=True) is None
    server = server_of(url, [KEY])
    assert server is not None and (server.url, server.key) == (url.value, KEY.value)
    assert KEY.value not in repr(server)
    with pytest.raises(ClientSetupError, match="no key"):
        server_of(url, [])
    for key in ("two words", "line\nbreak", "ümlaut"):
        with pytest.raises(ClientSetupError) as raised:
            server_of(url, [Key(key, None)])
        assert key not in str(raised.value)


A, B = "https://a.example", "https://b.example"


@pytest.mark.parametrize(
    ("config", "environ", "flag", "sent"),
    [
        # What is configured together is sent together.
        ({"url": A, "api_key": "filekey"}, {}, "", "filekey"),
        ({"url": A, "api_key": "filekey"}, {}, "HTTPS://A.example:443/", "filekey"),
        ({"url": A}, {"API_KEY": "envkey"}, "", "envkey"),
        ({}, {"URL": A, "API_KEY": "envkey"}, "", "envkey"),
        ({"url": B, "api_key": "filekey"}, {"URL": A, "API_KEY": "envkey"}, "", "envkey"),
        ({"url": B, "api_key": "filekey"}, {"URL": A, "API_KEY": "envkey"}, B, "filekey"),
        ({}, {"API_KEY": "envkey"}, A, "envkey"),
        # A key never goes to another server.
        ({"url": A, "api_key": "filekey"}, {}, B, A),
        ({"url": A, "api_key": "filekey"}, {}, f"{A}:8443", A),
        ({"url": A, "api_key": "filekey"}, {}, f"{A}/other", A),
        ({"url": A, "api_key": "filekey"}, {"URL": B}, "", A),
        ({"url": A}, {"API_KEY": "envkey"}, B, A),
        ({}, {"URL": A, "API_KEY": "envkey"}, B, A),
        ({"api_key": "filekey"}, {}, A, "no url"),
        ({"api_key": "filekey"}, {"URL": A}, "", "no url"),
        ({"url": "https://us:pass-word@a.example", "api_key": "filekey"}, {}, B, A),
    ],
)
def test_a_key_belongs_to_one_server(
    config: dict[str, str], environ: dict[str, str], flag: str, sent: str
) -> None:
    """It is sent to the URL it is configured with, or the message names that URL, and no part of a key or password."""
    config = {"url": "", "api_key": "", **config}
    environ = {f"AGENT_FEEDBACK_{name}": value for name, value in environ.items()}
    url = resolve("url", Config(**config), environ, flag)
    keys = keys_of(config, environ)
    if sent.endswith("key"):
        server = server_of(url, keys)
        assert server is not None and server.key == sent
        return
    with pytest.raises(ClientSetupError) as raised:
        server_of(url, keys)
    shown = str(raised.value)
    assert f"belongs to {sent}" in shown and "set AGENT_FEEDBACK_URL" in shown
    assert "key;" not in shown.replace("configured key", "") and "pass-word" not in shown


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("localhost", True),
        ("LOCALHOST:8090", True),
        ("feed.localhost", True),
        ("127.0.0.1:8090", True),
        ("127.255.3.9", True),
        ("[::1]:8090", True),
        ("localhost.example", False),
        ("notlocalhost", False),
        ("127.0.0.1.example", False),
        ("127.0.0.256", False),
        ("128.0.0.1", False),
        ("10.0.0.1", False),
        ("[::2]", False),
        ("0.0.0.0", False),
        ("feedback.example", False),
    ],
)
def test_a_key_does_not_travel_in_clear_text(host: str, loopback: bool) -> None:
    """Plain http is for this machine alone; https is for every host."""
    for source in ("config", "env", "flag"):
        url = ResolvedSetting(f"http://{host}", source)
        assert server_of(ResolvedSetting(f"https://{host}", source), [KEY]) is not None
        if loopback:
            server = server_of(url, [KEY])
            assert server is not None
            assert proxy_for(server.url, {"http": "http://p:1", "all": "http://p:1"}) is None
        else:
            with pytest.raises(ClientSetupError, match="in clear text .*; use https"):
                server_of(url, [KEY])


def test_every_command_keeps_the_key_from_another_server(machine: Any, server: Any) -> None:
    """Whatever asks a server, no request reaches one that the key does not belong to, and the report is kept."""
    machine.config(f'url = "https://a.example"\napi_key = "{server.key}"\n')
    for words in (
        ("submit", "friction", "--summary", "s"),
        ("list",),
        ("show", "1"),
        ("stats",),
        ("processed", "1"),
        ("redact", "1", "--yes"),
        ("export",),
        ("flush",),
        ("ingest",),
    ):
        result = machine.call(*words, "--server", server.url)
        assert result.status == 1, words
        shown = result.text + result.err
        assert f"no key for {server.url}: the configured key belongs to https://a.example" in shown
        assert server.key not in shown
    told = machine.call("doctor", "--json", AGENT_FEEDBACK_URL=server.url).text
    assert "the configured key belongs to https://a.example" in told and server.key not in told
    assert server.requests == []
