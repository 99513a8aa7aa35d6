"""The configuration file: its keys, how a setting is resolved, and how the file is edited."""
