"""The server of a team: its submissions, its session policy and the sessions that clients upload."""
