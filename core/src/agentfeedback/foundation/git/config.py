"""The configuration of a git repository as text: its members, and whether they are harmless. Pure."""

from __future__ import annotations

import re

#: Members by section and subsection; names of sections and members in lower case.
GitConfig = dict[tuple[str, str], dict[str, str]]

_SECTION = re.compile(r'\s*\[\s*([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\.)*)")?\s*\]\s*(.*)', re.ASCII)
_MEMBER = re.compile(r"\s*([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?", re.ASCII)
# Sections and keys that name no program and no other file.
_HARMLESS = frozenset(
    [
        "branch",
        "color",
        "commit",
        "fetch",
        "gc",
        "gui",
        "init",
        "lfs",
        "merge",
        "pull",
        "push",
        "rebase",
        "remote",
        "rerere",
        "submodule",
        "tag",
        "user",
    ]
)
_HARMLESS_CORE = frozenset(
    [
        "abbrev",
        "autocrlf",
        "bare",
        "eol",
        "filemode",
        "ignorecase",
        "logallrefupdates",
        "longpaths",
        "precomposeunicode",
        "protecthfs",
        "protectntfs",
        "quotepath",
        "repositoryformatversion",
        "safecrlf",
        "symlinks",
    ]
)


def harmless(config: GitConfig) -> bool:
    """Whether nothing in it names a program that git might run, or another configuration."""
    for (section, _), members in config.items():
        if section == "core":
            if not _HARMLESS_CORE.issuperset(members):
                return False
        elif section not in _HARMLESS or "promisor" in members:
            return False
    return True


def parsed(text: str) -> GitConfig | None:
    """A git configuration: members by section and subsection; None when it has a form not read here."""
    found: GitConfig = {}
    here: dict[str, str] | None = None
    for line in text.splitlines():
        rest = line.strip()
        section = _SECTION.fullmatch(line)
        if section is not None:
            name = re.sub(r"\\(.)", r"\1", section[2] or "")
            here = found.setdefault((section[1].lower(), name), {})
            rest = section[3]
        if not rest or rest[0] in "#;":
            continue
        member = _MEMBER.fullmatch(rest)
        value = _value(member[2]) if member is not None else None
        if member is None or here is None or value is None:
            return None
        here[member[1].lower()] = value
    return found


def _value(text: str | None) -> str | None:
    if text is None:
        return "true"  # a name alone
    pieces: list[str] = []
    quoted = False
    index = 0
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 1
            if index == len(text) or text[index] not in _ESCAPES:
                return None  # also a value that goes on in the next line
            pieces.append(_ESCAPES[text[index]])
        elif char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            break
        else:
            pieces.append(char)
        index += 1
    return None if quoted else "".join(pieces).strip()


_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "t": "\t", "b": "\b"}
