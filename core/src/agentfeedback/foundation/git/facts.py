"""What the files of a git repository say about a directory in it (platform details 1.5).

Files alone are read, each bounded and regular. The one question that files do not answer, whether
something is modified, is put to git only where nothing in the repository's configuration could make
git run another program.
"""

from __future__ import annotations

import os
import re
import subprocess
import zlib
from collections.abc import Iterator

from attrs import define

from agentfeedback.foundation.files import regular_bytes
from agentfeedback.foundation.git.config import GitConfig, harmless, parsed
from agentfeedback.foundation.git.root import repository_root

#: How long git may take, in seconds.
PATIENCE = 2.0
_LIMIT = 1 << 20
_PACKED_LIMIT = 16 << 20
_TAGS = 4096
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_URL = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://([^/?#]*)([^?#]*)", re.ASCII)
_SCP = re.compile(r"(?:[^/@:]*@)?(\[[^\]]*\]|[^/:]+):(.*)", re.DOTALL)

_ENVIRONMENT = {
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "PATH": os.defpath,
}
_STATUS = (
    "git",
    *("-c", "core.fsmonitor=false", "-c", f"core.hooksPath={os.devnull}"),
    *("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all"),
)


def git_facts(directory: str, home: str) -> dict[str, str]:
    """The git members of a context for an absolute directory, and `repo_root`; empty outside a repository."""
    root = repository_root(directory)
    if root is None:
        return {}
    facts = {"repo_root": below_home(root, home)}
    repository = _Repository.at(root)
    if repository is None:
        return facts
    branch = repository.branch()
    remote = repository.remote(branch)
    commit = repository.commit()
    found = {
        "git_remote": shown_remote(repository.value("remote", remote, "url"), home),
        "git_branch": branch,
        "git_commit": commit,
        "git_upstream": repository.upstream(branch),
        "git_tag": repository.tag(commit) if commit else "",
        "git_default_branch": repository.default_branch(remote),
        "git_dirty": _dirty(root) if repository.harmless() else "",
    }
    facts.update((name, value) for name, value in found.items() if value)
    return facts


def below_home(path: str, home: str) -> str:
    """A path with the home shown as `~`."""
    home = home.rstrip("/")
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def shown_remote(url: str, home: str) -> str:
    """The address of a remote without user, password, query and fragment; a local one below the home from `~`."""
    match = _URL.match(url)
    if match is not None:
        scheme, authority, path = match.groups()
        if scheme.lower() == "file":
            return below_home(path, home)
        return f"{scheme}://{authority.rpartition('@')[2]}{path}"
    if url.startswith(("/", "~", ".")):
        return below_home(url, home)
    scp = _SCP.fullmatch(url)
    return f"{scp[1]}:{re.split('[?#]', scp[2])[0]}" if scp else url


def project_of(remote: str) -> str:
    """The repository's name: the last segment of its remote, without `.git`."""
    return re.split("[/:]", remote.rstrip("/"))[-1].removesuffix(".git")


