"""Filing feedback and keeping what was filed on this machine: `submit` and the commands around its store."""
