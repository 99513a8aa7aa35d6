"""URLs of servers: one form for one server, and never a password on the screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentfeedback.foundation.urls import base_url, shown_url


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("https://x .example", "white space"),
        ("https://x.example\\@y.example", "white space"),
        ("https://\u00fcnicode.example", "beyond ASCII"),
        ("https://[x.example", "malformed"),
        ("https://x.example:99999", "malformed"),
        ("ftp://x.example", "neither http nor https"),
        ("x.example", "neither http nor https"),
        ("https://user:secret@x.example", "a user name or password"),
        ("https:///path", "no host"),
        ("https://x.example?", "a query or a fragment"),
        ("https://x.example/#a", "a query or a fragment"),
    ],
)
def test_what_is_not_a_base_url_is_refused(text: str, reason: str) -> None:
    """The reason names the rule and quotes nothing of the text."""
    with pytest.raises(ValueError, match=reason) as raised:
        base_url(text)
    assert "secret" not in str(raised.value) and "example" not in str(raised.value)


@given(
    st.sampled_from(["http", "https", "HTTPS"]),
    st.sampled_from(["x.example", "X.example", "[::1]", "127.0.0.1"]),
    st.sampled_from(["", ":80", ":443", ":8080"]),
    st.sampled_from(["", "/", "/a/b", "/a//"]),
)
def test_the_form_of_a_base_url_is_its_own_form(
    scheme: str, host: str, port: str, path: str
) -> None:
    """Scheme and host in lower case, no port where the scheme means it, no slash at the end."""
    form = base_url(f"{scheme}://{host}{port}{path}")
    assert base_url(form) == form
    usual = {"http": ":80", "https": ":443"}[scheme.lower()]
    shown = "" if port == usual else port
    assert form == f"{scheme.lower()}://{host.lower()}{shown}{path.rstrip('/')}"


@given(
    st.text(st.characters(codec="utf-8", exclude_characters="@:"), min_size=1),
    st.text(st.characters(codec="utf-8", exclude_characters="@"), min_size=3),
)
def test_no_password_is_shown(user: str, password: str) -> None:
    """Whatever characters it has, slashes too: what stands before the last @ is gone."""
    shown = shown_url(f"https://{user}:{password}@h.example/a")
    assert shown == "https://h.example/a"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("", ""),
        ("https://h.example/a", "https://h.example/a"),
        ("http://127.0.0.1:8090", "http://127.0.0.1:8090"),
        ("https://h.example/a?key=b#c", "https://h.example/a"),
        ("https://h.example/#a", "https://h.example/"),
        ("https://h.example;a=b", "https://h.example"),
        ("ftp://a:b@h.example/c", "ftp://h.example… (malformed)"),
        ("https://user:secret", "https://user… (malformed)"),
        ("user:secret@h.example", "(malformed, not shown)"),
        ("key=secret", "(malformed, not shown)"),
    ],
)
def test_a_url_is_shown_without_what_can_be_a_key(url: str, shown: str) -> None:
    assert shown_url(url) == shown
