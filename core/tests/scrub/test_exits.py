"""The exit table: every kind of secret, in every surrounding that a transcript puts it in."""

import base64
import itertools
import json
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.scrub import SUBMIT, Scrubber
from tests.support import scrub_parts as parts

SURROUNDINGS: dict[str, Callable[[str], str]] = {
    "alone": lambda secret: secret,
    "words": lambda secret: f"see {secret} there",
    "underscore": lambda secret: f"X_{secret}",
    "json": lambda secret: json.dumps({"a": f"x\n{secret}"}),
    "json in json": lambda secret: json.dumps({"a": json.dumps({"b": f"x\n{secret}\ny"})}),
    "markup": lambda secret: f"<b>{secret}</b>",
    "glued": lambda secret: f"({secret},{secret})",
    "behind a cut": lambda secret: "y" * 200 + " " + secret,
}


#: Hexadecimal behind an underscore is part of an id.
EXCEPTED = ("mailgun_key", "underscore")


@pytest.mark.parametrize(
    ("kind", "where"),
    [each for each in itertools.product(parts.TOKENS, SURROUNDINGS) if each != EXCEPTED],
)
def test_nothing_of_a_token_is_left(kind: str, where: str) -> None:
    for token in parts.TOKENS[kind]:
        scrubber = Scrubber(SUBMIT)
        text = SURROUNDINGS[where](token)
        assert scrubber.text(text) == text.replace(token, f"[REDACTED:{kind}]")
        assert token[-12:] not in scrubber.clip(text, 240)


@pytest.mark.parametrize("kind", parts.TOKENS)
def test_part_of_a_longer_word_is_no_token(kind: str) -> None:
    for token in parts.TOKENS[kind]:
        text = f"x{token}"
        assert f"[REDACTED:{kind}]" not in Scrubber(SUBMIT).text(text)


@pytest.mark.parametrize("template", parts.NAMED)
@pytest.mark.parametrize("where", ["alone", "json", "json in json"])
def test_nothing_of_a_named_secret_is_left(template: str, where: str) -> None:
    for secret in parts.NAMED[template]:
        text = SURROUNDINGS[where](template.format(secret))
        assert secret not in Scrubber(SUBMIT).text(text)


@pytest.mark.parametrize(
    "text",
    [
        "sk-learn-upgrade-to-new-version",
        "xoxb-and-other-names-of-tokens",
        "Authorization: required",
        "Authorization: see below",
        "the authorization: getToken(user)",
        '"Authorization: " + header(token)',
        "Authorization: Bearer <your token>",
        "Authorization: Bearer ${token}",
        "Cookie: none",
        "set-cookie headers are kept",
        "-----BEGIN PUBLIC KEY-----\nabc",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b",
        "key-value and hvs.short and SK00",
    ],
)
def test_text_without_a_secret_stays(text: str) -> None:
    assert Scrubber(SUBMIT).text(text) is text


BODY = [("aB3/" * 16)[:64], "aB3+" * 16, "Zz09xyz="]


@pytest.mark.parametrize(("opener", "closer"), parts.BLOCKS)
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\\n", "\\\\n"])
def test_key_block_is_hidden_whole_or_cut_off(opener: str, closer: str, newline: str) -> None:
    block = newline.join([opener, *BODY, closer])
    for text in (f"a {block} z", f"{block}{newline}{block}"):
        assert Scrubber(SUBMIT).text(text) == text.replace(block, "[REDACTED:private_key]")
    open_block = newline.join([opener, *BODY])
    after = f"{newline}Some prose stays, with words.{newline}"
    assert Scrubber(SUBMIT).text(open_block + after) == "[REDACTED:private_key]" + after
    quoted = f'{{"key": "{open_block}"}}'
    assert Scrubber(SUBMIT).text(quoted) == '{"key": "[REDACTED:private_key]"}'


