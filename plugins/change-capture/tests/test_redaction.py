"""What redaction of shared conversations promises: each kind in each surrounding, and what stays readable."""

import json
from typing import Any

import pytest

from agentfeedback.scrub import CAPTURE
from agentfeedback_change_capture.adapter.bodies import redact
from tests.support import scrub_parts as parts

P = parts.PARTS
#: For each kind a text with a secret, and the secret itself.
KINDS: dict[str, tuple[str, str]] = {
    "private_key": (f"{P['pemopen']}\nTUlJ{P['pw']}\n{P['pemclose']}", P["pw"]),
    "jwt": (P["jwt"], P["jwt"]),
    "anthropic_key": (P["ant"], P["ant"]),
    "openai_key": (P["oaiproj"], P["oaiproj"]),
    "stripe_key": (P["stripe"], P["stripe"]),
    "github_token": (P["gh"] + P["an36"], P["gh"] + P["an36"]),
    "gitlab_token": (P["glab"], P["glab"]),
    "slack_token": (P["slack"], P["slack"]),
    "google_api_key": (P["goog"], P["goog"]),
    "aws_access_key_id": (P["aws"], P["aws"]),
    "npm_token": (P["npm"], P["npm"]),
    "pypi_token": (P["pypi"], P["pypi"]),
    "huggingface_token": (P["hf"], P["hf"]),
    "url_password": (f"postgres://app:{P['pw']}@db.example/x", P["pw"]),
    "bearer": (f"{P['bear']} {P['an20']}", P["an20"]),
    "flag_value": (f"--db-password {P['pw']}", P["pw"]),
    "field": (f'{{"dbPassword": "{P["pw"]}"}}', P["pw"]),
    "assignment": (f"DB_PASS={P['pw']}", P["pw"]),
}


def test_there_are_eighteen_kinds() -> None:
    assert len(KINDS) == 18
    assert set(KINDS) == {rule.kind for rule in CAPTURE.formats}


@pytest.mark.parametrize("kind", KINDS)
def test_a_secret_of_each_kind_is_gone_in_each_surrounding(kind: str) -> None:
    text, secret = KINDS[kind]
    plain = [text, f"before\n{text}\nafter", f"> {text}", f"+{text}", f"12\t{text}", f"  - {text}"]
    nested: list[Any] = [{"output": text}, [[text]], {"a": {"b": [{"c": text}]}}]
    inner = json.dumps({"cmd": text})
    plain += [inner, json.dumps({"log": inner}), json.dumps([json.dumps({"log": inner})])]
    nested += [{"stdout": each} for each in plain]
    line = "x" * (1 << 19)
    plain += [f"{line} {text} {line}", f"{line}\n{text}\n{line}"]
    for value in (*plain, *nested):
        scrubbed, count = redact(value)
        shown = scrubbed if isinstance(scrubbed, str) else json.dumps(scrubbed)
        assert secret not in shown
        assert f"[REDACTED:{kind}]" in shown or kind in ("field", "flag_value", "assignment")
        assert count >= 1
        assert redact(scrubbed) == (scrubbed, 0)
        if not isinstance(value, str):
            json.loads(shown)


@pytest.mark.parametrize("kind", [each for each in KINDS if KINDS[each][0] == KINDS[each][1]])
def test_a_token_glued_to_an_identifier_is_recognised(kind: str) -> None:
    token = KINDS[kind][1]
    for before in ("X_", "my-", "a.b-", "\\n"):
        assert redact(before + token) == (f"{before}[REDACTED:{kind}]", 1)


NAMES = (
    *("password", "token", "secret", "apikey", "secretkey", "signingkey", "dsn", "databaseurl"),
    *("authorization", "cookie", "passwd", "passphrase", "accessKey", "private_key", "DB_PASS"),
    *("dbPwd", "auth", "pass", "api-key", "next_token", "ENCRYPTION_KEY", "connection.string"),
    *("credentials", "x-credential", "Set-Cookie", "CLIENT_SECRET"),
)


@pytest.mark.parametrize("name", NAMES)
def test_a_value_under_a_secret_name_is_replaced(name: str) -> None:
    value = P["pw"]
    for given in (value, 12, 1.5, {"user": "x", "deep": [value]}, [value, "y"]):
        assert redact({name: given, "n": 1}) == ({name: "[REDACTED:field]", "n": 1}, 1)
    escaped = json.dumps(json.dumps({name: value}))
    for text in (f"{name}={value}", f"{name}: {value}", f"{name} => {value}", escaped):
        assert value not in redact(text)[0]


@pytest.mark.parametrize(
    "name",
    [
        *("max_tokens", "input_tokens", "token_count", "bypass", "compass", "oauth_state"),
        *("tokens", "secretary", "passenger", "authors", "cookies_enabled", "keyboard"),
    ],
)
def test_other_names_stay_readable(name: str) -> None:
    assert redact({name: 5, "n": {name: "x"}}) == ({name: 5, "n": {name: "x"}}, 0)
    for text in (f"{name}=5", f"{name}: x", f'"{name}": 12', f"--{name} 5"):
        assert redact(text) == (text, 0)


@pytest.mark.parametrize(
    "text",
    [
        *("--password-file /run/secrets/x", "mysql -p shop", "mysqladmin -p -u root"),
        *("password=$DB_PASSWORD", "token: ${TOKEN}", "secret=%SECRET%", "auth: <your token>"),
        *("password: ***", '"token": null', '"secret": true', "password="),
    ],
)
def test_what_is_no_value_stays(text: str) -> None:
    assert redact(text) == (text, 0)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("curl -u bob:{} https://x", "curl -u bob:[REDACTED:flag_value] https://x"),
        ("mysql -u root -p{} shop", "mysql -u root -p[REDACTED:flag_value] shop"),
        ("mysqldump -p{} a; ls -pr", "mysqldump -p[REDACTED:flag_value] a; ls -pr"),
        ("mariadb -p{}", "mariadb -p[REDACTED:flag_value]"),
        ("x --api-token={} y", "x --api-token=[REDACTED:flag_value] y"),
    ],
)
def test_secrets_of_command_lines(text: str, wanted: str) -> None:
    assert redact(text.format(P["pw"])) == (wanted, 1)


def test_containers_that_are_too_deep_are_replaced_whole() -> None:
    deep: Any = P["pw"]
    for _ in range(400):
        deep = [deep]
    scrubbed, count = redact({"a": deep, "b": 1})
    assert P["pw"] not in json.dumps(scrubbed)
    assert (scrubbed["b"], count) == (1, 1)
