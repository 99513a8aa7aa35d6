"""What harnesses call: the installers of their hooks, the editor of their settings files, and what hooks keep of a session."""
