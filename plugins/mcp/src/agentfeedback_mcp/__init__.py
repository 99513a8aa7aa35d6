"""Sessions and submissions as tools of a model (`agentfeedback mcp`)."""
