"""agentfeedback reads the session logs of coding agents, under a policy, and digests what went wrong."""

__version__ = "0.1.0"
