"""The local database: opening, migrations, and the watermarks of sessions."""
