"""Where the program's own files lie, and what `config.toml` says (details 3.5 and 11; platform details 1.2).

What an environment variable or a key may hold is settled here once; nothing is written or created.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any

from attrs import field, frozen

from agentfeedback.errors import AgentFeedbackError, ConfigError
from agentfeedback.reader import reason_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: The most parts a key of a TOML document may have.
_KEY_PARTS = 100


@frozen(eq=False)
class Paths:
    """The program's own files and folders, all absolute (details 3.5, D20).

    `home` is the caller's home, also with `--home DIR`; `store_home` is the home below which stores
    are looked for: DIR when given, else `home`. `data_home` is the caller's data directory, the
    parent of `agentfeedback/`. `cache` is the program's own folder.
    """

    home: str
    config_file: str
    database: str
    cache: str
    data_home: str
    store_home: str

    @classmethod
    def of(cls, environ: Mapping[str, str], home_override: str | None = None) -> Paths:
        """The paths under an environment; `home_override` is the DIR of `--home`.

        Raises `AgentFeedbackError` when `$HOME` is missing or no absolute path: without a home the
        entries of the policy that begin with `~` would mean nothing.
        """
        home = environ.get("HOME", "")
        if not home:
            raise AgentFeedbackError("$HOME is not set", "set it to your home directory")
        if not os.path.isabs(home):
            raise AgentFeedbackError(
                f"$HOME is {home!r}, not an absolute path", "set it to your home directory"
            )

        def base(variable: str, *default: str) -> str:
            value = environ.get(variable, "")
            return value if os.path.isabs(value) else os.path.join(home, *default)

        data_home = base("XDG_DATA_HOME", ".local", "share")
        own_data = os.path.join(data_home, "agentfeedback")
        if home_override is not None:
            own_data = os.path.join(own_data, "homes", _key(home_override))
        return cls(
            home=home,
            config_file=os.path.join(
                base("XDG_CONFIG_HOME", ".config"), "agentfeedback", "config.toml"
            ),
            database=os.path.join(own_data, "agentfeedback.db"),
            cache=os.path.join(base("XDG_CACHE_HOME", ".cache"), "agentfeedback"),
            data_home=data_home,
            store_home=home if home_override is None else os.path.abspath(home_override),
        )

    @property
    def homes(self) -> tuple[str, ...]:
        """The homes that `~` stands for in a policy entry: the caller's, and that of `--home` (D20)."""
        if self.store_home == self.home:
            return (self.home,)
        return (self.home, self.store_home)


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

    An empty string is a key that is not set (`agentfeedback.settings` adds flags and environment).
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


def regular_bytes(path: str, limit: int | None = None, *, follow: bool = True) -> bytes:
    """The bytes of a regular file, at most `limit`; raises `OSError` or `ValueError` for anything else.

    Nothing but a regular file is opened, so that no pipe blocks and no device acts; with `follow`
    false a symbolic link counts as something else.
    """
    if not stat.S_ISREG(os.stat(path, follow_symlinks=follow).st_mode):
        raise OSError(_NOT_REGULAR)
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    if not follow:
        flags |= getattr(os, "O_NOFOLLOW", 0)
    # The file may be another by now: what was opened is what has to be regular.
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise OSError(_NOT_REGULAR)
        data = file.read() if limit is None else file.read(limit + 1)
    if limit is not None and len(data) > limit:
        raise OSError(f"larger than {limit} bytes")
    return data


def toml(data: bytes) -> dict[str, Any]:
    """The tables of a TOML document in UTF-8; raises `ValueError` with the reason when it is none."""
    import tomllib

    try:
        text = data.decode()
        # A key of many parts takes the parser the square of their number.
        if text.count(".") < _KEY_PARTS or not _holds_deep_key(text):
            return tomllib.loads(text)
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8") from None
    except RecursionError:
        pass
    raise ValueError("it is nested too deeply")


def _holds_deep_key(text: str) -> bool:
    import re  # hardly a file has as many dots

    name = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
    deep = rf"(?<![\w.-])(?:{name}\.[ \t]*+){{{_KEY_PARTS}}}+"
    return re.search(deep, text, re.ASCII) is not None


def strings(value: object) -> tuple[str, ...] | None:
    """An array of strings as a tuple; None when it is anything else."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return tuple(value)
    return None


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


def dangling(path: str) -> str | None:
    """The link that leads nowhere where a path that is not there goes through one; None when it is simply missing."""
    # The nearest part of the path that is there at all decides whether the rest is missing or lost.
    while not os.path.lexists(path):
        parent = os.path.dirname(path)
        if parent == path:
            return None
        path = parent
    return path if os.path.islink(path) and not os.path.exists(path) else None


def _key(directory: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:16]


_NOT_REGULAR = "not a regular file"
