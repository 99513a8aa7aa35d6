"""The corpus tools of maintainers: `python -m pytest_agentfeedback corpus add|label|check`."""
