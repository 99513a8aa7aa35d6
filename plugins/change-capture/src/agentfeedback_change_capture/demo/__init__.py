"""A made-up session of Claude Code, replayed into a temporary spool, to see what an account looks like."""
