"""Tokens with a prefix of their own: each one is hidden whole, wherever it stands, and its name is not."""

import json

import pytest

from agentfeedback.scrub import SUBMIT, Scrubber
from agentfeedback.scrub.prefixes import PREFIXES

_AN = "a1B2c3D4e5F6"
_HX = "0a1b2c3d4e5f"


def _of(length: int, characters: str = _AN) -> str:
    return (characters * (length // len(characters) + 1))[:length]


def _body(characters: str, least: int) -> str:
    """Characters that every class of the table holds: hexadecimal, or capitals where only those are."""
    if characters == "[A-Z0-9]":
        return _of(least, "A1B2C3")
    return _of(least, _HX if "A-Z" not in characters else _AN)


TOKENS = [prefix + _body(*rest) for prefix, rest in PREFIXES.items()]
TOKENS += [
    "pat" + "." + _of(22) + "." + _of(24, _HX) + "." + _of(20),
    "pat" + _of(14) + "." + _of(64, _HX),
    "A3" + "-" + "A1B2C3-D4E5F6-A1B2C-D4E5F-A1B2C-D4E5F",
    "dt0" + "c01." + _of(24, "A1B2C3") + "." + _of(64, "A1B2C3"),
    "v1.0" + "-" + _of(24, _HX) + "-" + _of(146, _HX),
    _of(14) + ".atlas" + "v1." + _of(67),
    _of(6) + "_" + _of(29) + "_m" + "mk",
    _of(76) + "AZ" + "DO" + _of(4),
    _of(32, _HX) + "-u" + "s14",
    "sg" + "p_local_" + _of(40, _HX),
    "re" + "_" + _of(8) + "_" + _of(24),
    "ey" + "JrIjoi" + _of(90),
    "ZX" + "lK" + _of(160),
]


@pytest.mark.parametrize("token", TOKENS, ids=range(len(TOKENS)))
def test_a_token_with_a_prefix_is_hidden_whole(token: str) -> None:
    for text in (
        f"see {token} there",
        json.dumps({"a": json.dumps({"b": f"x\n{token}"})}),
        f"({token},{token})",
        f"<b>{token}</b>",
        f"see \x1b[1m{token[:9]}\x1b[0m{token[9:]} there",
    ):
        scrubbed = Scrubber(SUBMIT).text(text)
        assert "[REDACTED:" in scrubbed
        assert token[-10:] not in scrubbed and token[8:18] not in scrubbed
    assert "[REDACTED:api_token]" not in Scrubber(SUBMIT).text(f"x{token}")


@pytest.mark.parametrize("prefix", PREFIXES)
def test_a_prefix_alone_is_a_word(prefix: str) -> None:
    for text in (prefix, f"{prefix}name", f"the {prefix} of the service"):
        assert Scrubber(SUBMIT).text(text) is text


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        (
            "https://a.webhook." + "office.com/webhookb2/{}@{}/IncomingWebhook/{}/{}",
            "0a1b2c3d-4e5f-0a1b-2c3d-4e5f0a1b2c3d",
        ),
        ("https://hooks." + "zapier.com/hooks/catch/1234567/{}/", "a1b2c3d/"),
        ("https://{}@dev.azure.com/a/b/_git/c", "a1B2" * 13),
        ("https://a.blob.core.windows.net/b?sv=2024&sig={}&se=1", "aB3%2F" * 8),
    ],
    ids=["Teams", "Zapier", "a token as a user", "a shared access signature"],
)
def test_a_secret_in_an_address_is_hidden(text: str, hidden: str) -> None:
    text = text.replace("{}", hidden)
    assert hidden not in Scrubber(SUBMIT).text(f"see {text} there")
