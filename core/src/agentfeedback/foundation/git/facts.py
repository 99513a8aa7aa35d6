"""What the files of a git repository say about a directory in it.

Files alone are read, each bounded and regular. The one question that files do not answer, whether
something is modified, is put to git (`git.run`), and only where the repository's configuration was
read whole and neither names a program nor includes another configuration: with a filter that does not
run, git's answer would be wrong.
"""

from __future__ import annotations

import os
import re
import zlib

from agentfeedback.foundation.files import regular_bytes
from agentfeedback.foundation.git.config import GitConfig, harmless, parsed
from agentfeedback.foundation.git.root import GitFolders, git_folders, repository_root
from agentfeedback.foundation.git.run import run_git

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Container, Iterator

_LIMIT = 1 << 20
_PACKED_LIMIT = 16 << 20
_TAGS = 4096
_HASH = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?", re.ASCII)
_HOST = re.compile(r"(?:\[[^\]]*\]|[^:]+)(?::[0-9]*)?", re.DOTALL | re.ASCII)
_SCP = re.compile(r"(?:[^/@:]*@)?(\[[^\]]*\]|[^/~.:][^/:]*):(.*)", re.DOTALL)
_STATUS = ("status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules=all")
#: How the files of a work tree are stored: git compares wrongly without these.
_STORED = ("autocrlf", "eol", "filemode", "ignorecase", "precomposeunicode", "symlinks")
_WORD = re.compile(r"[A-Za-z0-9]*", re.ASCII)


def git_facts(directory: str, home: str, without: Container[str] = ()) -> dict[str, str]:
    """Return the git members of a context for an absolute directory, and `repo_root`.

    Members in `without` are left out, and git does not run for one of them. Empty outside a repository.
    """
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
        "git_dirty": "" if "git_dirty" in without else repository.dirty(),
    }
    facts.update((name, value) for name, value in found.items() if value)
    return {name: value for name, value in facts.items() if name not in without}


def below_home(path: str, home: str) -> str:
    """A path with the home shown as `~`."""
    home = home.rstrip("/")
    if home and (path == home or path.startswith(home + "/")):
        return "~" + path[len(home) :]
    return path


def shown_remote(url: str, home: str) -> str:
    """Return the address of a remote without user, password, query and fragment; a local one below the home from `~`.

    A password may hold any character: where a `:` is followed by something else than a port, it may
    go on behind a `/`, up to the last `@` of all.
    """
    scheme, separator, rest = url.partition("://")
    if not separator:
        scp = _SCP.fullmatch(_cut(url))
        return f"{scp[1]}:{scp[2]}" if scp else below_home(_cut(url), home)
    authority, slash, path = rest.partition("/")
    _, at, host = authority.rpartition("@")
    host_only = _cut(host)
    if _HOST.fullmatch(host_only) or not (host_only or at):
        rest = host + slash + path
    else:
        rest = rest.rpartition("@")[2]
    rest = _cut(rest)
    return below_home(rest, home) if scheme.lower() == "file" else f"{scheme}://{rest}"


def _cut(text: str) -> str:
    return text.partition("#")[0].partition("?")[0]


def project_of(remote: str) -> str:
    """The repository's name: the last segment of its remote, without `.git`."""
    return re.split("[/:]", remote.rstrip("/"))[-1].removesuffix(".git")


class _Repository:
    """A repository read by its files; `config` is None where it was not read whole."""

    def __init__(self, folders: GitFolders) -> None:
        self.folders = folders
        self.folder = folders.folder
        self.common = folders.common
        text = _whole(os.path.join(self.common, "config"))
        self.config: GitConfig | None = None if text is None else parsed(text)

    @classmethod
    def at(cls, root: str) -> _Repository | None:
        folders = git_folders(root)
        return None if folders is None else cls(folders)

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

    def dirty(self) -> str:
        """Whether a tracked file is modified, `true` or `false`; empty where that cannot be found out."""
        own = os.path.lexists(os.path.join(self.folder, "config.worktree"))
        if own or self.config is None or not harmless(self.config):
            return ""
        members = self.config.get(("core", ""), {})
        core = {name: members[name] for name in _STORED if name in members}
        if not all(_WORD.fullmatch(value) for value in core.values()):
            return ""
        printed = run_git(self.folders, *_STATUS, core=core)
        return "" if printed is None else "true" if printed else "false"

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


def _text(path: str, limit: int = _LIMIT) -> str:
    return _whole(path, limit) or ""


def _whole(path: str, limit: int = _LIMIT) -> str | None:
    try:
        return regular_bytes(path, limit).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def _hash(text: str) -> str:
    return text if _HASH.fullmatch(text) else ""


def _inside(ref: str) -> bool:
    return not ref.startswith("/") and ".." not in ref.split("/") and "\0" not in ref
