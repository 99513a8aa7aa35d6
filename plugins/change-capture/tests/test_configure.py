"""Configuring a checkout and everything after it: what is saved, what is refused, and what stays as it was."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback_change_capture.setup import (
    bindings,
    capture,
    claude_settings,
    clients,
    connections,
    private_files,
)


def tree(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, with its inode: what is not touched has the same."""
    return {
        f"{path.relative_to(folder)} {path.stat().st_ino}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_configure_binds_the_checkout_and_puts_the_hooks_in_place(checkout: Any) -> None:
    binding = checkout.configure()
    assert checkout.bindings() == {"version": 5, "bindings": [binding.record()]}
    assert (binding.hub, binding.repository) == ("https://hub.example", "demo/app")
    assert binding.spool_inode == checkout.spool.stat().st_ino
    assert claude_settings.state(str(checkout.settings), str(checkout.root)) == "installed"
    assert (checkout.spool / "checkout.lock").is_file()
    found = json.loads((checkout.spool / "checkout.json").read_bytes())
    assert found["root"] == str(checkout.root)


def test_configuring_twice_changes_nothing(checkout: Any) -> None:
    checkout.configure()
    before = tree(checkout.home)
    done = capture.configure_checkout(
        str(checkout.root), {}, checkout.environ, program="/opt/agentscm"
    )
    assert (done.added, done.unchanged, done.created_spool) == (0, 11, False)
    checkout.configure()
    assert tree(checkout.home) == before


@pytest.mark.parametrize("name", ["spool", "worktree_id", "base_ref", "setup_digest"])
def test_what_the_first_time_needs(checkout: Any, name: str) -> None:
    with pytest.raises(UsageError, match=name.replace("_", "-")):
        checkout.configure(**{name: ""})
    assert not checkout.settings.exists()
    assert not checkout.spool.exists()


def test_no_connection(checkout: Any) -> None:
    clients.remove(str(checkout.root), checkout.environ)
    before = tree(checkout.home)
    for attempt in (checkout.configure, checkout.enable):
        with pytest.raises(AgentFeedbackError, match="no client connection for this checkout"):
            attempt()
    assert {key for key in tree(checkout.home) if "lock" not in key} == {
        key for key in before if "lock" not in key
    }


def test_the_floor_and_limits_that_only_grow(checkout: Any) -> None:
    for limits in ({"records": 47}, {"bytes": 65_535}, {"artifact_bytes": 1 << 40}):
        with pytest.raises(AgentFeedbackError, match="do not fit"):
            checkout.configure(limits=limits)
    assert not checkout.spool.exists()
    small = checkout.configure(limits={"records": 48, "bytes": 65_536})
    assert small.limits["artifact_bytes"] == 65_536
    with pytest.raises(AgentFeedbackError, match="would shrink"):
        checkout.again(limits={"artifact_bytes": 100})
    larger = checkout.again(limits={"records": 100})
    assert larger.limits == small.limits | {"records": 100}
    found = json.loads((checkout.spool / "limits.json").read_bytes())
    assert (found["records"], found["rev"]) == (100, 2)


def test_a_spool_that_is_not_this_checkout_s(checkout: Any) -> None:
    checkout.configure()
    other = checkout.make(checkout.home / "other")
    clients.record(str(other), "https://hub.example", "demo/app", "t", "", checkout.environ)
    given = {
        "spool": str(checkout.spool),
        "worktree_id": "checkout_2",
        "base_ref": "origin/main",
        "setup_digest": "b" * 64,
    }
    with pytest.raises(AgentFeedbackError, match="spool of another checkout"):
        capture.configure_checkout(str(other), given, checkout.environ, program="/opt/agentscm")
    shutil.copytree(checkout.spool, checkout.home / "copy")
    with pytest.raises(AgentFeedbackError, match="copied, restored or replaced"):
        capture.configure_checkout(
            str(other),
            given | {"spool": str(checkout.home / "copy")},
            checkout.environ,
            program="/opt/agentscm",
        )
    assert not (other / ".claude").exists()


def test_a_folder_that_is_not_a_spool_is_refused_untouched(checkout: Any) -> None:
    checkout.spool.mkdir(mode=0o700)
    (checkout.spool / "notes").write_text("mine")
    before = tree(checkout.spool)
    with pytest.raises(AgentFeedbackError, match=str(checkout.spool)):
        checkout.configure()
    assert tree(checkout.spool) == before
    assert not checkout.settings.exists()
    assert not (checkout.config / "change-capture.json").exists()


def test_a_spool_moves_with_its_inode_and_is_not_replaced(checkout: Any) -> None:
    first = checkout.configure()
    elsewhere = checkout.spool.with_name("moved")
    with pytest.raises(AgentFeedbackError, match="a checkout keeps its spool"):
        checkout.again(spool=str(elsewhere))
    checkout.spool.rename(elsewhere)
    moved = checkout.again(spool=str(elsewhere))
    assert (moved.spool, moved.spool_id) == (str(elsewhere), first.spool_id)
    shutil.rmtree(elsewhere)
    with pytest.raises(AgentFeedbackError):
        checkout.again()
    assert not elsewhere.exists(), "nothing is initialised in the place of a known spool"


def test_a_crash_before_the_binding_leaves_a_spool_that_is_adopted(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(bindings, "save", killed)
        with pytest.raises(KeyboardInterrupt):
            checkout.configure()
    assert checkout.send("SessionStart", source="startup") == ("", [])
    spool = json.loads((checkout.spool / "format.json").read_bytes())["spool_id"]
    assert checkout.configure().spool_id == spool


def test_settings_that_cannot_be_edited_leave_no_binding(checkout: Any) -> None:
    checkout.settings.parent.mkdir()
    checkout.settings.write_text("{// comment\n}")
    with pytest.raises(AgentFeedbackError, match="not strict JSON"):
        checkout.configure()
    assert not (checkout.config / "change-capture.json").exists()
    assert not checkout.spool.exists()


def test_another_settings_file_is_recorded_and_the_hooks_move(checkout: Any) -> None:
    checkout.configure()
    other = checkout.home / "settings.json"
    other.write_text('{"a": 1}\n')
    checkout.again(claude_settings=str(other))
    assert checkout.bindings()["version"] == 6
    assert not checkout.settings.exists()
    assert claude_settings.state(str(other), str(checkout.root)) == "installed"
    checkout.again(claude_settings="")
    assert checkout.bindings()["version"] == 5
    assert other.read_text() == '{"a": 1}\n'


def test_a_file_system_whose_locks_do_not_exclude_is_refused(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentfeedback.foundation import lock

    monkeypatch.setattr(lock.fcntl, "flock", lambda *_: None)
    with pytest.raises(AgentFeedbackError, match="without working locks"):
        checkout.configure()
    assert not checkout.settings.exists()
    assert not (checkout.config / "change-capture.json").exists()


def test_wrong_references(checkout: Any) -> None:
    for name in ("a..b", "-x", "a b", "refs/heads/x.lock"):
        with pytest.raises(UsageError, match="--base-ref"):
            checkout.configure(base_ref=name)


# --- modes, off and away ----------------------------------------------------------------------


def mode(checkout: Any, wanted: str, expected: Any = None) -> str:
    previous: str = capture.set_capture_mode(
        str(checkout.root),
        wanted,
        checkout.environ,
        expected=expected,  # type: ignore[arg-type]
    )
    return previous


def test_set_mode_changes_the_mode_and_nothing_else(checkout: Any) -> None:
    checkout.configure()
    before = tree(checkout.home)
    assert mode(checkout, "shared-conversation") == "metadata-only"
    assert checkout.bindings()["version"] == 6
    assert mode(checkout, "local-conversation") == "shared-conversation"
    assert checkout.bindings()["version"] == 5
    assert mode(checkout, "metadata-only") == "local-conversation"
    config = "change-capture.json"
    after = tree(checkout.home)
    assert [value for key, value in after.items() if config in key] == [
        value for key, value in before.items() if config in key
    ]
    assert {key for key in after if config not in key} - set(before) == set()


def test_raising_needs_a_matching_connection_and_lowering_needs_none(checkout: Any) -> None:
    checkout.configure(capture_mode="local-conversation")
    clients.record(
        str(checkout.root), "https://other.example", "demo/app", "t", "", checkout.environ
    )
    with pytest.raises(AgentFeedbackError, match=r"now connected to demo/app on https://other"):
        mode(checkout, "shared-conversation")
    clients.remove(str(checkout.root), checkout.environ)
    with pytest.raises(AgentFeedbackError, match="no client connection"):
        mode(checkout, "shared-conversation")
    shutil.rmtree(checkout.spool)
    assert mode(checkout, "metadata-only") == "local-conversation"
    with pytest.raises(AgentFeedbackError, match="no client connection"):
        mode(checkout, "local-conversation")


def test_consent_is_bound_to_what_was_shown(checkout: Any) -> None:
    checkout.configure()
    wrong = ("demo/other", "https://hub.example")
    said = "this checkout is now connected to demo/app on https://hub.example; refresh and confirm"
    for attempt in (
        lambda: mode(checkout, "shared-conversation", wrong),
        lambda: checkout.enable(expected=wrong),
    ):
        with pytest.raises(AgentFeedbackError, match=said):
            attempt()
    assert checkout.bindings()["version"] == 5
    assert mode(checkout, "metadata-only", wrong) == "metadata-only"
    mode(checkout, "shared-conversation", ("demo/app", "https://hub.example"))


def test_unconfigure_keeps_everything_but_the_hooks(checkout: Any) -> None:
    saved = checkout.configure()
    spool = tree(checkout.spool)
    binding, removed, warnings = capture.unconfigure(str(checkout.root), checkout.environ)
    assert (removed, warnings) == (11, [])
    assert binding == saved.replaced(enabled=False)
    assert not checkout.settings.exists()
    assert tree(checkout.spool) == spool
    assert checkout.send("SessionStart", source="startup") == ("", [])
    with pytest.raises(AgentFeedbackError, match="is off"):
        mode(checkout, "metadata-only")
    again = capture.unconfigure(str(checkout.root), checkout.environ)
    assert again[1] == 0
    assert checkout.again() == saved
    with pytest.raises(AgentFeedbackError, match="no capture binding for this checkout"):
        capture.unconfigure("/elsewhere", checkout.environ)


def test_unconfigure_where_the_settings_cannot_be_edited(checkout: Any) -> None:
    checkout.configure()
    checkout.settings.write_text("{")
    binding, removed, [warning] = capture.unconfigure(str(checkout.root), checkout.environ)
    assert (binding.enabled, removed) == (False, 0)
    assert "without any effect" in warning
    assert checkout.settings.read_text() == "{"


def test_forget_removes_a_disabled_binding_alone(checkout: Any) -> None:
    checkout.configure()
    spool = tree(checkout.spool)
    with pytest.raises(AgentFeedbackError, match="run agentscm change-capture unconfigure first"):
        capture.forget(str(checkout.root), checkout.environ)
    capture.unconfigure(str(checkout.root), checkout.environ)
    binding, lines, warnings = capture.forget(str(checkout.root), checkout.environ)
    assert (binding.spool, lines, warnings) == (str(checkout.spool), 0, [])
    assert tree(checkout.spool) == spool
    assert checkout.bindings() == {"version": 5, "bindings": []}
    with pytest.raises(AgentFeedbackError, match="no capture binding"):
        capture.forget(str(checkout.root), checkout.environ)


def test_a_checkout_that_is_gone(checkout: Any) -> None:
    from agentfeedback_change_capture.setup.git import saved_root

    link = checkout.home / "link"
    link.symlink_to(checkout.home)
    checkout.configure()
    shutil.rmtree(checkout.root)
    root = saved_root(str(link / "shop"))
    assert root == str(checkout.root)
    assert capture.unconfigure(root, checkout.environ)[1] == 0
    assert not checkout.root.exists()
    capture.forget(root, checkout.environ)
    assert saved_root("/gone/../gone/./a") == "/gone/a"


def test_a_replaced_or_removed_connection_lowers_a_shared_binding(checkout: Any) -> None:
    checkout.configure(capture_mode="shared-conversation")
    root = str(checkout.root)
    same = clients.record(root, "https://hub.example", "demo/app", "new", "ada", checkout.environ)
    assert not same[1]
    assert bindings.load(str(checkout.config))[0].capture_mode == "shared-conversation"
    [before] = connections.load(str(checkout.config))
    made, lowered = clients.record(root, "https://hub.example", "x", "t", "", checkout.environ)
    assert lowered
    assert made.connection_id != before.connection_id
    assert bindings.load(str(checkout.config))[0].capture_mode == "metadata-only"
    clients.record(root, "https://hub.example", "demo/app", "t", "", checkout.environ)
    assert bindings.load(str(checkout.config))[0].capture_mode == "metadata-only"
    mode(checkout, "shared-conversation")
    assert clients.remove(root, checkout.environ)
    assert bindings.load(str(checkout.config))[0].capture_mode == "metadata-only"


def test_the_setting_that_every_surface_reads(checkout: Any) -> None:
    def read() -> tuple[Any, ...]:
        found = capture.capture_setting(str(checkout.root), checkout.environ)
        return found.configured, found.enabled, found.mode, found.lineage_mismatch, found.bound_hub

    assert read() == (False, False, "", False, None)
    checkout.configure()
    assert read() == (True, True, "metadata-only", False, "https://hub.example")
    clients.record(str(checkout.root), "https://b.example", "demo/app", "t", "", checkout.environ)
    assert read() == (True, True, "metadata-only", True, "https://hub.example")
    clients.remove(str(checkout.root), checkout.environ)
    assert read()[3] is True


# --- one step ---------------------------------------------------------------------------------


def status(root: Path) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), "status", "--porcelain", "--untracked-files=all"],
        check=True,
        capture_output=True,
        env={"HOME": "/nonexistent", "PATH": os.environ["PATH"]},
    )
    return done.stdout.decode()


