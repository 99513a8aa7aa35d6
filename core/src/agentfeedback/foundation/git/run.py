"""Runs git on a repository that nobody trusts: nothing the repository says can make git start a program.

Git takes the names of programs from its configuration: filters, hooks, file system monitors, pagers,
diff and merge drivers, credential helpers and many more, a longer list with each version. So git is
not given the repository's configuration at all. It works on a git folder made for this one run, with
a configuration of our own; the repository lends its index, objects, references and work tree, which
name no program. A `.gitattributes` file may name a filter, but only configuration says what a filter
runs. Neither does the user's or the system's configuration count, nor any variable of the environment.
"""

from __future__ import annotations

import os
import signal

from agentfeedback.foundation.files import regular_bytes, write_new

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from collections.abc import Mapping, Sequence

    from agentfeedback.foundation.git.root import GitFolders

#: How long git may take, in seconds.
SECONDS = 2.0
_HEAD_LIMIT = 1 << 12
_CONFIG = b"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\thooksPath = /dev/null\n"
_ENVIRONMENT = {
    "GIT_ASKPASS": "",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PROTOCOL_FROM_USER": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "PATH": os.defpath,
}
# The options repeat what our configuration leaves out, should a version of git come to a default of its own.
_GIT = (
    *("git", "--no-pager", "--no-optional-locks", "--literal-pathspecs"),
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "core.untrackedCache=false", "-c", "submodule.recurse=false"),
    *("-c", "protocol.allow=never"),
)


def run_git(
    repository: GitFolders, *arguments: str, core: Mapping[str, str] | None = None
) -> bytes | None:
    """Run one git command that only reads, at the root of a work tree, and return what it prints.

    `core` gives members of the section `core` that say how files are stored (`autocrlf`, `filemode`),
    for a caller who has read them; their values must be trusted not to name a program. None stands
    for every failure: no git, one that takes longer than `SECONDS`, a folder of another user (as git
    itself refuses it), or a command that ends with an error.
    """
    if not _is_own(repository):
        return None
    import tempfile

    try:
        with tempfile.TemporaryDirectory(prefix="agentfeedback-git-") as folder:
            _lend(repository, folder)
            environment = _ENVIRONMENT | {
                "GIT_COMMON_DIR": folder,
                "GIT_DIR": folder,
                "GIT_INDEX_FILE": os.path.join(repository.folder, "index"),
                "GIT_OBJECT_DIRECTORY": os.path.join(repository.common, "objects"),
                "GIT_WORK_TREE": repository.root,
            }
            settings = (core or {}).items()
            options = [word for name, value in settings for word in ("-c", f"core.{name}={value}")]
            return _printed([*_GIT, *options, *arguments], repository.root, environment)
    except (OSError, ValueError):  # a path of the repository may hold anything
        return None


def _is_own(repository: GitFolders) -> bool:
    """Whether work tree and folders belong to this user: git asks the same, but not when it is given a git folder."""
    try:
        return all(
            os.stat(path).st_uid == os.geteuid()
            for path in (repository.root, repository.folder, repository.common)
        )
    except (OSError, ValueError):
        return False


def _lend(repository: GitFolders, folder: str) -> None:
    """Fill a git folder with our configuration and with links to what the repository lends."""
    head = regular_bytes(os.path.join(repository.folder, "HEAD"), _HEAD_LIMIT)
    write_new(os.path.join(folder, "HEAD"), head)
    write_new(os.path.join(folder, "config"), _CONFIG)
    for name in ("refs", "packed-refs", "info", "shallow"):
        os.symlink(os.path.join(repository.common, name), os.path.join(folder, name))
    with os.scandir(repository.folder) as entries:
        for entry in entries:
            if entry.name.startswith("sharedindex."):  # the larger part of a split index
                os.symlink(entry.path, os.path.join(folder, entry.name))


def _printed(words: Sequence[str], directory: str, environment: Mapping[str, str]) -> bytes | None:
    import subprocess

    git = subprocess.Popen(
        words,
        cwd=directory,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        process_group=0,
    )
    with git:
        try:
            printed, _ = git.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _kill(git)
            return None
        except BaseException:
            _kill(git)
            raise
    return printed if git.returncode == 0 else None


def _kill(git: subprocess.Popen[bytes]) -> None:
    # A group of its own, so that a process git started for itself ends too.
    os.killpg(git.pid, signal.SIGKILL)
