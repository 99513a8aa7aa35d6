"""`agentfeedback export` and `import`: reports carried from one store to another."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback_submissions.response import ApiError
from agentfeedback_submit.cli.triage import api, moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agentfeedback.terminal.arguments import Parsed

#: Lines are written in blocks of about so many bytes.
_BLOCK = 1 << 18
_FILE_LIMIT = 1 << 30


def run_export(line: Parsed) -> int:
    """`export`: everything that matches, to standard output or a new file of the owner's alone."""
    no_names(line, "export")
    query = [("kind", line.kind)] if "kind" in line.given else []
    if line.since:
        query.append(("since", moment_of("--since", line.since)))
    if "after" in line.given:
        query.append(("after_id", str(line.after)))
    service = api(line)
    try:
        lines = service.exported(query)
    except ApiError as refusal:
        raise UsageError(refusal.message, "run agentfeedback export -h for its usage") from None
    if line.output:
        _save(lines, line.output)
    else:
        for block in _blocks(lines):
            screen.write(block)
    return 0


def _save(lines: Iterable[bytes], path: str) -> None:
    """Write an export to a new file; one that breaks off leaves none."""
    blocks = iter(_blocks(lines))
    # What cannot be exported at all makes no file, and one that is there stays.
    first = next(blocks, b"")
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(first)
                file.writelines(blocks)
        except BaseException:
            os.unlink(path)
            raise
    except OSError as error:
        raise AgentFeedbackError(
            f"{path} cannot be written: {reason_of(error)}", "name another file"
        ) from error


def run_import(line: Parsed) -> int:
    """`import`: takes an export whole or not at all; a conflict is named, and no failure."""
    if len(line.positionals) != 1:
        raise UsageError("import takes one file", "name one, or - for standard input")
    (name,) = line.positionals
    try:
        data = sys.stdin.buffer.read() if name == "-" else regular_bytes(name, _FILE_LIMIT)
    except OSError as error:
        raise AgentFeedbackError(f"{name} cannot be read: {reason_of(error)}") from error
    reply = api(line).import_(data, limit=_FILE_LIMIT)
    if not reply.ok:
        raise AgentFeedbackError(
            f"{name} was not imported: {reply.body['message']}", "export it again"
        )
    found = reply.body
    if line.json:
        screen.write(reply.encoded() + b"\n")
    else:
        screen.write(f"{found['imported']} imported, {found['skipped']} here already\n")
    for each in found["conflicts"]:
        screen.note(
            f"agentfeedback import: line {each['line']}: {each['uid']} was not imported, its key is that of"
            f" other content: report {each['existing_id']}."
        )
    return 0


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
