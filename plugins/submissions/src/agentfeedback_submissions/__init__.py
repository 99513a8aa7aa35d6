"""The domain of submissions: envelopes, kinds, queries, export, and the stores that keep them."""
