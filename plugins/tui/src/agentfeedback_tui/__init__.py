"""An interactive view of sessions, as a plugin of agentfeedback."""
