"""What went wrong over many sessions: what a session gives to it, what belongs together, and its page. Pure."""
