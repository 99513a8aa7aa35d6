"""Where the program's own files lie, and what `config.toml` says (details 3.5 and 11; platform details 1.2).

What an environment variable or a key may hold is settled here once; nothing is written or created.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from agentfeedback.config.toml_text import strings, toml
from agentfeedback.foundation.errors import ConfigError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.foundation.paths import dangling

if TYPE_CHECKING:
    from collections.abc import Iterable


@frozen(eq=False)
class Collect:
    """The `[collect]` table; paths are kept as written (details 11)."""

    disabled: bool = False
    deny_paths: tuple[str, ...] = ()
    opt_in_only: bool = False
    opt_in_paths: tuple[str, ...] = ()


@frozen(eq=False)
class Context:
    """The `[context]` table: what is added to a submission's context, and the keys never collected."""

    cwd: bool = False
    drop: tuple[str, ...] = ()
    app: str = ""
    workspace: str = ""
    url: str = ""
    channel: str = ""
    task_id: str = ""
    workflow: str = ""


#: The keys of `[context]` that are sent as given.
CONTEXT_TEXTS = ("app", "workspace", "url", "channel", "task_id", "workflow")
#: The keys at the top of the file; each is a string.
TOP = ("url", "api_key", "machine", "model", "harness")


@frozen(eq=False)
class Config:
    """What the program uses of `config.toml`; keys and tables it does not know are ignored.

    An empty string is a key that is not set (`agentfeedback.config.resolve` adds flags and environment).
    """

    collect: Collect = Collect()
    context: Context = Context()
    url: str = ""
    api_key: str = field(default="", repr=False)
    machine: str = ""
    model: str = ""
    harness: str = ""


def load(path: str) -> Config:
    """The configuration in a file; a missing file is an empty one.

    Raises `ConfigError` when the file cannot be read, is no regular file or not TOML, or holds a
    known key of another type. A link that leads nowhere is such an error and not a missing file: a
    policy on a volume that is not there must not turn into no policy.
    """
    try:
        data = regular_bytes(path)
    except (FileNotFoundError, NotADirectoryError):
        link = dangling(path)
        if link is None:
            return Config()
        raise _invalid(path, f"{link} is a link that leads nowhere") from None
    except (OSError, ValueError) as error:
        raise _invalid(path, reason_of(error)) from error
    try:
        tables = toml(data)
    except ValueError as error:
        raise _invalid(path, str(error)) from error
    return Config(_collect(path, tables), _context(path, tables), **_texts(path, tables, TOP))


def _collect(path: str, tables: dict[str, Any]) -> Collect:
    table = _table(path, tables, "collect")
    known: dict[str, Any] = {}
    known |= _truths(path, table, ("disabled", "opt_in_only"), "collect.")
    known |= _lists(path, table, ("deny_paths", "opt_in_paths"), "collect.")
    return Collect(**known)


def _context(path: str, tables: dict[str, Any]) -> Context:
    table = _table(path, tables, "context")
    known: dict[str, Any] = {}
    known |= _truths(path, table, ("cwd",), "context.")
    known |= _lists(path, table, ("drop",), "context.")
    known |= _texts(path, table, CONTEXT_TEXTS, "context.")
    return Context(**known)


def _table(path: str, tables: dict[str, Any], name: str) -> dict[str, Any]:
    table = tables.get(name, {})
    if not isinstance(table, dict):
        raise _invalid(path, f"{name} is not a table")
    return table


def _truths(path: str, table: dict[str, Any], names: Iterable[str], before: str) -> dict[str, bool]:
    known = {name: table[name] for name in names if name in table}
    for name, value in known.items():
        if not isinstance(value, bool):
            raise _invalid(path, f"{before}{name} is not true or false")
    return known


def _lists(
    path: str, table: dict[str, Any], names: Iterable[str], before: str
) -> dict[str, tuple[str, ...]]:
    known = {}
    for name in names:
        if name in table:
            value = strings(table[name])
            if value is None:
                raise _invalid(path, f"{before}{name} is not an array of strings")
            known[name] = value
    return known


def _texts(
    path: str, table: dict[str, Any], names: Iterable[str], before: str = ""
) -> dict[str, str]:
    known = {name: table[name] for name in names if name in table}
    for name, value in known.items():
        if not isinstance(value, str):
            raise _invalid(path, f"{before}{name} is not a string")
    return known


def _invalid(path: str, reason: str) -> ConfigError:
    return ConfigError(f"config file {path} is not valid: {reason}", "correct the file")
