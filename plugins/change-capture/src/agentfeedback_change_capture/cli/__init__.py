"""The commands of `agentscm`."""
