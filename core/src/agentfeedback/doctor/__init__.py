"""The checks behind `agentfeedback doctor`."""
