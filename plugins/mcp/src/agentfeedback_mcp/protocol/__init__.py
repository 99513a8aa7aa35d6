"""Tools and JSON of ours as messages of the protocol, whatever carries them."""
