"""The spool, the inbox, and the delivery of what they hold."""