@define(eq=False)
class _Repository:
    """The two folders of a repository: a linked work tree has one of its own beside the common one."""

    folder: str
    common: str
    config: GitConfig | None = None

    @classmethod
    def at(cls, root: str) -> _Repository | None:
        folder = os.path.join(root, ".git")
        if not os.path.isdir(folder):
            first = _text(folder).partition("\n")[0]
            folder = os.path.join(root, first.removeprefix("gitdir: ").rstrip("\r"))
        if not os.path.isdir(folder):
            return None
        common = os.path.join(folder, _text(os.path.join(folder, "commondir")).strip() or ".")
        found = cls(folder, common)
        found.config = parsed(_text(os.path.join(common, "config")))
        return found

    def value(self, section: str, name: str, key: str) -> str:
        return (self.config or {}).get((section, name), {}).get(key, "")

    def head(self) -> str:
        return _text(os.path.join(self.folder, "HEAD")).strip()

    def branch(self) -> str:
        head = self.head()
        return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else ""

    def commit(self) -> str:
        head = self.head()
        return self._resolved(head[5:].strip()) if head.startswith("ref: ") else _hash(head)

    def remote(self, branch: str) -> str:
        names = [name for section, name in self.config or {} if section == "remote"]
        own = self.value("branch", branch, "remote")
        for name in ("origin", own, *names[:1]):
            if name in names:
                return name
        return ""

    def upstream(self, branch: str) -> str:
        remote = self.value("branch", branch, "remote")
        merge = self.value("branch", branch, "merge").removeprefix("refs/heads/")
        if not remote or not merge:
            return ""
        return merge if remote == "." else f"{remote}/{merge}"

    def default_branch(self, remote: str) -> str:
        if not remote or not _inside(remote):
            return ""
        head = _text(os.path.join(self.common, "refs", "remotes", remote, "HEAD")).strip()
        before = f"ref: refs/remotes/{remote}/"
        return head.removeprefix(before) if head.startswith(before) else ""

    def tag(self, commit: str) -> str:
        """The first tag by name that is, or whose tag object names, this commit."""
        packed = self._packed()
        names = {name for name in packed if name.startswith("refs/tags/")}
        names.update(self._loose_tags())
        for name in sorted(names)[:_TAGS]:
            loose = _hash(_text(os.path.join(self.common, name)).strip())
            own, peeled = packed.get(name, ("", ""))
            if loose and loose != own:
                own, peeled = loose, ""
            if commit in (own, peeled) or (not peeled and self._tagged(own) == commit):
                return name.removeprefix("refs/tags/")
        return ""

    def harmless(self) -> bool:
        """Whether nothing configured here could make git run a program or read another configuration."""
        own = os.path.lexists(os.path.join(self.folder, "config.worktree"))
        return self.config is not None and not own and harmless(self.config)

    def _loose_tags(self) -> Iterator[str]:
        top = os.path.join(self.common, "refs", "tags")
        for folder, _, names in os.walk(top):
            for name in names:
                yield os.path.relpath(os.path.join(folder, name), self.common)

    def _resolved(self, ref: str) -> str:
        if not _inside(ref):
            return ""
        for folder in (self.folder, self.common):
            if found := _hash(_text(os.path.join(folder, ref)).strip()):
                return found
        return self._packed().get(ref, ("", ""))[0]

    def _packed(self) -> dict[str, tuple[str, str]]:
        """Each packed ref with its hash, and for an annotated tag the hash of what it names."""
        found: dict[str, tuple[str, str]] = {}
        last = ""
        for line in _text(os.path.join(self.common, "packed-refs"), _PACKED_LIMIT).splitlines():
            if line.startswith("^"):
                if last in found:
                    found[last] = (found[last][0], _hash(line[1:].strip()))
                continue
            hash, _, name = line.partition(" ")
            if _hash(hash):
                found[name], last = (hash, ""), name
        return found

    def _tagged(self, hash: str) -> str:
        """The commit that a loose tag object names."""
        if not hash:
            return ""
        try:
            path = os.path.join(self.common, "objects", hash[:2], hash[2:])
            start = zlib.decompressobj().decompress(regular_bytes(path, _LIMIT), 512)
        except (OSError, ValueError, zlib.error):
            return ""
        kind, _, body = start.partition(b"\0")
        first = body.partition(b"\n")[0].decode("ascii", "replace")
        return _hash(first.removeprefix("object ")) if kind.startswith(b"tag ") else ""


def _dirty(root: str) -> str:
    try:
        done = subprocess.run(
            _STATUS,
            cwd=root,
            env=_ENVIRONMENT,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""  # no git, one too slow, or one that does not trust the folder
    return "true" if done.stdout else "false"


def _text(path: str, limit: int = _LIMIT) -> str:
    try:
        return regular_bytes(path, limit).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""


def _hash(text: str) -> str:
    return text if _HASH.fullmatch(text) else ""


def _inside(ref: str) -> bool:
    return not ref.startswith("/") and ".." not in ref.split("/") and "\0" not in ref
