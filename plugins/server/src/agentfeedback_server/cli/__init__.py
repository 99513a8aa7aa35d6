"""The commands of the server, one module each."""
