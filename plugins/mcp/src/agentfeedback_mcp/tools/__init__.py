"""The tools that need nothing but the store of submissions."""
