"""What a command of local mode loads: nothing of what only a server or foreign JSON needs."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

_LOADED = """
import json, sys
from agentfeedback.cli.main import main
status = main(sys.argv[1:])
sys.stderr.write(json.dumps([status, sorted(sys.modules)]))
"""
REMOTE = {"urllib3", "urllib.request", "http.client", "cattrs"}


def loaded(machine: Any, *words: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED, *words],
        env=machine.environ,
        cwd=machine.directory,
        capture_output=True,
        timeout=60,
        check=False,
    )
    status, modules = json.loads(done.stderr)
    assert status == 0, done.stdout
    return set(modules)


def test_local_mode_loads_no_http_client_and_no_converter(machine: Any) -> None:
    """Filing, listing and marking are of this machine; an empty spool is not read."""
    for words in (("submit", "note", "--summary", "s"), ("list",), ("processed", "1"), ("flush",)):
        assert loaded(machine, *words) & REMOTE == set(), words


def test_an_import_pays_for_the_converter(machine: Any) -> None:
    """The list above is not empty because nothing is ever loaded."""
    machine.submit("note", "--summary", "s")
    path = machine.home / "all.ndjson"
    assert machine.call("export", "--output", str(path)).status == 0
    assert loaded(machine, "import", str(path)) & REMOTE == {"cattrs"}
