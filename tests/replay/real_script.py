"""Sends every payload that Claude Code really sent through the real script, a process each.

    python tests/replay/real_script.py [FOLDER]

FOLDER holds the logs of real harnesses; without it `AGENTFEEDBACK_REAL` names it. Three passes:
sixty hooks at once; the program as it is installed, which reaches no Hub, so that every fact is
deferred; and the same with a Hub that knows every session. Exit status 1, and what differs, where an account is not as expected.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from agentfeedback_change_capture.adapter import observed  # noqa: E402
from agentfeedback_change_capture.setup import capture, clients  # noqa: E402
from tests.support import real_hooks  # noqa: E402

_AGENTSCM = os.path.join(os.path.dirname(sys.executable), "agentscm")
_WITH_HUB = """
import sys
from agentfeedback_change_capture.adapter import hook
from agentfeedback_change_capture.delivery import hub
from agentfeedback_change_capture.facts import Target
hub.NoHub.resolve = lambda self, observed, *_: hub.Resolution(Target("wrk_1", 1, observed))
hook.main(sys.argv[1:])
"""


class Replay:
    """A configured checkout in a home of its own, and the payloads that were sent to it."""

    def __init__(self, home: Path, sent: list[bytes], mode: str = "metadata-only") -> None:
        """Make, connect and configure the checkout, with a rule for each tool."""
        self.root, self.spool, self.sent = home / "shop", home / "spools/shop", sent
        self.spool.parent.mkdir(mode=0o700)
        self.environ = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        subprocess.run(["git", "init", "-q", str(self.root)], check=True, env=self.environ)
        clients.record(str(self.root), "https://hub.example", "demo/app", "t", "", self.environ)
        tools = {json.loads(line).get("tool_name") for line in sent} - {None}
        given = {
            "spool": str(self.spool),
            "worktree_id": "w",
            "base_ref": "main",
            "setup_digest": "a" * 64,
            "capture_mode": mode,
            "action_rules": [f"{tool}=execution:unknown:unverified" for tool in sorted(tools)],
        }
        capture.configure_checkout(str(self.root), given, self.environ, program=_AGENTSCM)
        self.environ["CLAUDE_PROJECT_DIR"] = str(self.root)

    def run(self, program: list[str]) -> list[str]:
        """Send everything, one process after the other; return what was not silent success."""
        wrong = []
        for line in self.sent:
            done = subprocess.run(
                [*program, "--root", str(self.root)],
                input=line,
                env=self.environ,
                capture_output=True,
                check=False,
                timeout=20,
            )
            if (done.returncode, done.stdout, done.stderr) != (0, b"", b""):
                wrong.append(f"{json.loads(line)['hook_event_name']}: {done}")
        return wrong

    def records(self, folder: str) -> list[dict[str, Any]]:
        """Return the records of a folder of the spool."""
        return [json.loads(path.read_bytes()) for path in sorted((self.spool / folder).iterdir())]

    def texts(self) -> set[str]:
        """Return prompts, messages and errors of the payloads that are long enough to be searched for."""
        found = set()
        for line in self.sent:
            value = json.loads(line)
            for name in ("prompt", "delta", "error", "last_assistant_message", "transcript_path"):
                if isinstance(text := value.get(name), str) and len(text) >= 8:
                    found.add(text[:200])
        return found

    def held(self) -> list[str]:
        """Return the texts of the payloads that are anywhere in the spool."""
        everything = b"".join(path.read_bytes() for path in self.spool.rglob("*") if path.is_file())
        return [text for text in self.texts() if json.dumps(text)[1:-1].encode() in everything]


def deferring(home: Path, sent: list[bytes]) -> list[str]:
    """The program as it is installed: every fact is deferred, and nothing else is kept."""
    replay = Replay(home, sent)
    wrong = replay.run([_AGENTSCM, "change-capture", "hook-claude"])
    kept = Counter(each["event"] for each in replay.records("deferred"))
    lines = Counter(json.loads(line)["hook_event_name"] for line in sent)
    wanted = Counter({event: lines[event] for event in observed.KINDS if lines[event]})
    wrong += [] if kept == wanted else [f"deferred {kept}, expected {wanted}"]
    causes = Counter(each["cause"] for each in replay.records("deferred"))
    wrong += [] if set(causes) == {"unavailable"} else [f"causes {causes}"]
    wrong += [f"text in the spool: {text!r}" for text in replay.held()]
    print(f"deferred: {sum(kept.values())} of {len(sent)} payloads")
    return wrong


def attributed(home: Path, sent: list[bytes]) -> list[str]:
    """The same with a Hub that knows every session."""
    replay = Replay(home, sent)
    wrong = replay.run([sys.executable, "-c", _WITH_HUB])
    envelopes = replay.records("outbox")
    events = [event for each in envelopes for event in each.get("events", ())]
    kept = Counter(event["kind"] for event in events)
    lines = Counter(json.loads(line)["hook_event_name"] for line in sent)
    wanted: Counter[str] = Counter()
    for event, kind in observed.KINDS.items():
        wanted[kind] += lines[event]
    gaps = kept.pop("gap")
    wrong += [] if kept == wanted else [f"kept {kept}, expected {wanted}"]
    starts = [each for each in envelopes if each["schema"].endswith("action_start/1")]
    finishes = [each["action"] for each in envelopes if each["schema"].endswith("action_finish/1")]
    closed = [each for each in finishes if each.get("cause") == "completion_not_observed"]
    counts = (len(starts), len(finishes) - len(closed), len(closed))
    wrong += [] if counts == (103, 69, 34) else [f"starts, ends and closings are {counts}"]
    wrong += [f"a diagnostic: {each}" for each in replay.records("deferred")]
    sequences = Counter(
        (each["session_id"], event["sequence"])
        for each in envelopes
        for event in each.get("events", ())
    )
    wrong += [f"twice: {name}" for name, many in sequences.items() if many > 1]
    wrong += [f"text in the spool: {text!r}" for text in replay.held()]
    print(
        f"attributed: {sum(kept.values())} events and {gaps} gaps; {counts[0]} actions,"
        f" {counts[1]} ends, {counts[2]} closed, 0 conflicts"
    )
    return wrong


def at_once(home: Path, sent: list[bytes]) -> list[str]:
    """Sixty hooks of three sessions, started together: as if they had run one after the other."""
    replay = Replay(home, sent)
    running = []
    for at in range(60):
        value = {
            "session_id": f"s-{at % 3}",
            "hook_event_name": "PreToolUse" if at % 2 else "Stop",
            "tool_name": "Bash",
            "tool_use_id": f"call-{at}",
            "tool_input": {},
        }
        child = subprocess.Popen(
            [sys.executable, "-c", _WITH_HUB, "--root", str(replay.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=replay.environ,
        )
        assert child.stdin is not None
        child.stdin.write(json.dumps(value).encode())
        child.stdin.close()
        child.stdin = None
        running.append(child)
    done = [(child.communicate(), child.returncode) for child in running]
    wrong = [f"status {status}, {out!r}" for (out, _), status in done if status or out]
    busy = [err for (_, err), _ in done if b"holds the spool" in err]
    wrong += [f"{err!r}" for (_, err), _ in done if err and err not in busy]
    envelopes = replay.records("outbox")
    events = [event for each in envelopes for event in each.get("events", ())]
    kept = sum(event["kind"] in ("turn_end", "tool_start") for event in events)
    wrong += [] if kept + len(busy) == 60 else [f"{kept} kept and {len(busy)} that waited in vain"]
    for session in ("s-0", "s-1", "s-2"):
        numbers = sorted(
            event["sequence"]
            for each in envelopes
            if each["session_id"] == session
            for event in each.get("events", ())
        )
        wrong += [] if numbers == list(range(1, len(numbers) + 1)) else [f"{session}: {numbers}"]
    print(f"at once: {kept} of 60 kept, {len(busy)} waited for the lock in vain")
    return wrong


def main() -> int:
    """Run all passes."""
    real = Path(sys.argv[1] if len(sys.argv) > 1 else os.environ.get("AGENTFEEDBACK_REAL", ""))
    if not (real / "hooks").is_dir():
        print("name the folder with the logs of real harnesses", file=sys.stderr)
        return 2
    sent = [line for lines in real_hooks.in_order(real).values() for line in lines]
    passes: list[Callable[[Path, list[bytes]], list[str]]] = [at_once, deferring, attributed]
    wrong: list[str] = []
    for each in passes:
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            wrong += each(Path(folder).resolve(), sent)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
