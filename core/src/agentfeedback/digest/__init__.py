"""What went wrong in a session, within caps. Pure."""
