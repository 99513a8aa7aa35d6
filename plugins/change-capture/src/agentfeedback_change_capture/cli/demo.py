"""`agentscm demo`: a made-up session, and the account that its spool gives of it."""

from __future__ import annotations

import os
import shutil
import tempfile

from agentfeedback.foundation.errors import UsageError
from agentfeedback_change_capture.cli.output import no_more, print_result
from agentfeedback_change_capture.demo.replay import replay
from agentfeedback_change_capture.facts import CAPTURE_MODES, METADATA_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agentfeedback.terminal.arguments import Parsed


def run_demo(line: Parsed) -> int:
    """Replay the made-up session and show what its spool holds."""
    no_more(line)
    mode = line.capture_mode or METADATA_ONLY
    if mode not in CAPTURE_MODES:
        raise UsageError(
            "--capture-mode is not a capture mode", f"use one of {', '.join(CAPTURE_MODES)}"
        )
    folder = tempfile.mkdtemp(prefix="agentscm-demo-")
    try:
        found = replay(os.path.realpath(folder), mode)
        if line.keep:
            found["kept"] = folder
        print_result(line, found, _text(found))
    finally:
        if not line.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


def _text(found: dict[str, Any]) -> Iterator[str]:
    yield "A session that was made up, hook by hook:"
    for step in found["steps"]:
        yield f"  {step['event']:<20} {step['said']}"
    yield ""
    yield "What its spool holds; nothing of it has left this machine:"
    for event in found["events"]:
        words = [event.get("detail"), event.get("outcome"), *event.get("bodies", ())]
        yield f"  {event['sequence']:>3}  {event['kind']:<18} " + ", ".join(filter(None, words))
    yield ""
    yield "Actions, with what is known of them:"
    for action in found["actions"]:
        cause = f" ({action['cause'].replace('_', ' ')})" if action["cause"] else ""
        yield (
            f"  {action['tool']:<6} execution {action['execution']}{cause},"
            f" verification {action['verification']}, source {action['source']}"
        )
    yield ""
    yield f"Deferred while no Hub answered: {len(found['deferred'])}, without any text"
    usage = found["usage"]
    yield f"{usage['records']} records, {usage['bytes']} bytes"
    yield (
        "Words of the conversation are in it."
        if found["holds_text"]
        else ("No word of the conversation is in it.")
    )
    if "kept" in found:
        yield f"kept in {found['kept']}"
