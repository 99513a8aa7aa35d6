"""What Claude Code's hooks say, turned into facts of a spool."""
