"""What an installer is: it says how a harness is wired to `agentfeedback hook`, and what a hook keeps of a payload.

Everything here is public: third parties import it as `agentfeedback.harness_hooks.installer` and register an
instance under the entry-point group `agentfeedback.installers`, named like the harness. A module
with an installer is loaded on every turn of an agent: it imports nothing but this module (and is
loaded by its file, so that its package is not imported).
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar


class Installer:
    """Base class of installers (reduced to what sessions need).

    A hook file is a JSON object with a member `hooks`: an object of arrays of entries, by event. With
    `grouped` entries are in groups (`{"hooks": [entry, …]}`) as Claude Code has them.
    """

    harness: ClassVar[str] = ""
    #: The events that are wired, by the harness's own names.
    events: ClassVar[tuple[str, ...]] = ()
    #: The member of an entry that holds its command.
    command_member: ClassVar[str] = "command"
    grouped: ClassVar[bool] = False
    #: What a hook file that is made new says as its `version`; None when it has no such member.
    version: ClassVar[int | None] = None
    #: What a person has to do after the first installation, one sentence; empty when nothing.
    next: ClassVar[str] = ""
    #: True when hooks keep something of a session: then `session` and `keep` are asked.
    indexes: ClassVar[bool] = False

    def settings(self, home: str, environ: Mapping[str, str]) -> str:
        """The absolute path of the hook file."""
        raise NotImplementedError

    def entry(self, command: str) -> dict[str, Any]:
        """The entry that makes the harness call `command`, a text for the shell."""
        raise NotImplementedError

    def item(self, event: str, command: str) -> dict[str, Any]:
        """Return the item of an event's array that holds the entry: the entry, or a group with it alone."""
        entry = self.entry(command)
        return {"hooks": [entry]} if self.grouped else entry

    def session(self, payload: Mapping[str, Any]) -> str:
        """The session a payload speaks of; empty when it names none that could be in a ref."""
        raise NotImplementedError

    def keep(self, kept: dict[str, Any], payload: Mapping[str, Any], home: str) -> None:
        """Add to `kept` what the payload says about that session; `kept` is what earlier hooks kept."""
        raise NotImplementedError
