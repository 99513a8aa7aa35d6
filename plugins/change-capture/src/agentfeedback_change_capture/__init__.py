"""A private, bounded account of agent sessions in a checkout, filled by hooks: the program `agentscm`."""

from __future__ import annotations

__version__ = "0.1.0"
