"""Where the program's own files are."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from attrs import frozen

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.foundation.paths import cache_directory, env_directory

if TYPE_CHECKING:
    from collections.abc import Mapping


@frozen(eq=False)
class Paths:
    """The program's own files and folders, all absolute.

    `home` is the caller's home, also with `--home DIR`; `store_home` is the home below which stores
    are looked for: DIR when given, else `home`. `cache` is the program's own folder.
    """

    home: str
    config_file: str
    database: str
    cache: str
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

        data = env_directory(environ, "XDG_DATA_HOME", home, ".local", "share")
        own_data = os.path.join(data, "agentfeedback")
        if home_override is not None:
            own_data = os.path.join(own_data, "homes", _key(home_override))
        return cls(
            home=home,
            config_file=os.path.join(
                env_directory(environ, "XDG_CONFIG_HOME", home, ".config"),
                *("agentfeedback", "config.toml"),
            ),
            database=os.path.join(own_data, "agentfeedback.db"),
            cache=cache_directory(environ, home),
            store_home=home if home_override is None else os.path.abspath(home_override),
        )

    @property
    def homes(self) -> tuple[str, ...]:
        """The homes that `~` stands for in a policy entry: the caller's, and that of `--home`."""
        if self.store_home == self.home:
            return (self.home,)
        return (self.home, self.store_home)


def _key(directory: str) -> str:
    import hashlib

    return hashlib.sha256(os.fsencode(os.path.realpath(directory))).hexdigest()[:16]
