"""How a submission is built, from flags and from a session."""
