"""The spool: a private folder of records that survives a kill, a full disk and a power cut at any moment."""