def test_one_step_has_defaults_that_say_nothing_of_the_path(checkout: Any) -> None:
    binding = checkout.enable().binding
    assert binding.capture_mode == "shared-conversation"
    assert binding.action_rules == ["Bash=execution:partial:process_exit_code"]
    assert binding.base_ref == "origin/main"
    assert binding.worktree_id.startswith("checkout_")
    assert len(binding.worktree_id) == len("checkout_") + 32
    spool = Path(binding.spool)
    assert spool.parent == checkout.config / "capture-spools"
    assert len(spool.name) == 32
    assert spool.stat().st_mode & 0o777 == 0o700
    assert (binding.limits["records"], binding.limits["bytes"]) == (4096, 64 << 20)
    assert status(checkout.root) == ""
    exclude = checkout.root / ".git/info/exclude"
    assert exclude.read_text().endswith(
        "/.claude/settings.local.json\n/.claude/settings.local.json.agentscm-*\n"
    )


def test_one_step_again_brings_back_what_was_saved(checkout: Any) -> None:
    first = checkout.enable().binding
    assert checkout.enable(mode="metadata-only").binding == first.replaced(
        capture_mode="metadata-only"
    )
    capture.unconfigure(str(checkout.root), checkout.environ)
    assert checkout.enable().binding == first
    capture.unconfigure(str(checkout.root), checkout.environ)
    clients.record(str(checkout.root), "https://b.example", "demo/app", "t", "", checkout.environ)
    with pytest.raises(AgentFeedbackError, match="to start fresh, run"):
        checkout.enable()
    _, removed, _ = capture.forget(str(checkout.root), checkout.environ)
    assert removed == 2
    fresh = checkout.enable().binding
    assert fresh.spool != first.spool
    assert fresh.worktree_id != first.worktree_id


