"""A key in a wrong place of the configuration is shown by no command: a URL, another line, a name, a flag."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.support.machine import Machine, prompt

#: Two kinds: one that is known by its form, one that only its place gives away.
TOKEN = "gh" + "p_" + "Zq7xKp2mVw9t" * 3
OPAQUE = "Zq7xKp2mVw9t" + "Rb4Lh8"
PIECE = 6

URLS = (
    "https://user:§@127.0.0.1:9/",
    "https://§@127.0.0.1:9/",
    "https://:§@127.0.0.1:9",
    "https://us/er:pa#§@127.0.0.1:9/",
    "https://127.0.0.1:9/?key=§",
    "https://127.0.0.1:9/?api_key=§&a=1",
    "https://127.0.0.1:9/?§",
    "https://127.0.0.1:9/#§",
    "https://127.0.0.1:9/#access_token=§",
    "http://127.0.0.1:9/?token=§",
    "ftp://user:§@127.0.0.1/",
    "user:§@127.0.0.1:9",
    "//user:§@127.0.0.1:9/",
    "https:/user:§@127.0.0.1",
    "https:user:§@127.0.0.1",
    "htps://user:§@127.0.0.1/",
    "https://127.0.0.1:9;key=§",
    "https://user:§",
    "api_key=§",
    "key=§ https://127.0.0.1:9",
    "javascript:alert('?key=§')",
    " https://user:§@127.0.0.1:9/ ",
    "https://user:§@[::1/",
    "https://[§]/?key=§",
    "https://127.0.0.1:§/",
)
#: Wrong lines; what is not TOML, and what is and means nothing.
LINES = (
    "§",
    "api_key: §",
    "api_key §",
    "api_key = §",
    "api_key = '§",
    'api_key = "§" "',
    'api-key = "§"',
    'apikey = "§"',
    'API_KEY = "§"',
    'key = "§"',
    'token = "§"',
    '"api_key=§" = 1',
    '["api_key=§"]',
    '[server]\napi_key = "§"',
    'api_key = ["§"]',
    'api_key = { value = "§" }',
    'api_key = "§"\napi_key = "§"',
    "api_key = 5 # §",
    '[collect]\napi_key = "§"',
    '[collect]\ndeny_paths = ["api_key=§"]',
    '[collect]\ndeny_paths = "token: §"',
    '[collect]\ndisabled = "api_key=§"',
    '[collect]\ndeny_path = ["token=§"]',
    '[context]\ndrop = ["token=§"]',
    '[context]\ndrop = "token=§"',
    'url = ["api_key=§"]',
    '[api_key]\nvalue = "§"',
    'machine = "token=§"',
    '\ufeffapi_key = "§"',
    'api_key = "§\\q"',
    'api_key = """\n§\n',
)
COMMANDS = (
    ("config",),
    ("config", "--json"),
    ("doctor",),
    ("doctor", "--json"),
    ("sessions", "list"),
    ("submit", "friction", "--summary", "a"),
    ("list",),
    ("flush",),
    ("config", "set", "machine", "a"),
)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    home = tmp_path / "home"
    home.mkdir()
    machine = Machine(home, tmp_path / "work")
    machine.claude("c1", [prompt("u1")])
    return machine


def shown(secret: str, text: str) -> bool:
    """Whether a piece of the secret that is not the prefix of its kind stands in a text."""
    body = secret[4:] if secret == TOKEN else secret
    return any(body[at : at + PIECE] in text for at in range(len(body) - PIECE + 1))


def faults(machine: Machine, secret: str, what: str, **environ: str) -> list[str]:
    """The commands that show the secret, now that it is configured."""
    found = []
    for words in COMMANDS:
        result = machine.call(*words, **environ)
        if shown(secret, result.text + result.err):
            found.append(f"{what}: {' '.join(words)}: {(result.text + result.err)[:300]}")
    return found


@pytest.mark.parametrize(
    ("secret", "url"),
    list(itertools.product((TOKEN, OPAQUE), URLS)),
)
def test_no_command_shows_a_key_in_the_url(machine: Machine, secret: str, url: str) -> None:
    text = url.replace("§", secret)
    machine.config(f"url = '''{text}'''\napi_key = 'the key'\n")
    found = faults(machine, secret, "file")
    machine.config("")
    found += faults(machine, secret, "environment", AGENT_FEEDBACK_URL=text)
    for words in (
        ("config", "set", "url", text),
        ("doctor", "--url", text),
        ("list", "--server", text),
        ("submit", "friction", "--summary", "a", "--server", text),
    ):
        result = machine.call(*words)
        if shown(secret, result.text + result.err):
            found.append(f"argument: {' '.join(words)}: {(result.text + result.err)[:300]}")
    assert found == []


@pytest.mark.parametrize(("secret", "line"), list(itertools.product((TOKEN, OPAQUE), LINES)))
def test_no_command_shows_a_key_in_a_wrong_line(machine: Machine, secret: str, line: str) -> None:
    machine.config(line.replace("§", secret) + "\n")
    assert faults(machine, secret, line) == []
