"""The table of `agentfeedback server`; what it does is imported when it is called."""

from __future__ import annotations

from agentfeedback.plugins import Command, Flag

_DATABASE = Flag("database", "text", "the database (a file of this machine)", "URL")
_JSON = Flag("json", "bool", "print JSON instead of text")
_ORGANISATION = Flag("organisation", "text", "of which organisation (default)", "ID")

COMMANDS = (
    Command(
        "server serve",
        "serve the submissions and sessions of a team over HTTP",
        flags=(
            Flag("listen", "text", "where to listen (127.0.0.1:8090)", "HOST:PORT"),
            _DATABASE,
            Flag("objects", "text", "where transcripts are kept (a folder)", "URL"),
        ),
        about="""Without a flag everything is in the data directory of this user, and only this machine is answered. The
first start makes a key and shows it, this once. Other settings come from the environment.

 agentfeedback server serve
 agentfeedback server serve --database postgresql://feedback@db/feedback --objects s3://transcripts""",
        target="agentfeedback_server.cli.serve:run",
    ),
    Command(
        "server keys add",
        "make a key for an organisation",
        flags=(_ORGANISATION, Flag("name", "text", "what it is for"), _DATABASE, _JSON),
        about="""Prints the key, which is stored nowhere and cannot be shown again. The organisation is made where it is new.

 agentfeedback server keys add --name laptops""",
        target="agentfeedback_server.cli.keys:add",
    ),
    Command(
        "server keys list",
        "list the keys, which are not shown themselves",
        flags=(_DATABASE, _JSON),
        target="agentfeedback_server.cli.keys:list_",
    ),
    Command(
        "server keys revoke",
        "make keys good for nothing",
        "<id>...",
        flags=(_DATABASE,),
        about="""A server that runs refuses them from the next request on.

 agentfeedback server keys revoke 3f9c01ab77de""",
        target="agentfeedback_server.cli.keys:revoke",
    ),
    Command(
        "server policy show",
        "show whether sessions are processed, and since when",
        flags=(_ORGANISATION, _DATABASE, _JSON),
        target="agentfeedback_server.cli.policy:show",
    ),
    Command(
        "server policy enable",
        "let clients upload sessions",
        flags=(_ORGANISATION, _DATABASE, _JSON),
        about="""Begins a period of consent. Clients upload what was last written to from the moment on at which they first see
it; each machine's own rules and each repository's veto still hold.

 agentfeedback server policy enable""",
        target="agentfeedback_server.cli.policy:enable",
    ),
    Command(
        "server policy disable",
        "let no client upload sessions",
        flags=(_ORGANISATION, _DATABASE, _JSON),
        about="""Ends the period of consent: from the next request on nothing is taken, and what was not completed expires. What
was uploaded stays until it is redacted.

 agentfeedback server policy disable""",
        target="agentfeedback_server.cli.policy:disable",
    ),
)
