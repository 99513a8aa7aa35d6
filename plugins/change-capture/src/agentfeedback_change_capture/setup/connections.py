"""The client connections of this machine's checkouts: to which Hub and repository, and with which token."""

from __future__ import annotations

import os

from agentfeedback.foundation import json_shape as shape
from agentfeedback_change_capture.setup import private_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

#: What a user gets who asks for something that needs a connection.
NO_CONNECTION = "no client connection for this checkout"
#: Most connections one file holds.
MOST = 4096
#: A repository's name at the Hub: one line of printable text.
REPOSITORY = r"[!-~]{1,256}"

_CONNECTIONS = shape.members(
    {
        "version": shape.exactly(1),
        "connections": shape.array(
            shape.members(
                {
                    "connection_id": shape.text(r"con_[0-9a-f]{32}"),
                    "root": shape.text(r"/[^\x00]*", 4096),
                    "hub": shape.text(r"https?://[!-~]+", 2048),
                    "repository": shape.text(REPOSITORY),
                    "human": shape.text(longest=256),
                    "token": shape.text(r"[!-~]{1,4096}"),
                    "created_at": shape.integer(),
                }
            ),
            MOST,
        ),
    }
)


class Connection:
    """One checkout's connection; `human` is empty where the Hub was not asked, `created_at` is Unix seconds."""

    __slots__ = ("connection_id", "created_at", "hub", "human", "repository", "root", "token")

    def __init__(
        self,
        connection_id: str,
        root: str,
        hub: str,
        repository: str,
        human: str,
        token: str,
        created_at: int,
    ) -> None:
        self.connection_id = connection_id
        self.root = root
        self.hub = hub
        self.repository = repository
        self.human = human
        self.token = token
        self.created_at = created_at

    @property
    def lineage(self) -> tuple[str, str]:
        """The repository and the Hub, which a binding is saved for."""
        return self.repository, self.hub

    def __repr__(self) -> str:  # the token is in no message
        return f"Connection({self.root!r}, {self.hub!r}, {self.repository!r})"


def load(config: str) -> list[Connection]:
    """Return all connections. Raises `AgentFeedbackError` for a file that is not one of ours."""
    path = os.path.join(config, private_files.CONNECTIONS)
    found = private_files.read_json(path, _CONNECTIONS)
    if found is None:
        return []
    connections = [Connection(**each) for each in found["connections"]]
    if len({each.root for each in connections}) < len(connections):
        raise private_files.refused(path, "it names a root twice")
    return connections


def save(config: str, connections: Iterable[Connection]) -> None:
    """Replace all connections; hold the lock of connections."""
    records: list[dict[str, Any]] = [
        {name: getattr(each, name) for name in Connection.__slots__} for each in connections
    ]
    path = os.path.join(config, private_files.CONNECTIONS)
    private_files.write(path, {"version": 1, "connections": records})


def current(connections: Iterable[Connection], root: str) -> Connection | None:
    """Return the connection of a checkout, if its root still resolves to itself. No network is asked."""
    found = next((each for each in connections if each.root == root), None)
    if found is None or os.path.realpath(root) != root or not os.path.isdir(root):
        return None
    return found
