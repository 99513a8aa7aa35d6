"""The hooks of Cursor are wired, and keep what they are given, as the contract of installers says."""

from __future__ import annotations

from pytest_agentfeedback import InstallerContract


class TestInstaller(InstallerContract):
    harness = "cursor"
    payloads = (
        (
            {
                "conversation_id": "c1",
                "hook_event_name": "stop",
                "workspace_roots": ["/srv/app/shop", "/srv/app/api"],
                "cwd": "/srv/app/shop",
                "transcript_path": None,
            },
            "c1",
        ),
        ({"session_id": "s1", "workspace_roots": ["/srv/app/shop"]}, "s1"),
    )