def test_a_default_branch_at_origin_is_the_base(checkout: Any) -> None:
    git = ["git", "-C", str(checkout.root), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for words in (
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["update-ref", "refs/remotes/origin/trunk", "HEAD"],
        ["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk"],
    ):
        subprocess.run([*git, *words], check=True, env=checkout.environ)
    assert checkout.enable().binding.base_ref == "origin/trunk"


def test_a_settings_file_that_was_there_is_not_hidden(checkout: Any) -> None:
    checkout.settings.parent.mkdir()
    checkout.settings.write_text("{}")
    before = (checkout.root / ".git/info/exclude").read_bytes()
    assert checkout.enable().binding.exclude_lines == []
    assert (checkout.root / ".git/info/exclude").read_bytes() == before
    assert ".claude/settings.local.json" in status(checkout.root)


def test_what_git_ignores_already_is_not_added(checkout: Any) -> None:
    (checkout.root / ".gitignore").write_text(".claude/\n")
    checkout.enable()
    assert "agentscm" not in (checkout.root / ".git/info/exclude").read_text()


def test_the_exclude_of_a_clone_without_its_folder(checkout: Any) -> None:
    shutil.rmtree(checkout.root / ".git/info")
    assert checkout.enable().warnings == []
    assert status(checkout.root) == ""


def test_an_exclude_that_cannot_be_written_is_a_warning(checkout: Any) -> None:
    exclude = checkout.root / ".git/info/exclude"
    exclude.unlink()
    exclude.mkdir()
    [warning] = checkout.enable().warnings
    assert "shows up as an untracked file" in warning
    assert bindings.load(str(checkout.config))[0].enabled


def test_worktrees_share_the_lines_until_the_last_one_is_forgotten(checkout: Any) -> None:
    git = ["git", "-C", str(checkout.root), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    second = checkout.home / "second"
    for words in (
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", str(second)],
    ):
        subprocess.run([*git, *words], check=True, env=checkout.environ)
    exclude = checkout.root / ".git/info/exclude"
    before = exclude.read_bytes()
    clients.record(str(second), "https://hub.example", "demo/app", "t", "", checkout.environ)
    checkout.enable()
    checkout.enable(root=str(second))
    assert exclude.read_text().count("/.claude/settings.local.json\n") == 1
    assert status(second) == ""
    for root, removed in ((checkout.root, 0), (second, 2)):
        capture.unconfigure(str(root), checkout.environ)
        assert capture.forget(str(root), checkout.environ)[1] == removed
    assert exclude.read_bytes() == before
    assert not (exclude.parent / "exclude.agentscm.json").exists()


def test_a_line_stays_for_a_binding_that_did_not_add_it(checkout: Any) -> None:
    git = ["git", "-C", str(checkout.root), "-c", "user.name=a", "-c", "user.email=a@example.com"]
    second = checkout.home / "second"
    for words in (
        ["commit", "-q", "--allow-empty", "-m", "x"],
        ["worktree", "add", "-q", str(second)],
    ):
        subprocess.run([*git, *words], check=True, env=checkout.environ)
    clients.record(str(second), "https://hub.example", "demo/app", "t", "", checkout.environ)
    checkout.enable()
    given = {
        "spool": str(checkout.home / "spools/second"),
        "worktree_id": "w",
        "base_ref": "main",
        "setup_digest": "c" * 64,
    }
    capture.configure_checkout(str(second), given, checkout.environ, program="/opt/agentscm")
    capture.unconfigure(str(checkout.root), checkout.environ)
    assert capture.forget(str(checkout.root), checkout.environ)[1] == 0
    assert status(second) == ""
    capture.unconfigure(str(second), checkout.environ)
    assert capture.forget(str(second), checkout.environ)[1] == 2


# --- locks ------------------------------------------------------------------------------------


def test_locks_are_taken_in_one_order(checkout: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections, then bindings, then the spool; whatever is done, and however often."""
    from agentfeedback.foundation.lock import FileLock

    order = {
        name: at
        for at, name in enumerate(("connections.lock", "change-capture.lock", "spool.lock"))
    }
    held: list[str] = []
    taken: list[tuple[str, ...]] = []
    acquire, release = FileLock.acquire, FileLock.release

    def acquired(self: FileLock) -> None:
        name = os.path.basename(self.path)
        # That a held lock excludes is tried once, with the lock itself, without waiting.
        assert all(order[other] < order[name] for other in held if other != name)
        acquire(self)
        held.append(name)
        taken.append(tuple(held))

    def released(self: FileLock) -> None:
        held.remove(os.path.basename(self.path))
        release(self)

    monkeypatch.setattr(FileLock, "acquire", acquired)
    monkeypatch.setattr(FileLock, "release", released)
    checkout.configure()
    mode(checkout, "shared-conversation")
    checkout.send("SessionStart", source="startup")
    mode(checkout, "metadata-only")
    clients.record(str(checkout.root), "https://b.example", "demo/app", "t", "", checkout.environ)
    capture.unconfigure(str(checkout.root), checkout.environ)
    capture.forget(str(checkout.root), checkout.environ)
    checkout.enable()
    assert held == []
    assert ("connections.lock", "change-capture.lock", "spool.lock") in taken


def test_configuring_at_once_gives_the_result_of_one_after_the_other(
    checkout: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processes configure three checkouts and replace their connections, in every order they like."""
    monkeypatch.setattr(private_files, "PATIENCE", 60)
    roots = [checkout.root, *(checkout.make(checkout.home / name) for name in ("b", "c"))]
    children = []
    for at, root in enumerate(roots * 2):
        child = os.fork()
        if child:
            children.append(child)
            continue
        status = 1
        try:
            clients.record(
                str(root), "https://hub.example", "demo/app", str(at), "", checkout.environ
            )
            given = {
                "spool": str(checkout.home / "spools" / root.name),
                "worktree_id": f"w-{root.name}",
                "base_ref": "main",
                "setup_digest": "a" * 64,
            }
            capture.configure_checkout(str(root), given, checkout.environ, program="/opt/agentscm")
            status = 0
        finally:
            os._exit(status)
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [0] * 6
    found = bindings.load(str(checkout.config))
    assert sorted(each.root for each in found) == sorted(map(str, roots))
    assert len({each.spool_id for each in found}) == 3
    assert len(connections.load(str(checkout.config))) == 3
    for root in roots:
        path = bindings.default_settings(str(root))
        assert claude_settings.state(path, str(root)) == "installed"
        assert len(json.loads(Path(path).read_bytes())["hooks"]["Stop"]) == 1
