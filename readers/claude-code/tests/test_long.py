"""Texts that repeat what the rules look for, a hundred thousand times, cost time in proportion to their length."""

from __future__ import annotations

import time
from typing import Any

import pytest

LENGTH = 300_000


def repeated(text: str) -> str:
    return text * (LENGTH // len(text))


TEXTS = {
    "summaries": "<task-notification>" + repeated("<summary>") + "</task-notification>",
    "ids": "<task-notification>" + repeated("<tool-use-id>") + "</task-notification>",
    "ends of notices": "<task-notification>" + repeated("</task-notification>"),
    "ends of words": (
        "<command-message>a</command-message><command-name>b</command-name><command-args>"
        + repeated("</command-args><command-contents>")
        + "</command-contents>"
    ),
    "messages": repeated("<command-message>"),
    "blanks": "<command-message>" + repeated(" ") + "</command-message>" + repeated(" ") + "x",
    "elements": repeated("<ide_selection></ide_selection>"),
    "open elements": repeated("<ide_selection>"),
    "images": repeated("[Image #1] "),
    "lines": repeated("\n") + "x",
    "digits": "Exit code " + repeated("9"),
    "denials": "Permission to " + repeated(" has been denied.") + "x",
    "requests": "Claude requested permissions to " + repeated(", but you haven't granted it yet."),
    "agents": "Agent type " + repeated("'"),
    "quotes": "x in '" + repeated("' "),
    "commands": repeated("x in '"),
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_text_takes_long(log: Any, text: str) -> None:
    """Each text, as a failed result, a prompt, an attachment and in the queue, is read within two seconds."""
    log.call("t1", tool="Edit")
    log.call("t2")
    for id in ("t1", "t2"):
        log.result(text, id=id, version="2.0.2", toolUseResult=f"Error: {text}")
    log.user(text)
    log.user(text, isMeta=True)
    log.queued([{"type": "text", "text": text}])
    log.line("queue-operation", operation="enqueue", content=text)
    log.line("queue-operation", operation="remove", content=text)
    started = time.process_time()
    log.told()
    assert time.process_time() - started < 2
