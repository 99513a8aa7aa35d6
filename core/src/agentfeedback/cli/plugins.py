"""`agentfeedback plugins`: what is installed, and why something of it cannot be used."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from agentfeedback.cli import render
from agentfeedback.plugins.harnesses import HARNESSES, dist_of
from agentfeedback.plugins.host import Host
from agentfeedback.terminal import screen
from agentfeedback.terminal.arguments import no_names
from agentfeedback.wire import records
from agentfeedback.wire.encode import json_line, plain

if TYPE_CHECKING:
    from agentfeedback.terminal.arguments import Parsed


def run(line: Parsed) -> int:
    """Print the installed plugins; exit status 0 also where one cannot be loaded."""
    no_names(line, "plugins")
    host = Host(os.environ, lambda sentence: None)  # each error stands in the row of its plugin
    shown = [
        records.InstalledPlugin(
            plugin.name, plugin.kind, plugin.dist, plugin.version, plugin.hooks, plugin.error
        )
        for plugin in host.load_all()
    ]
    missing = [
        name
        for name in HARNESSES
        if name not in {item.name for item in shown if item.kind == "reader"}
    ]
    if line.json:
        screen.write(json_line(records.Plugins(shown, missing)))
        return 0
    screen.write(
        render.plugins_text(
            [plain(item) for item in shown], screen.Screen.of(sys.stdout, os.environ)
        )
    )
    for sentence in (*host.unknown_blocked_names, *host.unreadable_dists):
        screen.note(f"agentfeedback plugins: warning: {sentence}")
    if missing:
        from agentfeedback.plugins.install_hint import pip_install

        command = pip_install(*map(dist_of, missing))
        screen.note(
            f"agentfeedback plugins: no reader for {', '.join(missing)}; install with: {command}"
        )
    return 0
