"""Asks a server for what its OpenAPI document allows, and for what it does not, and checks every answer.

`nox -s api` runs it; what follows goes to `schemathesis run`, such as `-n 500`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading

import uvicorn

from agentfeedback_server.app import Server
from agentfeedback_server.settings import Settings
from agentfeedback_web import serve

#: What the document cannot say: cursors exclude each other, an envelope takes any object, sizes are bytes; and
#: of two keys one good one is enough, where the tool sends a bad one beside it; and a tombstone stays.
EXCLUDED = (
    "positive_data_acceptance",
    "negative_data_rejection",
    "ignored_auth",
    "use_after_free",
)


def main(words: list[str]) -> int:
    """Serve, have it asked, and return the exit status."""
    with tempfile.TemporaryDirectory() as folder, serve.listening("127.0.0.1", 0) as sock:
        server = Server(Settings(f"sqlite:///{folder}/server.db", f"{folder}/objects"))
        _, key = server.access.add("default", "fuzz")
        server.tenants.of("default").consent.enable()
        running = uvicorn.Server(serve.configuration(server.app(), 1))
        thread = threading.Thread(target=running.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            url = f"http://127.0.0.1:{sock.getsockname()[1]}/api/v1/openapi.json"
            command = [os.path.join(os.path.dirname(sys.executable), "schemathesis"), "run", url]
            command += ["--header", f"X-Api-Key: {key}", "--exclude-checks", ",".join(EXCLUDED)]
            hooks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "hooks.py")
            environ = {**os.environ, "SCHEMATHESIS_HOOKS": hooks}
            return subprocess.run(
                [*command, *words], check=False, cwd=folder, env=environ
            ).returncode
        finally:
            running.should_exit = True
            thread.join()
            server.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
