"""Which sessions may be opened: the rules of the user, the gate that applies them, and what repositories ask for."""
