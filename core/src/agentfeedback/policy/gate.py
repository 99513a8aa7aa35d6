"""When the policy is asked: before a log is opened, and after the read over all recorded directories."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agentfeedback.foundation.git.root import repository_root
from agentfeedback.policy.repository import repository_rules
from agentfeedback.policy.rules import (
    FOLDS_CASE,
    METADATA_FAILED,
    Policy,
    RepositoryRules,
    Verdict,
    absolute,
    cleaned,
    strictest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from agentfeedback.config.shape import Config
    from agentfeedback.reading.reader import Encoding, Place

# Systems name no file by more characters than this, so what is longer cannot be a link.
_LONGEST_NAMED = 4096
#: Repositories that were cloned are anybody's: they do not fill the screen.
_MOST_WARNINGS = 20


class CollectGate:
    """The core's own gate. One serves one run: what it learns of directories is kept as long as it lives.

    `homes` are the homes `~` stands for (`Paths.homes`). Recorded paths that are not absolute are
    ignored. No path, however odd, makes an answer raise.
    """

    def __init__(self, config: Config, homes: Sequence[str], *, fold: bool = FOLDS_CASE) -> None:
        self._resolved: dict[str, str | None] = {}
        self._verdicts: dict[str, Verdict | None] = {}
        self._rules: dict[str, RepositoryRules] = {}
        self._encoded: dict[
            tuple[str, Callable[[str], Iterable[Encoding]] | None], Verdict | None
        ] = {}
        self._policy = Policy(config.collect, homes, self._resolve, fold=fold)

    @property
    def disabled(self) -> bool:
        """Whether the user switched everything off, so that not even a store's metadata need be read."""
        return self._policy.disabled

    @property
    def strict(self) -> bool:
        """Whether the policy holds rules about paths: what readers get as `place(strict=...)`."""
        return self._policy.has_path_rules

    @property
    def whole(self) -> Verdict | None:
        """The refusal of every session that records where it ran; with it no store need be opened."""
        return self._policy.whole

    def before_open(self, place: Place) -> Verdict | None:
        """The verdict on what is known before the log is opened; None lets it be opened."""
        if self.disabled:
            return Verdict("disabled", "disabled")
        if place.failed and self.strict:
            return Verdict("denied", METADATA_FAILED)
        return strictest((self._over(place.paths), self._encoded_name(place)))

    def may_open(self, directory: str) -> bool:
        """Whether a store file in this absolute directory may be opened to learn which sessions it holds."""
        return not self.disabled and self._verdict(directory) is None

    def after_read(self, cwds: Iterable[str]) -> Verdict | None:
        """The verdict over all directories the log recorded, in their order; None lets it be shown."""
        if self.disabled:
            return Verdict("disabled", "disabled")
        return self._over(cwds)

    def repositories(self, directory: str) -> list[RepositoryRules]:
        """The rules of the repositories an absolute directory is in; none when it is not a directory any more.

        Reached through a link a directory may be in one repository as written and in another
        resolved: both may narrow.
        """
        if not os.path.isdir(directory):
            return []
        forms = dict.fromkeys((cleaned(directory), self._resolve(directory)))
        roots = dict.fromkeys(repository_root(form) for form in forms if form is not None)
        return [self._rules_of(root) for root in roots if root is not None]

    def warnings(self) -> list[str]:
        """What has no effect in the files of the repositories that were asked about so far, twenty at most."""
        found = [
            f"{rules.file}: {each}" for rules in self._rules.values() for each in rules.warnings
        ]
        return found[:_MOST_WARNINGS]

    def in_force(self, directory: str) -> list[RepositoryRules]:
        """`repositories`, or no rules where the user's own already refuse the directory: it is not looked into then."""
        if not absolute(directory) or self._policy.check(directory, self._resolve(directory)):
            return []
        return self.repositories(directory)

    def _over(self, directories: Iterable[str]) -> Verdict | None:
        return strictest(self._verdict(each) for each in directories if absolute(each))

    def _verdict(self, directory: str) -> Verdict | None:
        if directory not in self._verdicts:
            resolved = self._resolve(directory)
            # The user's rules first: a directory they refuse is not looked into.
            self._verdicts[directory] = self._policy.check(
                directory, resolved
            ) or self._policy.check(directory, resolved, self.repositories(directory))
        return self._verdicts[directory]

    def _encoded_name(self, place: Place) -> Verdict | None:
        if place.encoded is None:
            return None
        key = (place.encoded, place.encodings)
        if key not in self._encoded:
            self._encoded[key] = self._policy.check_encoded(place)
        return self._encoded[key]

    def _rules_of(self, root: str) -> RepositoryRules:
        if root not in self._rules:
            self._rules[root] = repository_rules(root)
        return self._rules[root]

    def _resolve(self, path: str) -> str | None:
        if path not in self._resolved:
            self._resolved[path] = resolved_form(path)
        return self._resolved[path]


def resolved_form(path: str) -> str | None:
    """An absolute path with the symbolic links of the part that exists resolved; None where that fails.

    A directory that is gone below a link is still found where the link leads.
    """
    if len(path) > _LONGEST_NAMED:
        path = cleaned(path)  # what makes it long may stand for nothing, as `./` does
    named, rest = path, ""
    if len(path) > _LONGEST_NAMED:
        cut = path.rfind(os.sep, 0, _LONGEST_NAMED)
        if cut <= 0:
            return None
        named, rest = path[:cut], path[cut:]
    try:
        return os.path.realpath(named) + rest
    except (OSError, ValueError, RecursionError):
        return None
