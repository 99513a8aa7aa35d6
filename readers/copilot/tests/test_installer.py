"""The hooks of copilot are wired as the contract of installers says."""

from __future__ import annotations

from pytest_agentfeedback import InstallerContract


class TestInstaller(InstallerContract):
    harness = "copilot"
