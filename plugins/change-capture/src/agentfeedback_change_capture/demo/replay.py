"""The whole way of a session, from configure to what its spool holds, in a folder of its own."""

from __future__ import annotations

import json
import os
import time

from agentfeedback_change_capture.delivery.hub import Answer, Resolution
from agentfeedback_change_capture.demo.payloads import AWAY, WORDS, payloads
from agentfeedback_change_capture.facts import Target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback_change_capture.spool.outbox import Pending


class DemoHub:
    """A Hub that is made up: it knows one Work, and nothing is ever sent to it."""

    def __init__(self) -> None:
        self.is_away = False

    def resolve(self, observed: str, worktree_id: str, deadline: float) -> Resolution:
        """Return the one Work, while it is not away."""
        if self.is_away:
            return Resolution(None, "unavailable")
        return Resolution(Target("wrk_demo", 1, observed))

    def accept(self, envelope: bytes, kind: str, deadline: float) -> Answer:
        """Return that there was no answer."""
        return Answer(0)

    def settle_bodies(self, pending: Pending, bodies: dict[str, str], deadline: float) -> bool:
        """Return that nothing is settled."""
        return False


def replay(folder: str, mode: str) -> dict[str, Any]:
    """Set a checkout up below an empty folder, run the session's hooks, and return what came of it."""
    from agentfeedback_change_capture.adapter import serving
    from agentfeedback_change_capture.adapter.run import Run
    from agentfeedback_change_capture.setup import capture, clients

    root, spool = os.path.join(folder, "checkout"), os.path.join(folder, "spool")
    os.makedirs(os.path.join(root, ".git"))
    with open(os.path.join(root, ".git", "HEAD"), "w", encoding="utf-8") as head:
        head.write("ref: refs/heads/main\n")
    environ = {"HOME": folder, "CLAUDE_PROJECT_DIR": root}
    program = os.path.join(folder, "agentscm")
    clients.record(root, "https://hub.example", "demo/app", "demo", "", environ)
    given = {
        "spool": spool,
        "worktree_id": "checkout_demo",
        "base_ref": "origin/main",
        "setup_digest": "0" * 64,
        "capture_mode": mode,
        "action_rules": [
            "Bash=execution:partial:process_exit_code",
            "Edit=execution:unknown:unverified",
        ],
    }
    capture.configure_checkout(root, given, environ, program=program)
    hub, steps = DemoHub(), []
    for at, (said, payload) in enumerate(payloads(root)):
        hub.is_away = at == AWAY
        run = Run(root, "", hub, time.monotonic() + 60, environ, int(time.time()))
        serving.serve(run, json.dumps(payload).encode())
        steps.append(
            {
                "event": payload["hook_event_name"],
                "said": said or "no Hub answers",
                "warnings": run.warnings,
            }
        )
    return {"steps": steps, **_account(spool)}


def _account(spool: str) -> dict[str, Any]:
    """Return what a spool holds, as a person would ask for it."""
    from agentfeedback_change_capture.spool import inspection, layout
    from agentfeedback_change_capture.spool.snapshot import Snapshot

    files = Snapshot(spool)
    events: list[dict[str, Any]] = []
    actions: dict[str, dict[str, Any]] = {}
    for name in files.known(layout.OUTBOX):
        envelope = json.loads(files.bytes(layout.OUTBOX, name, layout.ENVELOPE_BYTES) or b"{}")
        events += envelope.get("events", ())
        action = envelope.get("action")
        if action is not None:
            actions.setdefault(action["action_id"], {}).update(action)
    everything = b"".join(
        files.bytes(folder, name, layout.ENVELOPE_BYTES) or b""
        for folder, names in files.names.items()
        for name in names
    )
    return {
        "events": [_event(event) for event in events],
        "actions": [
            {
                "tool": each["tool"],
                "execution": each["execution"],
                "verification": each["verification"],
                "cause": each.get("cause"),
                "source": each["source"]["type"],
            }
            for each in actions.values()
        ],
        "deferred": list(inspection.deferred(files)),
        "usage": files.usage(),
        "holds_text": any(word.encode() in everything for word in WORDS),
    }


def _event(event: dict[str, Any]) -> dict[str, Any]:
    tool, gap = event.get("tool", {}), event.get("gap", {})
    found = {
        "sequence": event["sequence"],
        "kind": event["kind"],
        "detail": event.get("boundary")
        or event.get("origin")
        or tool.get("name")
        or gap.get("kind"),
        "outcome": tool.get("outcome") or gap.get("cause"),
        "bodies": [
            f"{body['role']}, {body.get('bytes')} bytes"
            + (f", {body['redactions']} redacted" if body.get("redactions") else "")
            for body in event.get("bodies", ())
        ],
    }
    return {name: value for name, value in found.items() if value not in (None, [])}
