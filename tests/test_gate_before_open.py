"""What the policy refuses is never opened, and a store is only ever read: shown call by call."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.machine import Machine, meta, prompt, typed
from tests.support.tracing import Trace, by_audit, by_strace, has_strace

Run = Callable[..., Trace]

DENY = '[collect]\ndeny_paths = ["/srv/secret"]\n'
OPT_IN = '[collect]\nopt_in_only = true\nopt_in_paths = ["/srv/app"]\n'
DISABLED = "[collect]\ndisabled = true\n"
#: A plugin's gate that refuses by place, so without path rules in the policy.
GATE = """
from agentfeedback.plugins import hookimpl
@hookimpl
def session_before_open(place):
    if any("secret" in path for path in place.paths) or "secret" in (place.encoded or ""):
        return "not yours"
"""


@pytest.fixture(params=["strace", "audit"])
def traced(request: pytest.FixtureRequest, machine: Machine) -> Run:
    """Runs the program and tells what it did; by system calls where that is possible, and by audit.

    No facts of an earlier run are kept: whether they were would depend on how slow this machine is.
    """
    if request.param == "strace" and not has_strace():
        pytest.skip("strace is not here or may not trace")
    trace = by_audit if request.param == "audit" else by_strace

    def run(*words: str) -> Trace:
        shutil.rmtree(machine.home / ".cache", ignore_errors=True)
        return trace(machine, *words)

    return run


class Stores:
    """An open and a secret session of each of two harnesses."""

    def __init__(self, machine: Machine) -> None:
        self.open = [
            machine.claude("open", [prompt("u1")]),
            machine.codex("open", [meta(), typed()]),
        ]
        self.claude = machine.claude(
            "hidden", [prompt("u1", cwd="/srv/secret/x")], folder="-srv-secret-x"
        )
        self.first = meta("/srv/secret/x")
        self.codex = machine.codex("hidden", [self.first, *(typed("x" * 200) for _ in range(400))])
        #: What Codex' metadata rule refuses: a first line that says nothing.
        self.broken = machine.codex("broken", [b"{broken", *(typed("x" * 200) for _ in range(400))])


def commands() -> list[tuple[str, ...]]:
    named = ("claude-code:hidden", "codex:hidden")
    return [
        ("sessions", "list", "--json"),
        ("sessions", "digest", "--unprocessed", "--json"),
        ("sessions", "digest", *named, "--json"),
        ("sessions", "status", "--json"),
    ]


@pytest.mark.parametrize("policy", [DENY, OPT_IN], ids=["deny_paths", "opt_in_only"])
def test_refused_session_is_never_opened(machine: Machine, traced: Run, policy: str) -> None:
    """Under path rules a refused Claude Code log is not opened, of a refused rollout the first line alone is read."""
    stores = Stores(machine)
    machine.config(policy)
    for words in commands():
        trace = traced(*words)
        assert trace.opens(stores.claude) == 0
        assert trace.opens(stores.codex) == 1
        assert trace.read[str(stores.codex)] == len(stores.first) + 1  # not a byte past its newline
        if "hidden" not in str(words):
            assert trace.read[str(stores.broken)] == len(b"{broken\n")
            for path in stores.open:
                assert trace.read[str(path)] >= path.stat().st_size
        assert b"secret" not in trace.result.out.replace(b"-srv-secret-x", b"")


def test_refused_by_a_gate_without_path_rules_reads_at_most_a_block_more(
    machine: Machine, traced: Run
) -> None:
    """Where no path rule stands, at most 511 bytes past the newline of the first line are read, and dropped."""
    stores = Stores(machine)
    machine.plugin("place", GATE, group="agentfeedback.gates")
    for words in commands()[:2]:
        trace = traced(*words)
        assert trace.opens(stores.claude) == 0
        assert trace.opens(stores.codex) == 1
        past = trace.read[str(stores.codex)] - len(stores.first) - 1
        assert 0 <= past <= 511
    states = {
        item["ref"]: item for item in machine.run("sessions", "list", "--json").json["sessions"]
    }
    assert states["codex:hidden"]["reason"] == "gate place: not yours"
    assert states["codex:open"]["state"] == "new"


def test_repository_file_refuses_before_the_open(
    machine: Machine, traced: Run, tmp_path: Path
) -> None:
    """A rollout whose directory is in a repository that is switched off is refused by its first line alone."""
    repository = tmp_path / "repository"
    (repository / ".git").mkdir(parents=True)
    (repository / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (repository / ".agentfeedback.toml").write_text("[collect]\ndisabled = true\n")
    first = meta(str(repository))
    path = machine.codex("off", [first, *(typed("y" * 300) for _ in range(400))])
    trace = traced("sessions", "list", "--json")
    assert trace.result.json["sessions"][0]["reason"] == "repo_disabled"
    assert trace.opens(path) == 1 and trace.read[str(path)] <= len(first) + 1 + 511


def test_everything_disabled_opens_no_log_at_all(machine: Machine, traced: Run) -> None:
    """With `[collect] disabled` not even a first line is read."""
    Stores(machine)
    machine.config(DISABLED)
    for words in commands():
        trace = traced(*words)
        assert [path for path in trace.opened if path.endswith(".jsonl")] == []


def test_since_opens_no_older_file(machine: Machine, traced: Run) -> None:
    """A log written before `--since` is skipped unopened."""
    old, young = machine.claude("old", [prompt("u1")]), machine.codex("young", [meta(), typed()])
    os.utime(old, (1_000_000_000, 1_000_000_000))
    trace = traced("sessions", "list", "--json", "--since", "2026-11-01T00:00:00Z")
    assert trace.opens(old) == 0 and trace.opens(young) > 0
    assert [item["ref"] for item in trace.result.json["sessions"]] == ["codex:young"]


def test_refused_compressed_rollout_is_not_read_through(machine: Machine, traced: Run) -> None:
    """Of a refused `.jsonl.zst` no more is decompressed than its first line needs."""
    zstandard = pytest.importorskip("zstandard")
    first = meta("/srv/secret/x")
    noise = [typed(os.urandom(100).hex()) for _ in range(2000)]
    plain = machine.codex("cold", [first, *noise])
    path = plain.with_name(plain.name + ".zst")
    path.write_bytes(zstandard.compress(plain.read_bytes()))
    plain.unlink()
    machine.config(DENY)
    trace = traced("sessions", "list", "--json")
    assert [item["state"] for item in trace.result.json["sessions"]] == ["denied"]
    assert trace.opens(path) == 1
    # One block of the format holds up to 128 KiB, and must be had whole before its first byte is known.
    assert trace.read.get(str(path), 0) < path.stat().st_size


def test_nothing_of_a_harness_is_written_locked_or_created(machine: Machine, traced: Run) -> None:
    """No command opens anything below a harness's home for writing, locks it, or makes or removes anything there."""
    Stores(machine)
    for words in (
        ("list",),
        ("digest", "--unprocessed"),
        ("mark", "claude-code:open", "codex:open", "--outcome", "nothing"),
        ("status",),
        ("status", "--set-selection", "--harness", "codex"),
        ("forget", "codex:open"),
    ):
        trace = traced("sessions", *words)
        assert trace.result.status == 0, trace.result.err
        for folder in (machine.home / ".claude", machine.home / ".codex"):
            assert trace.changes_below(folder) == []
        wrote = trace.changes_below(machine.home / ".local/share/agentfeedback")
        assert bool(wrote) == (words[0] != "list"), "the trace sees what is written"
