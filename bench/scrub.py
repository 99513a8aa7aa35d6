"""Megabytes per CPU-second of the scrubber, and of its naive form: the same rules one by one.

    python bench/scrub.py [megabytes]

Three kinds of text: clean transcript text (code, prose and logs that say token, key and auth and
hold no secret), dense secrets (one in every other line) and hostile repeats.
"""

import inspect
import json
import re
import sys
import time
from collections.abc import Callable

from agentfeedback.scrub import (
    CAPTURE,
    SUBMIT,
    Scrubber,
    Table,
    assigned,
    capture,
    fields,
    flags,
    headers,
    submit,
)

HOSTILE = {
    "letters": "A",
    "a_": "a_",
    "a.": "a.",
    "eyJ": "eyJ",
    "eyJ.": "eyJaaaaaaaa.",
    "sk-": "sk-",
    "equals": "=",
    "spaces": " ",
    "tab": "\t",
    "quotes": '"',
    "slashes": "\\",
    "slash quote": '\\"',
    "open pem": "-----BEGIN " + "PRIVATE KEY-----\n",
    "half pem": "-----BEGIN ",
    "end pem": "-----END ",
    "token": "token ",
    "token=": "token=",
    "token:": "token: ",
    "password spaces": "password" + " " * 50,
    'token":[': '"token":[',
    "token=[": "token=[",
    "token:[{": "token:[{'",
    "token: |": "token: |\n",
    "token: | deeper": "token: |\n ",
    "token=a,b1": "token=a,b1,",
    "token='a'+'b": "token='a'+'b",
    "a'b1": "token=a'b1",
    "a'b1'b1": "b1'b1",
    "triple": 'token="""',
    "typed": "token: str | ",
    "typed x": "token str[",
    "getset": "token { ",
    "lists": "token=(\n'",
    "pass:": "pass: 7 ",
    "dsn:": "dsn: ",
    "env name": "A_KEY_B_",
    "numbered": "1:A_KEY=",
    "marks": "> + - ",
    'token":"': '"token":"',
    'slash token":': '\\"token\\":\\"',
    "schemes": "a://",
    "users": "a://b:",
    "one authority": "a:b@",
    "bearer": "bearer ",
    "curl": "curl ",
    "curl -u": "curl -u ",
    "mysql -p": "mysql -p",
    "--token": "--token ",
    "A_KEY_": "A_KEY_",
    "env lines": "A_KEY=\n",
    "cookie": "cookie: ",
    "authorization": "authorization: a ",
    "markers": "[REDACTED:",
    "AIza": "AIza" + "a" * 35,
}

_CLEAN = """
user: why does max_tokens=4096 with input_tokens: 812 give 401? The auth header looks right to me.
assistant: The token is refreshed in `renew()`; the key of the cache is (user, scope). See below.
 12→    def renew(self, user: User) -> None:
 13→        if self.expires - time.time() > LEEWAY:  # the secret of a fast path
 14→            return self.client.get(f"https://example.org:8443/v1/{user.id}?page=2", timeout=30)
2026-11-30T11:10:02Z INFO  worker-3 request id=9f1c-77ab status=200 tokens=1312 took=31ms path=/a/b
$ git log --oneline | head; export PATH=$HOME/bin:$PATH; KEYSTONE_PATH=/opt/keystone; ls -la task-list
{"type": "tool_use", "name": "Bash", "input": {"command": "uv run pytest -q", "timeout": 60}}
Ünïcode prose — bypass, compass and oauth_state stay readable, and so do monkeys and passing tests.
"""


