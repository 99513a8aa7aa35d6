"""Finds an installed entry point without `importlib.metadata`, whose import alone costs a hook's whole budget.

Only `*.dist-info/entry_points.txt` of the folders on the path are read; what is installed in
another way is found by `importlib.metadata`, when nothing else was.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType
    from typing import Any

INSTALLERS = "agentfeedback.installers"


class EntryPoint:
    """One entry point: `value` is `module:attribute`, `dist` and `version` those of what brings it."""

    __slots__ = ("dist", "group", "name", "value", "version")

    def __init__(self, group: str, name: str, value: str, dist: str, version: str) -> None:
        self.group = group
        self.name = name
        self.value = value
        self.dist = dist
        self.version = version


def blocked(environ: Mapping[str, str]) -> list[str]:
    """The names of plugins that are to be left out."""
    return [name.strip() for name in environ.get("AGENTFEEDBACK_BLOCK", "").split(",")]


def entry_points_by_name(group: str) -> dict[str, str]:
    """The entry points of a group, `module:attribute` by name; of equal names the first on the path, as with modules."""
    return _by_name(_quickly_found((group,)))


def slow_entry_points_by_name(group: str) -> dict[str, str]:
    """The same by `importlib.metadata`, however a distribution was installed."""
    return _by_name(_slowly_found((group,)))


def entry_points(groups: Collection[str], unreadable: list[str] | None = None) -> list[EntryPoint]:
    """Every entry point of these groups, in the order of the path; by `importlib.metadata` when the quick way finds none.

    `unreadable` receives a sentence for each distribution whose entry points cannot be read.
    """
    return _quickly_found(groups, unreadable) or _slowly_found(groups)


def _by_name(points: list[EntryPoint]) -> dict[str, str]:
    # Backwards, so that the first of a name is written last.
    return {point.name: point.value for point in reversed(points)}


def _quickly_found(
    groups: Collection[str], unreadable: list[str] | None = None
) -> list[EntryPoint]:
    return [
        EntryPoint(group, name, value, *_dist(folder))
        for folder, text in _files(unreadable)
        if any(f"[{group}]" in text for group in groups)
        for group in _groups(text)
        if group in groups
        for name, value in _section(text, group)
    ]


def _slowly_found(groups: Collection[str]) -> list[EntryPoint]:
    from importlib import metadata

    # A folder that is on the path twice has each of its distributions twice.
    first = {dist.name: dist for dist in reversed(list(metadata.distributions()))}
    return [
        EntryPoint(point.group, point.name, point.value, dist.name, dist.version)
        for dist in reversed(first.values())
        for point in dist.entry_points
        if point.group in groups
    ]


def _dist(folder: str) -> tuple[str, str]:
    """Name and version as in the folder's name, `name-version.dist-info`, the name in the form pip prints."""
    name, _, version = folder.removesuffix(".dist-info").partition("-")
    return name.replace("_", "-"), version


def _groups(text: str) -> list[str]:
    lines = (line.strip() for line in text.splitlines())
    return [line[1:-1] for line in lines if line.startswith("[") and line.endswith("]")]


def load(value: str) -> Any:
    """What an entry point names, imported as Python imports."""
    from importlib import import_module

    module, _, attribute = value.partition(":")
    target: Any = import_module(module)
    for name in attribute.split(".") if attribute else ():
        target = getattr(target, name)
    return target


def load_file(value: str) -> Any:
    """What an entry point names. Its module is loaded by its file, without its package where possible.

    A package's own module may import anything; a hook cannot wait for that.
    """
    module, _, attribute = value.partition(":")
    target: Any = _module(module)
    for name in attribute.split("."):
        target = getattr(target, name)
    return target


def _module(name: str) -> ModuleType:
    package, _, _ = name.rpartition(".")
    if name not in sys.modules and package not in sys.modules:
        above = _spec(package, None) if package and "." not in package else None
        locations = above.submodule_search_locations if above is not None else None
        spec = _spec(name, locations) if locations else None
        if spec is not None and spec.loader is not None:
            # As `importlib.util.module_from_spec` makes it, whose import takes longer than a whole hook.
            module = type(sys)(name)
            module.__spec__, module.__loader__, module.__package__ = spec, spec.loader, package
            if spec.has_location:
                module.__file__ = spec.origin
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except BaseException:
                del sys.modules[name]
                raise
            return module
    from importlib import import_module

    return import_module(name)


def _spec(name: str, locations: Sequence[str] | None) -> ModuleSpec | None:
    """Where a module is, by the finders that an import asks."""
    for finder in sys.meta_path:
        spec = finder.find_spec(name, locations)
        if spec is not None:
            return spec
    return None


def _files(unreadable: list[str] | None) -> Iterator[tuple[str, str]]:
    """The `dist-info` folder's name and its entry points, for each distribution that has some."""
    for folder in dict.fromkeys(sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:  # a path entry may be missing, or be an archive
            continue
        for name in names:
            if name.endswith(".dist-info"):
                try:
                    with open(
                        os.path.join(folder, name, "entry_points.txt"), encoding="utf-8"
                    ) as file:
                        yield name, file.read()
                except (FileNotFoundError, NotADirectoryError):  # most distributions have none
                    continue
                except (OSError, ValueError) as error:
                    if unreadable is not None:
                        unreadable.append(_unreadable(name, error))


def _unreadable(folder: str, error: Exception) -> str:
    from agentfeedback.foundation.errors import reason_of

    reason = reason_of(error) if isinstance(error, OSError) else "not UTF-8"
    return f"the entry points of {_dist(folder)[0]} cannot be read: {reason}"


def _section(text: str, group: str) -> Iterator[tuple[str, str]]:
    inside = False
    for line in text.splitlines():
        line = line.strip()
        if line.startswith("["):
            inside = line == f"[{group}]"
        elif inside and line and line[0] not in "#;":
            name, equals, value = line.partition("=")
            if equals:
                yield name.strip(), value.partition("[")[0].strip()
