"""`agentfeedback export` and `import`: reports carried from one store to another."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.terminal import screen
from agentfeedback_submissions import export, queries
from agentfeedback_submissions.response import ApiError
from agentfeedback_submit.cli.triage import api, done, moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentfeedback.terminal.arguments import Parsed

#: Lines are written in blocks of about so many bytes.
_BLOCK = 1 << 18
_FILE_LIMIT = 1 << 30


def run_export(line: Parsed) -> int:
    """`export`: everything that matches, to standard output or a new file of the owner's alone."""
    if line.positionals:
        raise UsageError("wrong number of arguments for export", "name the file with --output")
    query = [("kind", line.kind)] if "kind" in line.given else []
    if line.since:
        query.append(("since", moment_of("--since", line.since)))
    if "after" in line.given:
        query.append(("after_id", str(line.after)))
    service = api(line)
    try:
        filters, page = queries.exported(query)
    except ApiError as refusal:
        raise UsageError(refusal.message, "run agentfeedback export -h for its usage") from None
    rows = service.everything(filters, page.after_id or 0)
    lines = export.lines(rows, time.time_ns() // 1000)
    if not line.output:
        for block in _blocks(lines):
            screen.write(block)
        return 0
    try:
        descriptor = os.open(
            line.output, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600
        )
        with open(descriptor, "wb") as file:
            for block in _blocks(lines):
                file.write(block)
    except OSError as error:
        raise AgentFeedbackError(
            f"{line.output} cannot be written: {reason_of(error)}", "name another file"
        ) from error
    return 0


def run_import(line: Parsed) -> int:
    """`import`: takes an export whole or not at all; exit status 1 when keys were taken."""
    if len(line.positionals) != 1:
        raise UsageError("wrong number of arguments for import", "name one file, or -")
    (name,) = line.positionals
    try:
        data = sys.stdin.buffer.read() if name == "-" else regular_bytes(name, _FILE_LIMIT)
    except OSError as error:
        raise AgentFeedbackError(f"{name} cannot be read: {reason_of(error)}") from error
    reply = done(api(line).import_(data, limit=_FILE_LIMIT))
    found = reply.body
    if line.json:
        screen.write(reply.encoded() + b"\n")
    else:
        screen.write(f"{found['imported']} imported, {found['skipped']} here already\n")
    for warning in found.get("warnings", ()):
        screen.note(f"agentfeedback import: not imported: {warning['message']}")
    return 1 if found["conflicts"] else 0


def _blocks(lines: Iterable[bytes]) -> Iterable[bytes]:
    block: list[bytes] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= _BLOCK:
            yield b"".join(block)
            block, size = [], 0
    yield b"".join(block)
