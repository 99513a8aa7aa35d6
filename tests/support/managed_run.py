"""What a managed run will write into a spool, without running anything."""

from __future__ import annotations

import json
from typing import Any

from agentfeedback_change_capture import identities
from agentfeedback_change_capture.spool import layout
from agentfeedback_change_capture.spool.envelopes import Attribution, made_action
from agentfeedback_change_capture.spool.limits import FINISH_BYTES, FINISH_RECORDS
from agentfeedback_change_capture.spool.spool import Spool
from tests.support import capture

RECIPE = {
    "argv": ["/usr/bin/python3", "-m", "unittest", "-q"],
    "coverage": "complete",
    "id": "unit-test",
    "max_output_bytes": 8192,
    "timeout_seconds": 300,
}


class Runner:
    """What a managed run writes, without running anything."""

    def __init__(self, held: Spool) -> None:
        self.writer = held._writer
        self.storage = held._storage
        (name,) = self.storage.names(layout.OBSERVATIONS)
        claim = self.storage.record(layout.OBSERVATIONS, name)
        assert claim is not None
        self.claim = claim
        self.action_id = identities.action_id(claim["observed_session"], claim["tool_use_id"])
        self.who = Attribution.of_claim(claim, claim["capture_mode"])
        self._file = identities.action_file(self.action_id)

    def start(self) -> None:
        """The attempt, the order, the descriptor, the start and its envelope, unless that was done."""
        if self.storage.has(layout.ACTIONS, layout.receipt_name(self._file, "start")):
            return
        ledger = self.storage.record(layout.ROOT, layout.ORDER)
        assert ledger is not None
        order = ledger["active"][0]["order"] if ledger["active"] else ledger["next_order"]
        fence = identities.digest(
            ["fence/1", "wrk_demo", "/work/demo", "demo/app", "checkout", "r"]
        )
        attempt = {
            "action_id": self.action_id,
            "boot": "b" * 36,
            "device": 1,
            "fence": fence,
            "generation": 1,
            "host": "h" * 64,
            "inode": 2,
            "observed_session": self.claim["observed_session"],
            "occurrence_id": self.claim["occurrence_id"],
            "order": order,
            "phase": "reserved",
            "pid": 4242,
            "process": None,
            "recipe": self.claim["recipe"],
            "session_id": "ses_demo",
            "setup_digest": capture.SETUP,
            "source_digest": "6" * 64,
            "work_id": "wrk_demo",
        }
        entry = {
            "action_id": self.action_id,
            "occ32": identities.occurrence_file(self.claim["occurrence_id"]),
            "order": order,
            "session_id": self.claim["observed_session"],
            "state": "started",
        }
        start = {
            "action_id": self.action_id,
            "assurance": "caller_asserted",
            "observed_order": order,
            "occurrence": "4" * 64,
            "recipe_digest": self.claim["recipe"]["digest"],
            "recipe_id": "unit-test",
            "route": "managed",
            "rule": {**capture.RULE, "kind": "verification"},
            "setup_digest": capture.SETUP,
            "source": GIT_CLEAN,
            "started_at": capture.NOW,
            "tool": "Bash",
        }
        plan = self.writer.plan()
        descriptor = json.dumps({"argv": RECIPE["argv"], "root": "/work/demo"}).encode()
        name = f"{fence[:32]}.json"
        plan.update(layout.ATTEMPTS, name, attempt, self.storage.record(layout.ATTEMPTS, name))
        if not ledger["active"]:
            plan.update(
                layout.ROOT, layout.ORDER, {"active": [entry], "next_order": order + 1}, ledger
            )
        plan.add(layout.ARTIFACTS, identities.bytes_digest(descriptor), descriptor)
        plan.publish(made_action(self.writer.origin, self.who, "start", start))
        assert plan.fits("ordinary", FINISH_RECORDS, FINISH_BYTES)
        plan.write()
        self.storage.usage.open_actions += 1

    def finish(self) -> None:
        """Both streams and the status, then the finish and its envelope, unless that was done."""
        if self.storage.has(layout.ACTIONS, layout.receipt_name(self._file, "finish")):
            return
        evidence = []
        for role, data in (("stdout", b"o" * 2048), ("stderr", b"e" * 2048)):
            plan = self.writer.plan()
            plan.add(layout.ARTIFACTS, identities.bytes_digest(data), data)
            assert plan.fits("ordinary")
            plan.write()
            evidence.append(_evidence(role, data))
        status = b'{"exit_code":0,"finished_at":1796031238,"started_at":1796031200}'
        plan = self.writer.plan()
        plan.add(layout.ARTIFACTS, identities.bytes_digest(status), status)
        finish = {
            "action_id": self.action_id,
            "assurance": "caller_asserted",
            "coverage": "complete",
            "drift": "none_observed",
            "evidence": [*evidence, _evidence("status", status)],
            "execution": "succeeded",
            "exit_code": 0,
            "finished_at": capture.NOW,
            "freshness": "current",
            "start_sha256": identities.bytes_digest(b"start"),
            "verification": "passed",
        }
        plan.publish(made_action(self.writer.origin, self.who, "finish", finish))
        assert plan.fits("finishing")
        plan.write()
        self.storage.usage.open_actions -= 1


def _evidence(role: str, data: bytes) -> dict[str, Any]:
    return {
        "availability": "local",
        "bytes": len(data),
        "media_type": "text/plain",
        "retention": "work-local",
        "role": role,
        "sha256": identities.bytes_digest(data),
    }


GIT_CLEAN = {
    "base_ref": "origin/main",
    "coverage": "complete",
    "head": "a" * 40,
    "merge_base": "b" * 40,
    "omissions": [],
    "tree": "c" * 40,
    "type": "git_clean",
}