def test_lone_opener_hides_its_own_lines_only() -> None:
    opener = parts.PARTS["pemopen"]
    assert Scrubber(SUBMIT).text(f"grep '{opener}' *.pem") == "grep '[REDACTED:private_key]' *.pem"
    numbered = "\n".join([f"  1→{opener}", *(f"  {n}→{b}" for n, b in enumerate(BODY, 2)), "x: y"])
    assert Scrubber(SUBMIT).text(numbered) == "  1→[REDACTED:private_key]\nx: y"
    far = "\n".join([opener, *["a b"] * 70, parts.PARTS["pemclose"]])
    assert Scrubber(SUBMIT).text(far) == far.replace(opener, "[REDACTED:private_key]")


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    pieces=st.lists(
        st.sampled_from(
            [
                *(token for tokens in parts.TOKENS.values() for token in tokens),
                *(opener for pair in parts.BLOCKS for opener in pair),
                *("\x1b[0m", "\x1b", "[0m", "\x00", "\u200b", "\x01", "\\\n"),
                *("Authorization: ", "Cookie: ", "a=b", '"', "\\", "\n", " ", "-", "x", "curl -b "),
            ]
        ),
        max_size=8,
    )
)
def test_the_exit_table_settles(pieces: list[str]) -> None:
    scrubber = Scrubber(SUBMIT)
    once = scrubber.text("".join(pieces))
    assert scrubber.text(once) == once


UNSEEN = (
    *("\x1b[0m", "\x1b[1;31m", "\x1b[K", "\x1b]0;title\x07", "\x00", "\u00ad", "\u200b", "\u200d"),
    *("\u202e", "\u2066", "\ufeff", "\\x1b[0m", "\\u001b[1m", "\\033[0m", "\\\n"),
)


@pytest.mark.parametrize("unseen", UNSEEN, ids=range(len(UNSEEN)))
@pytest.mark.parametrize("kind", parts.TOKENS)
def test_what_nobody_sees_keeps_no_token(kind: str, unseen: str) -> None:
    for token in parts.TOKENS[kind]:
        for at in (0, 3, len(token) // 2, len(token) - 2, len(token)):
            text = f"see {token[:at]}{unseen}{token[at:]} there"
            scrubber = Scrubber(SUBMIT)
            scrubbed = scrubber.text(text)
            assert "[REDACTED:" in scrubbed
            assert token[-6:] not in scrubbed and token[4:12] not in scrubbed
            assert scrubbed.startswith("see ") and scrubbed.endswith(" there")
            assert scrubber.text(scrubbed) == scrubbed


@pytest.mark.parametrize("unseen", UNSEEN, ids=range(len(UNSEEN)))
def test_what_nobody_sees_between_a_name_and_its_value(unseen: str) -> None:
    for text in (
        f"password{unseen}={unseen}{parts.PW}{unseen}",
        f"pass{unseen}word: {parts.PW}",
        f"Authori{unseen}zation: Basic {parts.PW}",
        f"http://u{unseen}ser:{parts.PW}@host/",
    ):
        assert parts.PW not in Scrubber(SUBMIT).text(text)


@pytest.mark.parametrize("unseen", UNSEEN, ids=range(len(UNSEEN)))
def test_text_without_a_secret_keeps_what_nobody_sees(unseen: str) -> None:
    text = f"make {unseen}all{unseen} \x01 done"
    assert Scrubber(SUBMIT).text(text) is text


def test_a_token_behind_a_coloured_letter_is_hidden() -> None:
    token = parts.TOKENS["npm_token"][0]
    assert token not in Scrubber(SUBMIT).text(f"key\x1b[1m{token}\x1b[0m")


def test_escapes_inside_of_escapes_end() -> None:
    nested = "\x1b[" * 3 + "\\x1" * 20_000 + "b[0m" * 20_000
    scrubber = Scrubber(SUBMIT)
    once = scrubber.text(nested)
    assert scrubber.text(once) == once


@pytest.mark.parametrize(
    "hide",
    [
        lambda token: base64.b64encode(token.encode()).decode(),
        lambda token: "".join(f"%{byte:02X}" for byte in token.encode()),
        "\\x00".join,
        lambda token: token.replace("a", "\u0430"),
        lambda token: token[:20] + "\n" + token[20:],
    ],
    ids=["base64", "percent-encoding", "utf-16", "look-alike letters", "over lines"],
)
def test_known_limits_stay_known(hide: Callable[[str], str]) -> None:
    """What the documentation names as not found: a change here is a change of what is promised."""
    text = hide(parts.TOKENS["npm_token"][0])
    assert Scrubber(SUBMIT).text(text) == text
