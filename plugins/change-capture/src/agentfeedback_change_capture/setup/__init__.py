"""What a user sets up: connections, bindings of checkouts, rules, recipes, and the hooks in Claude Code's settings."""
