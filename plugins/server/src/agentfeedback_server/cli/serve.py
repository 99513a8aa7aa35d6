"""`agentfeedback server serve`."""

from __future__ import annotations

import ipaddress
import os

from agentfeedback.plugins import Parsed
from agentfeedback.terminal import screen
from agentfeedback_server import settings
from agentfeedback_server.app import Server
from agentfeedback_server.cli.opened import no_positionals
from agentfeedback_web import logs, serve


def run(line: Parsed) -> int:
    """Serve until SIGINT or SIGTERM."""
    no_positionals(line, "server serve")
    found = settings.read(
        os.environ, database=line.database, objects=line.objects, listen=line.listen
    )
    host, port = serve.address(found.listen)
    with serve.listening(host, port) as sock:
        server = Server(found, logs.log(found.log_level))
        try:
            if not found.key and server.access.is_empty():
                _, key = server.access.add(found.organisation, "first")
                screen.write(f"the key of {found.organisation}, shown this once: {key}\n")
            if not _is_loopback(host):
                screen.note(
                    f"agentfeedback server: {host} is not loopback; keys travel in clear text "
                    "unless a proxy with TLS is in front."
                )
            port = sock.getsockname()[1]
            shown = f"[{host}]" if ":" in host else host
            serve.serve(
                server.app(),
                sock,
                grace_s=found.grace_s,
                started=lambda: screen.write(f"listening on http://{shown}:{port}\n"),
            )
        finally:
            server.close()
    return 0


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
