"""The steps of the tables: forward only, each frozen once it is released."""
