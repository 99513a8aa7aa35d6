"""The client connection of a checkout: recorded, replaced, removed."""

from __future__ import annotations

import os
import time

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.foundation.urls import base_url
from agentfeedback_change_capture.setup import capture, connections, private_files
from agentfeedback_change_capture.setup.connections import Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping


def hub_url(text: str) -> str:
    """Return the one form of a Hub's URL. Raises `UsageError`, which quotes nothing of it."""
    try:
        return base_url(text)
    except ValueError as error:
        raise UsageError(
            f"--hub is not the URL of a Hub: {error}", "use https://hub.example"
        ) from None


def record(
    root: str, hub: str, repository: str, token: str, human: str, environ: Mapping[str, str]
) -> tuple[Connection, bool]:
    """Save the connection of a checkout; return it, and whether a shared binding was lowered.

    For the same Hub and repository only the token changes. For others the old connection is replaced,
    and sharing does not go on there: it has to be confirmed again. Raises `AgentFeedbackError`.
    """
    config = private_files.config_directory(environ)
    with capture.Locks(config, connections=True):
        saved = connections.load(config)
        before = next((each for each in saved if each.root == root), None)
        same = before is not None and before.lineage == (repository, hub)
        made = Connection(
            before.connection_id if before is not None and same else f"con_{os.urandom(16).hex()}",
            root,
            hub,
            repository,
            human,
            token,
            before.created_at if before is not None and same else int(time.time()),
        )
        # Lowered first: a crash between leaves the old connection without sharing.
        lowered = False if same else capture.lower_shared(config, root)
        connections.save(config, [*(each for each in saved if each.root != root), made])
        return made, lowered


def remove(root: str, environ: Mapping[str, str]) -> bool:
    """Remove the connection of a checkout; return whether a shared binding was lowered. Raises `AgentFeedbackError`."""
    config = private_files.config_directory(environ)
    with capture.Locks(config, connections=True):
        saved = connections.load(config)
        rest = [each for each in saved if each.root != root]
        if len(rest) == len(saved):
            raise AgentFeedbackError(
                connections.NO_CONNECTION, "agentscm client status lists those there are"
            )
        lowered = capture.lower_shared(config, root)
        connections.save(config, rest)
        return lowered
