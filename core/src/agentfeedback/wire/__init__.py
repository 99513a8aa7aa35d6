"""The records that commands print with `--json`, their encoding and their JSON Schemas."""
