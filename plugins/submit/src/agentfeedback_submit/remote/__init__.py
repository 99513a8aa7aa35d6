"""The client of a server, and the settings that name it."""
