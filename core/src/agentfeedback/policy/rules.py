"""The `[collect]` rules: may what was recorded in this directory be read?

Pure: whoever asks brings the resolved form of a directory and a function that resolves policy
entries. The rules of a repository can only narrow what the user's own allow.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from attrs import frozen

if sys.platform == "win32":
    import ntpath as _path
else:
    import posixpath as _path

if TYPE_CHECKING:
    from agentfeedback.config.shape import Collect
    from agentfeedback.reading.reader import Encoding, Place

#: Whether paths are compared without case: macOS and Windows.
FOLDS_CASE = sys.platform in ("darwin", "win32")

#: The name of a repository's own file, in its root.
FILE = ".agentfeedback.toml"
#: The reason of a repository whose file is there and cannot be followed.
REPO_INVALID = "repo_invalid"

METADATA_FAILED = "the session metadata could not be read, so the policy could not be checked"

_WINDOWS = sys.platform == "win32"

Resolve = Callable[[str], str | None]


@frozen
class Verdict:
    """Why a session is refused: its state and the reason that is shown."""

    state: Literal["disabled", "denied"]
    reason: str


@frozen(eq=False)
class RepositoryRules:
    """What a repository's `.agentfeedback.toml` says; `root` is the folder it is in.

    `deny_paths` are as written. `push` is None when the file does not say. `problem` says why a
    file that is there cannot be followed, which refuses; `warnings` what of it has no effect.
    """

    root: str
    disabled: bool = False
    deny_paths: tuple[str, ...] = ()
    push: bool | None = None
    problem: str = ""
    #: Keys that are never collected into a submission's context here (`context.drop`).
    drop: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def file(self) -> str:
        """The path of the file."""
        return _path.join(self.root, FILE)

    @property
    def vetoes_push(self) -> bool:
        """Whether no session of this repository may be uploaded; a file that cannot be followed vetoes."""
        return self.push is False or bool(self.problem)


def strictest(verdicts: Iterable[Verdict | None]) -> Verdict | None:
    """The verdict that counts among several: the first `disabled`, else the first refusal, else None."""
    first: Verdict | None = None
    for verdict in verdicts:
        if verdict is None:
            continue
        if verdict.state == "disabled":
            return verdict
        first = first or verdict
    return first


def absolute(path: str) -> bool:
    """Whether a recorded path counts at all: others are ignored as if not recorded."""
    return _path.isabs(path)


def cleaned(path: str) -> str:
    """An absolute path without `.`, `..` and doubled separators, by its text alone."""
    if _WINDOWS:
        return _path.normpath(path)
    kept: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del kept[-1:]
        elif part not in ("", "."):
            kept.append(part)
    return "/" + "/".join(kept)


def folded(path: str) -> str:
    """A form in which paths that name one directory on a system without case are equal.

    Such systems also take a letter and its decomposed spelling for the same.
    """
    if path.isascii():
        return path.lower()
    return _normal("NFC", _normal("NFC", path).casefold())


def within(directory: str, entry: str) -> bool:
    """Whether a cleaned path is another one or beneath it by whole components; a root contains everything."""
    return directory == entry or _is_root(entry) or directory.startswith(entry + _path.sep)


def expanded(entry: str, homes: Sequence[str]) -> list[str]:
    """The absolute paths an entry of the user's lists stands for; none when it is not of a form that is allowed.

    `~` and `~/x` stand for one path in each home; other `~…` forms and relative paths for none.
    """
    if entry == "~":
        return list(homes)
    if entry.startswith("~/") or (_WINDOWS and entry.startswith("~\\")):
        return [home + _path.sep + entry[2:] for home in homes]
    return [entry] if _path.isabs(entry) else []


class Policy:
    """The user's rules made ready for asking.

    `homes` are the homes `~` stands for, `fold` compares without case, `resolve` gives a
    path with its symbolic links resolved or None where that fails.
    """

    def __init__(
        self, collect: Collect, homes: Sequence[str], resolve: Resolve, *, fold: bool = FOLDS_CASE
    ) -> None:
        self.disabled = collect.disabled
        self.has_path_rules = bool(collect.deny_paths) or collect.opt_in_only
        self._opt_in_only = collect.opt_in_only
        self._resolve = resolve
        self._fold = folded if fold else _as_written
        self._narrowed: dict[RepositoryRules, tuple[str, ...]] = {}
        self._deny = self._forms(
            path for entry in collect.deny_paths for path in expanded(entry, homes)
        )
        self._opt_in = self._forms(
            path for entry in collect.opt_in_paths for path in expanded(entry, homes)
        )

    @property
    def whole(self) -> Verdict | None:
        """The verdict of rules that refuse every directory, whichever it is; None when some may be read."""
        if self.disabled:
            return Verdict("disabled", "disabled")
        if any(map(_is_root, self._deny)):
            return Verdict("denied", "deny_paths")
        if self._opt_in_only and not self._opt_in:
            return Verdict("denied", "opt_in_only")
        return None

    def check(
        self, directory: str, resolved: str | None, repositories: Iterable[RepositoryRules] = ()
    ) -> Verdict | None:
        """The verdict on an absolute directory, the user's rules before a repository's; None when it may be read.

        `resolved` is None where resolving fails. `repositories` are those the directory is in
        (as written and resolved it may be in two); none when it is gone.
        """
        if self.disabled:
            return Verdict("disabled", "disabled")
        plain = self._fold(cleaned(directory))
        real = plain if resolved is None else self._fold(cleaned(resolved))
        if self._lies_in((plain, real), self._deny):
            return Verdict("denied", "deny_paths")
        # The resolved form alone: a link inside an opted-in folder must not open what it leads to.
        if self._opt_in_only and not self._lies_in((real,), self._opt_in):
            return Verdict("denied", "opt_in_only")
        rules = list(repositories)
        if any(repository.disabled for repository in rules):
            return Verdict("disabled", "repo_disabled")
        if any(repository.problem for repository in rules):
            return Verdict("denied", REPO_INVALID)
        for repository in rules:
            if self._lies_in((plain, real), self._entries_of(repository)):
                return Verdict("denied", "repo_deny_paths")
        return None

    def check_encoded(self, place: Place) -> Verdict | None:
        """The verdict on a directory name that only encodes a path; the user's rules alone.

        None means that nothing forbids to open the log: it was found allowed, or only what it
        records can tell. It is never the last word, the recorded directories are checked as well.
        """
        if self.disabled:
            return Verdict("disabled", "disabled")
        if place.encoded is None:
            return None
        name = self._fold(place.encoded)
        if self._encodes(name, place, self._deny) == "certain":
            return Verdict("denied", "deny_paths")
        if self._opt_in_only and self._encodes(name, place, self._opt_in) == "impossible":
            return Verdict("denied", "opt_in_only")
        return None

    def _encodes(
        self, name: str, place: Place, entries: Iterable[str]
    ) -> Literal["certain", "possible", "impossible"]:
        answer: Literal["possible", "impossible"] = "impossible"
        for entry in entries:
            if _is_root(entry):
                return "certain"
            if place.encodings is None:
                answer = "possible"
                continue
            for encoding in self._encodings(place.encodings, entry):
                candidate = self._fold(encoding.name)
                if encoding.exact and (name == candidate or name.startswith(candidate + "-")):
                    return "certain"
                if not encoding.exact and name.startswith(candidate):
                    answer = "possible"
        return answer

    def _encodings(
        self, encodings: Callable[[str], Iterable[Encoding]], entry: str
    ) -> Iterable[Encoding]:
        spellings = {entry: None}
        if self._fold is folded and not entry.isascii():
            # The harness encodes the spelling on disk, which may compose its letters otherwise.
            for form in ("NFC", "NFD"):
                spellings[_normal(form, entry)] = None
        for spelling in spellings:
            yield from encodings(spelling)

    def _forms(self, paths: Iterable[str]) -> tuple[str, ...]:
        # Unfolded: an encoding of a harness depends on the case of what it encodes.
        forms: dict[str, None] = {}
        for path in paths:
            forms[cleaned(path)] = None
            resolved = self._resolve(path)
            if resolved is not None:
                forms[cleaned(resolved)] = None
        return tuple(forms)

    def _entries_of(self, repository: RepositoryRules) -> tuple[str, ...]:
        if repository not in self._narrowed:
            self._narrowed[repository] = self._forms(
                _path.join(repository.root, entry)
                for entry in repository.deny_paths
                if not entry.startswith("~")
            )
        return self._narrowed[repository]

    def _lies_in(self, directories: Iterable[str], entries: Iterable[str]) -> bool:
        return any(
            within(directory, self._fold(entry)) for entry in entries for directory in directories
        )


def _is_root(path: str) -> bool:
    return _path.dirname(path) == path


def _normal(form: Literal["NFC", "NFD"], path: str) -> str:
    import unicodedata

    return unicodedata.normalize(form, path)


def _as_written(path: str) -> str:
    return path
