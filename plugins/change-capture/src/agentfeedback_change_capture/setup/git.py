"""What setup asks git about a checkout, with a deadline and without starting a program that the repository names."""

from __future__ import annotations

import os

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError

SECONDS = 5.0
_OPTIONS = (
    "--no-optional-locks",
    "--no-pager",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.untrackedCache=false"),
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "diff.external="),
    *("-c", "submodule.recurse=false"),
)


def environment() -> dict[str, str]:
    """Return the environment of git: none of the caller's `GIT_*` variables is in it."""
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": os.environ.get("HOME", "/nonexistent"),
        "LANG": "C.UTF-8",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_ADVICE": "0",
    }


def run(root: str, *words: str) -> tuple[int, bytes]:
    """Run one git command in a checkout and return its status and output; (-1, b"") where git cannot be run."""
    import signal
    import subprocess

    try:
        process = subprocess.Popen(
            ["git", *_OPTIONS, *words],
            cwd=root,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
    except (OSError, ValueError):
        return -1, b""
    with process:
        try:
            out, _ = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            return -1, b""
    return process.returncode, out


def line(root: str, *words: str) -> str | None:
    """Return what a git command prints, without the line end; None where it fails."""
    status, out = run(root, *words)
    return os.fsdecode(out.removesuffix(b"\n")) if status == 0 else None


def checkout_root(path: str, flag: str = "--root") -> str:
    """Return the canonical root of a checkout that a user names.

    Raises `UsageError` for a relative path, `AgentFeedbackError` where it is not the top of a checkout.
    """
    absolute(path, flag)
    root = os.path.realpath(path)
    try:
        root.encode()
    except UnicodeEncodeError:
        raise AgentFeedbackError(
            f"{os.fsencode(root)!r} is not UTF-8, so no configuration can name it", "rename it"
        ) from None
    if not os.path.isdir(root):
        raise AgentFeedbackError(f"{path} is not a folder", "name the root of a checkout")
    top = line(root, "rev-parse", "--show-toplevel")
    if top is None:
        raise AgentFeedbackError(
            f"{path} is not a Git checkout", "name the root of a checkout that git can read"
        )
    if os.path.realpath(top) != root:
        raise AgentFeedbackError(f"{path} is not the root of its checkout", f"use {flag} {top}")
    return root


def saved_root(path: str, flag: str = "--root") -> str:
    """Return the root a binding would have been saved under, also for a checkout that is gone.

    The parents that exist are resolved, what is missing is taken as given.
    """
    absolute(path, flag)
    existing, missing = os.path.normpath(path), []
    while not os.path.lexists(existing):
        existing, name = os.path.split(existing)
        missing.append(name)
    return os.path.join(os.path.realpath(existing), *reversed(missing))


def absolute(path: str, flag: str) -> str:
    """Return a path that has to be absolute. Raises `UsageError`."""
    if not os.path.isabs(path) or "\0" in path:
        raise UsageError(f"{flag} is not an absolute path", f"use {flag} /absolute/path")
    return path


def is_ref(root: str, name: str) -> bool:
    """Return whether git takes this for the name of a reference."""
    if name.startswith("-") or not name:
        return False
    return run(root, "check-ref-format", "--allow-onelevel", name)[0] == 0


def default_base_ref(root: str) -> str:
    """Return the default branch at origin where that resolves to a commit, else `origin/main`."""
    head = line(root, "symbolic-ref", "-q", "refs/remotes/origin/HEAD")
    prefix = "refs/remotes/"
    if head is not None and head.startswith(prefix + "origin/"):
        commit = line(root, "rev-parse", "-q", "--verify", "--end-of-options", head + "^{commit}")
        if commit is not None:
            return head.removeprefix(prefix)
    return "origin/main"


def is_ignored(root: str, path: str) -> bool | None:
    """Return whether git ignores a path of the checkout; None where it cannot say."""
    status, _ = run(root, "check-ignore", "-q", "--", path)
    return {0: True, 1: False}.get(status)


def exclude_file(root: str) -> str | None:
    """Return the path of the local exclude, which all worktrees of the repository share."""
    found = line(root, "rev-parse", "--git-path", "info/exclude")
    return os.path.join(root, found) if found else None
