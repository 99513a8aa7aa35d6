"""Names that say whose session it was, and what a corpus has in their place. Pure.

A replacement is never longer than what it replaces, so that a line can keep its length.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

#: What stands for each kind of name, longest first: the first that fits is taken.
_HOMES = ("/home/user", "/home/u", "/h/u", "/u")
_PROJECTS = ("/srv/app/{}", "/srv/{}", "/s/{}", "/{}")
_MAILS = ("user@example.com", "u@example.com", "u@ex.com", "u@e.co")
_USERS = ("user", "usr")
_HOSTS = ("host", "box")
_APPS = ("app{}", "ap{}")
_REMOTES = ("app/app", "a/app", "a/a")

#: Below this nothing is renamed: it is where a corpus' projects are.
_PUBLIC = "/srv/app"
#: Words too common to be anybody's name: replacing them would change what commands mean.
_COMMON = frozenset(
    (
        *(
            "admin",
            "agent",
            "api",
            "app",
            "apps",
            "build",
            "client",
            "code",
        ),
        *(
            "core",
            "data",
            "demo",
            "dev",
            "docs",
            "git",
            "home",
            "host",
        ),
        *(
            "lib",
            "local",
            "localhost",
            "main",
            "node",
            "project",
            "projects",
            "python",
        ),
        *(
            "repo",
            "root",
            "runner",
            "server",
            "service",
            "site",
            "source",
            "src",
        ),
        *(
            "test",
            "tests",
            "tool",
            "tools",
            "ubuntu",
            "usr",
            "user",
            "users",
        ),
        *(
            "vagrant",
            "web",
            "work",
            "workspace",
        ),
    )
)
_LEAST = 3

_BEFORE = "(?<![A-Za-z0-9])"
_AFTER = "(?![A-Za-z0-9])"
_PATH_END = "(?![A-Za-z0-9_-])"
_MAIL = (
    r"(?<![A-Za-z0-9._%+-])(?!git@|noreply@)[A-Za-z0-9._%+-]+"
    r"@(?!(?:[A-Za-z0-9-]+\.)*example\.(?:com|net|org)\b)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}"
)
_SOMEBODY = r"/(?:home|Users)/(?!(?:user|u)(?![A-Za-z0-9._-]))[A-Za-z0-9_][A-Za-z0-9._-]*"
_REMOTE = (
    r"(?:git@[A-Za-z0-9.-]+[:/]|https?://[A-Za-z0-9.-]+/)(?P<remote>[A-Za-z0-9_./-]+?)(?=\.git\b)"
)


class Names:
    """Old names and new ones: made for one session, and `text` replaces them in any text of it.

    `home` is that of the store, `own` the caller's home, `directories` where the session ran, in
    order; `user` and `hosts` are the caller's. `given` are pairs a maintainer named, which win.
    `encoded(path)` gives the names a harness may write a path as, likeliest first.
    """

    def __init__(
        self,
        *,
        home: str,
        own: str = "",
        directories: Sequence[str] = (),
        user: str = "",
        hosts: Sequence[str] = (),
        given: Iterable[tuple[str, str]] = (),
        encoded: Callable[[str], Iterable[str]] | None = None,
    ) -> None:
        #: How often each old name was replaced.
        self.counts: Counter[tuple[str, str]] = Counter()
        self._given = dict(given)
        self._paths: dict[str, str] = {}
        self._words: dict[str, str] = {}
        homes = {
            form.rstrip("/")
            for each in (home, own)
            if each.strip("/")
            for form in (each, os.path.realpath(each))
        }
        self._projects(directories, homes)
        for each in homes:
            self._paths.setdefault(each, _fitting(_HOMES, each))
            self._word(os.path.basename(each), _USERS)
        self._word(user, _USERS)
        for host in hosts:
            self._word(host, _HOSTS)
        encodings: dict[str, str] = {}
        if encoded is not None:
            for old, new in {**self._paths, **self._given}.items():
                if not os.path.isabs(old):
                    continue
                name = next(iter(encoded(new)), "")
                encodings.update((each, name) for each in encoded(old) if len(name) <= len(each))
        self._encoded = encodings
        self._table = {**self._paths, **encodings, **self._words, **self._given}
        self._table |= {_escaped(old): _escaped(new) for old, new in self._table.items()}
        self._search = re.compile(self._pattern())

    def _projects(self, directories: Iterable[str], homes: set[str]) -> None:
        number = 0
        for directory in dict.fromkeys(os.path.normpath(each) for each in directories):
            if directory in ("/", "//", *homes, *self._given) or _below(directory, _PUBLIC):
                continue
            if any(_below(directory, known) for known in self._paths):
                continue
            number += 1
            for form in dict.fromkeys((directory, os.path.realpath(directory))):
                self._paths[form] = _fitting(_PROJECTS, form, number)
            self._word(os.path.basename(directory), _APPS, number)

    def _word(self, word: str, forms: Sequence[str], number: int = 0) -> None:
        if len(word) >= _LEAST and word.lower() not in _COMMON and not word.isdigit():
            self._words.setdefault(word, _fitting(forms, word, number))

    def _pattern(self) -> str:
        def longest(words: Iterable[str]) -> str:
            both = {form for word in words if word for form in (word, _escaped(word))}
            return "|".join(re.escape(each) for each in sorted(both, key=len, reverse=True))

        parts = [
            (longest(self._given), "", ""),
            (longest(self._paths), "", _PATH_END),
            (longest(self._encoded), _BEFORE, ""),
            (_MAIL, "", ""),
            (_SOMEBODY, "", ""),
            (_REMOTE, "", ""),
            (longest(self._words), f"{_BEFORE}(?i:", f"){_AFTER}"),
        ]
        return "|".join(f"{before}(?:{body}){after}" for body, before, after in parts if body)

    def text(self, text: str) -> str:
        """`text` with the new names."""
        return self._search.sub(self._replaced, text)

    def left(self, text: str) -> list[str]:
        """Old names still in a text, be it inside longer words: it is for a person to judge them."""
        low = text.lower()
        found = [old for old in (*self._given, *self._paths, *self._words) if old.lower() in low]
        new = "\n".join(self._table.values()).lower()
        return [old for old in found if old.lower() not in new]

    def _replaced(self, match: re.Match[str]) -> str:
        old = match[0]
        if match["remote"] is not None:
            start = match.start("remote") - match.start()
            new = old[:start] + _fitting(_REMOTES, match["remote"])
        else:
            new = self._new(old)
        if new != old:
            self.counts[old, new] += 1
        return new

    def _new(self, old: str) -> str:
        if old in self._table:
            return self._table[old]
        for word, new in self._words.items():
            if word.lower() == old.lower():
                return new
        if "@" in old:
            return _fitting(_MAILS, old)
        return _fitting(_HOMES, old)


def pairs(texts: Iterable[str]) -> list[tuple[str, str]]:
    """The pairs of `--rename OLD=NEW`; raises ValueError for another form."""
    found = []
    for text in texts:
        old, equals, new = text.partition("=")
        if not old or not equals:
            raise ValueError(f"--rename {text}: want OLD=NEW")
        found.append((old, new))
    return found


def _fitting(forms: Sequence[str], old: str, number: int = 0) -> str:
    """The first form that is not longer than the old name in bytes, else the shortest."""
    room = len(old.encode("utf-8", "surrogatepass"))
    shaped = [form.format(number) for form in forms]
    return next((form for form in shaped if len(form) <= room), shaped[-1])


def _below(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def _escaped(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)[1:-1]
