"""`agentfeedback demo`: list and digest over a packaged sample, in a temporary home of its own."""

from __future__ import annotations

import os
import shutil
import tempfile
from importlib.resources import as_file, files
from typing import TYPE_CHECKING

from agentfeedback.cli.digest_text import digest_text
from agentfeedback.cli.list_text import listing_text
from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback.plugins.harnesses import dist_of
from agentfeedback.plugins.host import Host
from agentfeedback.sessions.engine import Engine
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback.wire.encode import json_line

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed

#: Where the sample of each harness belongs in a home.
_PLACES = {"claude-code": ".claude", "codex": ".codex"}


def run(line: Parsed) -> int:
    """Show what `sessions list` and `sessions digest --unprocessed` print for the sample."""
    no_names(line, "demo")
    with tempfile.TemporaryDirectory(prefix="agentfeedback-demo-") as home:
        environ = {"HOME": home, "AGENTFEEDBACK_BLOCK": os.environ.get("AGENTFEEDBACK_BLOCK", "")}
        host = Host(
            environ, lambda sentence: screen.note(f"agentfeedback demo: warning: {sentence}")
        )
        shown = [harness for harness in _PLACES if harness in host.harnesses()]
        if not shown:
            from agentfeedback.plugins.install_hint import pip_install

            wanted = pip_install(*map(dist_of, _PLACES))
            raise AgentFeedbackError(
                "no reader of the sample's harnesses is installed", f"run {wanted} first"
            )
        with as_file(files("agentfeedback") / "sample") as sample:
            for harness in shown:
                shutil.copytree(sample / harness, os.path.join(home, _PLACES[harness]))
        engine = Engine(environ, host=host)
        listing = engine.listing(None, None, unprocessed=False)
        listing.stores = [store for store in listing.stores if store.harness in shown]
        digests = engine.digest_unprocessed(None, 0, allow_unknown=False)
    if line.json:
        screen.write(json_line({"list": listing, "digest": digests}))
        return 0
    _show("sessions list", listing_text(listing, screen.Screen.of(None, environ)))
    _show("sessions digest --unprocessed", digest_text(digests))
    screen.write(
        "This was a sample. Your own sessions: agentfeedback sessions list\n"
        "What went wrong in all of them: agentfeedback sessions report\n"
        "What to do with a digest: agentfeedback sessions mark -h\n"
    )
    return 0


def _show(command: str, text: str) -> None:
    screen.write(f"$ agentfeedback {command}\n{text}\n")
