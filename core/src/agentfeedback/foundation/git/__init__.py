"""What the files of a git repository say, and the one safe way to run git."""
