"""`agentfeedback server keys`: make, list and revoke keys."""

from __future__ import annotations

import os

from agentfeedback.foundation.canonical import compact
from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback.plugins import Parsed
from agentfeedback.terminal import screen
from agentfeedback_server import settings
from agentfeedback_server.access import Access
from agentfeedback_server.cli.opened import database, no_positionals
from agentfeedback_submissions.texts import time_form


def add(line: Parsed) -> int:
    """Make a key and print it."""
    no_positionals(line, "server keys add")
    organisation = line.organisation or settings.read(os.environ).organisation
    with database(line) as found:
        access = Access(found)
        access.add_organisation(organisation)
        id, key = access.add(organisation, line.name or "")
    if line.json:
        screen.write(compact({"id": id, "organisation": organisation, "key": key}) + b"\n")
    else:
        screen.note(f"agentfeedback server: key {id} of {organisation}, shown this once:")
        screen.write(f"{key}\n")
    return 0


def list_(line: Parsed) -> int:
    """Print the keys without what makes them keys."""
    no_positionals(line, "server keys list")
    with database(line) as found:
        keys = Access(found).all()
    shown = []
    for key in keys:
        item = {"id": key.id, "organisation": key.organisation, "name": key.name}
        item["created_at"] = time_form(key.created_at)
        if key.revoked_at:
            item["revoked_at"] = time_form(key.revoked_at)
        shown.append(item)
    if line.json:
        screen.write(compact({"keys": shown}) + b"\n")
        return 0
    for item in shown:
        state = f"revoked {item['revoked_at']}" if "revoked_at" in item else "good"
        text = (
            f"{item['id']}  {item['organisation']}  {item['created_at']}  {state}  {item['name']}"
        )
        screen.write(screen.visible(text).rstrip() + "\n")
    return 0


def revoke(line: Parsed) -> int:
    """Revoke the keys that are named by their ids."""
    if not line.positionals:
        raise UsageError("no key is named", "agentfeedback server keys list shows their ids")
    with database(line) as found:
        access = Access(found)
        missing = [id for id in line.positionals if not access.revoke(id)]
    if missing:
        raise AgentFeedbackError(
            f"there is no key {', '.join(missing)}",
            "agentfeedback server keys list shows their ids",
        )
    return 0
