"""The tools that read this machine: its sessions, and filing about them."""