def clean(size: int) -> str:
    """About `size` bytes of text without a secret: standard library code and transcript lines."""
    modules = (json, inspect, time, sys)
    code = "".join(inspect.getsource(module) for module in modules if hasattr(module, "__file__"))
    for table in (SUBMIT, CAPTURE):  # lines of the code that look like an assignment go
        scrubber = Scrubber(table)
        code = "".join(line for line in code.splitlines(True) if scrubber.text(line) == line)
    unit = code[:20_000] + _CLEAN * 20
    return unit * (size // len(unit) + 1)


def dense(size: int) -> str:
    """A secret in every other line."""
    unit = "".join(
        f"{line}\nDB_PASSWORD={number}hunter\nuse gh" + f"p_{number:036d} or ey" + "JhbGciOi."
        f"{number:010d}.{number:010d}\n"
        for number, line in enumerate(_CLEAN.splitlines())
    )
    return unit * (size // len(unit) + 1)


# What the rules that are functions would be as one pattern each.
_PLAIN = {
    (SUBMIT, "private_key"): "(?s:-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----.*?"
    r"(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\Z))",
    (SUBMIT, "url_credentials"): submit._URL,
    (SUBMIT, "assignment"): assigned._ASSIGNED.pattern.decode("latin-1")
    + r"[\"']?([^ \t\n\"'&,;]+)",
    (SUBMIT, "field"): fields._FIELD.pattern.decode() + r"\\*\"((?:[^\"\\]|\\.)*)",
    (SUBMIT, "flag_value"): flags._FLAG.pattern.decode() + r"([^ \t\n]+)",
    (SUBMIT, "authorization"): headers._AUTHORIZATION.pattern.decode() + r"([^\r\n]+)",
    (SUBMIT, "cookie"): headers._COOKIE.pattern.decode() + r"([^\r\n]+)",
    (CAPTURE, "url_password"): capture._URL,
    (CAPTURE, "flag_value"): flags._FLAG.pattern.decode() + r"([^ \t\n]+)",
    (CAPTURE, "field"): fields._FIELD.pattern.decode() + r"\\*\"((?:[^\"\\]|\\.)*)",
    (CAPTURE, "assignment"): fields._ASSIGNED.pattern.decode() + r"[\"']?([^ \t\n\"',;&)\]}]+)",
}
_PLAIN[CAPTURE, "private_key"] = _PLAIN[SUBMIT, "private_key"]


def naive(table: Table) -> Callable[[str], str]:
    """The table as plain `re`, one rule after the other over the whole text."""
    rules = [
        (re.compile(_PLAIN.get((table, rule.kind), rule.pattern), re.ASCII), rule)
        for rule in table.formats
        if rule.pattern or (table, rule.kind) in _PLAIN
    ]

    def run(text: str) -> str:
        for pattern, rule in rules:
            marker = f"[REDACTED:{rule.kind}]"

            def replace(match: re.Match[str], marker: str = marker) -> str:
                whole, value = match[0], match[match.lastindex or 0]
                return whole if value.startswith("[REDACTED:") else whole.replace(value, marker)

            text = pattern.sub(replace, text)
        return text

    return run


def bench(run: Callable[[str], str], texts: list[str], least: float = 0.5) -> float:
    """Return megabytes (10^6 bytes of UTF-8) per second of CPU time, over at least `least` s."""
    size = sum(len(text.encode()) for text in texts)
    run(texts[0])
    rounds, start = 0, time.process_time()
    while (spent := time.process_time() - start) < least:
        for text in texts:
            run(text)
        rounds += 1
    return size * rounds / spent / 1e6


def main(megabytes: float = 1.0) -> None:
    size = int(megabytes * 1e6)
    long, secrets = clean(size), dense(size)
    lines = [line for line in long.splitlines() if line]
    print(f"{'MB per CPU-second':34}{'scrub':>9}{'naive':>9}{'ratio':>8}")
    for label, table in (("submit", SUBMIT), ("capture", CAPTURE)):
        texts = {
            "clean, one text": [long],
            "clean, line by line": lines[:5000],
            "clean, 2 KB pieces": [long[at : at + 2000] for at in range(0, len(long), 2000)],
            "dense secrets": [secrets],
        }
        for name, parts in texts.items():
            fast = bench(Scrubber(table).text, parts)
            slow = bench(naive(table), parts)
            print(f"{label + ', ' + name:34}{fast:9.1f}{slow:9.1f}{fast / slow:8.1f}")
        rates = {
            name: bench(Scrubber(table).text, [unit * (size // len(unit))], 0.05)
            for name, unit in HOSTILE.items()
        }
        for name in sorted(rates, key=rates.__getitem__)[:6]:
            print(f"{label + ', hostile ' + name:34}{rates[name]:9.1f}")


if __name__ == "__main__":
    main(*map(float, sys.argv[1:2]))
