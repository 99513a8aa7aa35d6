"""What a Hub is asked: the current target of a session, and to accept envelopes."""
