"""Bring the tables of one owner to their newest form, with Alembic's scripts; forward only."""

from __future__ import annotations

from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError

from agentfeedback.foundation.errors import NewerStoreError
from agentfeedback_web.sql import Database


def upgrade(database: Database, scripts: str, owner: str) -> None:
    """Run the scripts of a folder that the database has not seen, all in one transaction.

    `owner` names the table that remembers the version, so that several owners may share a database.

    Raises:
        NewerStoreError: A newer program made the tables.
        StoreError: The database cannot be used.
    """
    database.prepare()
    config = Config()
    config.set_main_option("script_location", scripts.replace("%", "%%"))
    script = ScriptDirectory(scripts, version_locations=[scripts])

    def steps(revision: Any, context: Any) -> Any:
        return script._upgrade_revs("head", revision)  # as `alembic upgrade` itself asks for them

    with database.writing() as connection, EnvironmentContext(config, script, fn=steps) as context:
        context.configure(
            connection=connection, version_table=f"{owner}_version", transactional_ddl=True
        )
        try:
            context.run_migrations()
        except CommandError as error:
            if "Can't locate revision" not in str(error):
                raise
            raise NewerStoreError(
                f"the {database.what} in {database.shown} was made by a newer agentfeedback",
                "upgrade this one",
            ) from None
