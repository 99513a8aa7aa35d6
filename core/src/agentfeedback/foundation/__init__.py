"""The ground: files, locks, times, JSON text and git, on the standard library alone, so that agent hooks can afford it."""
