"""The command line as a library: commands, arguments, help, completion, tables and progress."""
