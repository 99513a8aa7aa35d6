"""Reading a live SQLite database without touching it."""
