"""Fuzzing of what others write: hook files, configurations, lines of an MCP client, files of inbox and spool.

`nox -s fuzz` makes 100,000 inputs for each target, in this process: mutations of sound ones, so that most
get past the first look. Whatever is made of an input, it is a value or an error that the target
declares; anything else is printed with the seed that makes it again, and the exit status is 1.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from agentfeedback.config.edit import set_key, unset_key
from agentfeedback.config.file import read as read_config
from agentfeedback.config.keys import KEYS
from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.harness_hooks import entries, own_command
from agentfeedback.harness_hooks.json_edit import NotEditable
from agentfeedback.policy.repository import repository_rules
from agentfeedback.policy.user_file import near_misses, unknown_keys
from agentfeedback_claude_code.hooks import INSTALLER as GROUPED
from agentfeedback_cursor.hooks import INSTALLER as PLAIN
from agentfeedback_mcp.protocol.verbatim import incoming
from agentfeedback_submissions.envelope import EnvelopeRefused
from agentfeedback_submit.delivery.inbox import NotUsable, adopted
from agentfeedback_submit.delivery.spool_entry import SpoolEntry, UnreadableEntry, read, written
from agentfeedback_submit.filing.body import Body

#: Pieces that formats are made of, and what breaks readers of them.
PIECES = [
    *(piece.encode() for piece in ["{", "}", "[", "]", '"', "'", ":", ",", "=", ".", "#", "\\", "/", "null", "true", "false", "0", "-1", "1e999", "NaN"]),
    b"\n", b"\r\n", b"\t", b"\x00", b"\xff", b"\xed\xa0\x80", b"\xef\xbb\xbf", b"\\ud800", b"\\u0000", b'"""',
    b"[[", b"]]", b"9" * 30, b"a" * 300, b"{" * 50, b"[" * 600, b"~", b"$HOME", b"..", b"*", b"\xe2\x80\xae",
]  # fmt: skip


def mutated(random: random.Random, sound: bytes) -> bytes:
    """A sound input with some of it cut, doubled, changed, or with pieces put in."""
    data = bytearray(sound)
    for _ in range(random.choice((1, 1, 1, 2, 3, 8))):
        at = random.randrange(len(data) + 1)
        end = min(len(data), at + random.choice((0, 1, 1, 4, 30)))
        how = random.random()
        if how < 0.45:
            data[at:end] = random.choice(PIECES)
        elif how < 0.65:
            data[at:end] = b""
        elif how < 0.8:
            data[at:at] = data[at:end]
        elif how < 0.95 and at < len(data):
            data[at] = random.randrange(256)
        else:
            del data[at:]
    return bytes(data)


def settings() -> tuple[list[bytes], Callable[[bytes], object]]:
    """The editor of hook files: what is put in is found, and taking it out again leaves the text as it was."""

    def run(data: bytes) -> object:
        text = data.decode("utf-8", "replace")
        for installer in (GROUPED, PLAIN):
            owns = own_command.owner(installer.harness)
            commands = own_command.commands(installer, "/usr/bin/agentfeedback")
            try:
                before = entries.events(text, installer, owns)
                made = entries.installed(text, installer, commands, owns)
                assert set(entries.events(made, installer, owns)) >= set(installer.events)
                assert entries.installed(made, installer, commands, owns) == made
                if not before:
                    assert entries.removed(made, installer, owns) == text
            except NotEditable:
                pass
        return None

    sound = [
        b'{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x", "timeout": 5}]}]}, "other": [1]}\n',
        b'{\r\n\t"version": 1,\r\n\t"hooks": {"stop": [{"command": "/usr/bin/agentfeedback hook cursor stop"}]}\r\n}',
        b"{}",
        entries.made(PLAIN, own_command.commands(PLAIN, "agentfeedback")).encode(),
    ]
    return sound, run


def configuration() -> tuple[list[bytes], Callable[[bytes], object]]:
    """The user's configuration, its editor, and a repository's policy file."""
    folder = Path(tempfile.mkdtemp())
    user, repository = folder / "config.toml", folder / ".agentfeedback.toml"
    editable = [key for key in KEYS.values() if key.editable]

    def run(data: bytes) -> object:
        user.write_bytes(data)
        user.chmod(0o600)
        repository.write_bytes(data)
        repository_rules(str(folder))
        try:
            found = read_config(str(user))
            near_misses(found.tables, ["/home/u"])
            unknown_keys(found.tables)
            key = editable[len(data) % len(editable)]
            unset_key(str(user), key)
            set_key(str(user), key, "30m" if key.form == "duration" else key.default)
        except AgentFeedbackError:
            pass
        return None

    sound = [
        b'url = "https://x.example"\napi_key = "k"\n[collect]\ndeny_paths = ["/a", "~/b"]\nopt_in_only = true\n',
        b'[collect]\ndisabled = false # never\n[context]\ncwd = true\ndrop = ["folder"]\n[sessions]\nquiet = "30m"\n',
        b"machine = 'm'\n[detect]\nnudge = true\nsame_tool = 3\n[sessions]\npush = false\n[new.table]\nx = 1\n",
    ]
    return sound, run


def lines() -> tuple[list[bytes], Callable[[bytes], object]]:
    """Lines of an MCP client: each is a message, a refusal by its id, or a problem for the log."""

    def run(data: bytes) -> object:
        for line in data.split(b"\n"):
            found = incoming(line)
            assert not (found.refusal and found.problem)
        return None

    sound = [
        b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"stats","arguments":{"by":"kind"}}}',
        b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
        b'[{"jsonrpc":"2.0","id":"a","method":"ping"},{"id":2}]',
    ]
    return sound, run


def files() -> tuple[list[bytes], Callable[[bytes], object]]:
    """Files of the inbox and of the spool: a body or entry that is written as it was read, or a reason why not."""

    def run(data: bytes) -> object:
        try:
            body = adopted("n.json", data)
            if body is not None:
                Body.of(body)
        except (NotUsable, EnvelopeRefused):
            pass
        try:
            entry = read(data)
            assert read(written(entry)).body.data == entry.body.data
        except UnreadableEntry:
            pass
        return None

    body = Body.of(
        b'{"kind":"friction","key":"k","summary":"s","context":{"a":"b"},"payload":{"n":1.50}}'
    )
    entry = SpoolEntry(body, "https://x.example", time.time_ns(), 2, 10**18, "server_503")
    return [body.data, written(entry)], run


TARGETS = {"settings": settings, "configuration": configuration, "lines": lines, "files": files}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", choices=[*TARGETS, []], metavar="target")
    parser.add_argument("-n", type=int, default=100_000, help="inputs for each target")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    faults: Counter[str] = Counter()
    for name in asked.targets or TARGETS:
        sound, run = TARGETS[name]()
        for each in sound:
            run(each)
        began = time.process_time()
        for number in range(asked.n):
            seed = f"{asked.seed}/{name}/{number}"
            chance = random.Random(seed)
            data = mutated(chance, chance.choice(sound))
            try:
                run(data)
            except Exception as error:  # noqa: BLE001 - this is what is looked for
                last = traceback.extract_tb(error.__traceback__)[-1]
                fault = f"{name}: {type(error).__name__} at {os.path.basename(last.filename)}:{last.lineno}"
                if not faults[fault]:
                    print(
                        f"{fault}\n  seed {seed}: {data[:200]!r}\n  {str(error)[:200]}", flush=True
                    )
                faults[fault] += 1
        print(f"{name}: {asked.n} inputs in {time.process_time() - began:.0f} s", flush=True)
    for fault, times in faults.items():
        print(f"{times} times {fault}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
