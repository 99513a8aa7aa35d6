"""How a server is set up: flags, then environment, then what fits one machine."""

from __future__ import annotations

import os
from collections.abc import Mapping
from urllib.parse import quote

from attrs import field, frozen

from agentfeedback.config.keys import seconds
from agentfeedback.config.paths import Paths
from agentfeedback.foundation.errors import ConfigError, reason_of
from agentfeedback.foundation.files import regular_bytes
from agentfeedback.foundation.urls import PRINTABLE, base_url
from agentfeedback_server.access import DEFAULT
from agentfeedback_server.begin import Limits

LISTEN = "127.0.0.1:8090"
DATABASE = "AGENTFEEDBACK_SERVER_DATABASE"
OBJECTS = "AGENTFEEDBACK_SERVER_OBJECTS"
ORGANISATION = "AGENTFEEDBACK_SERVER_ORGANISATION"
#: The largest key file, in bytes.
_KEY_FILE = 4096
#: The least that a key given from outside has, in characters.
_KEY_LENGTH = 16


@frozen(eq=False)
class Settings:
    """A server's settings. `key` is one given from outside, empty where all are in the database."""

    database: str
    objects: str
    listen: str = LISTEN
    key: str = field(default="", repr=False)
    organisation: str = DEFAULT
    grace_s: float = 30.0
    log_level: str = "info"
    public_url: str = ""
    instructions: str = ""
    scrub: bool = False
    limits: Limits = field(factory=Limits)


def read(
    environ: Mapping[str, str], *, database: str = "", objects: str = "", listen: str = ""
) -> Settings:
    """The settings of flags and environment. Raises `ConfigError`; no text of it holds the key."""

    def given(name: str, default: str = "") -> str:
        return environ.get(name, "") or default

    folder = os.path.join(os.path.dirname(Paths.of(environ).database), "server")
    path = given("DATABASE_PATH", os.path.join(folder, "server.db"))
    return Settings(
        database=database or given(DATABASE) or f"sqlite:///{quote(os.path.abspath(path))}",
        objects=objects or given(OBJECTS) or os.path.join(folder, "objects"),
        listen=listen or given("HTTP_LISTEN_ADDR", LISTEN),
        key=_key(environ),
        organisation=given(ORGANISATION, DEFAULT),
        grace_s=_grace(given("GRACEFUL_SHUTDOWN_TIMEOUT", "30s")),
        log_level=_word("LOG_LEVEL", given("LOG_LEVEL", "info").lower(), _LEVELS),
        public_url=_url(given("PUBLIC_URL")),
        instructions=given("MCP_INSTRUCTIONS"),
        scrub=_word("INGEST_SCRUB", given("INGEST_SCRUB", "off"), ("on", "off")) == "on",
        limits=_limits(given("SESSIONS_ENVELOPE_BYTES")),
    )


_LEVELS = ("debug", "info", "warning", "error")


def _key(environ: Mapping[str, str]) -> str:
    key, path = environ.get("API_KEY", ""), environ.get("API_KEY_FILE", "")
    if key and path:
        raise ConfigError("API_KEY and API_KEY_FILE are both set", "set one of them")
    if path:
        try:
            key = regular_bytes(path, _KEY_FILE).decode("latin-1").strip()
        except OSError as error:
            raise ConfigError(
                f"API_KEY_FILE {path} cannot be read: {reason_of(error)}", "correct the path"
            ) from None
    if (key or path) and (not PRINTABLE.fullmatch(key) or len(key) < _KEY_LENGTH):
        raise ConfigError(
            "the key of API_KEY or API_KEY_FILE is too short, or no header can carry it",
            f"use at least {_KEY_LENGTH} printable characters of ASCII",
        )
    return key


def _grace(text: str) -> int:
    found = seconds(text)
    if not found:
        raise ConfigError(
            f"GRACEFUL_SHUTDOWN_TIMEOUT is {text!r}, not a duration", "write it like 30s"
        )
    return found


def _word(name: str, value: str, words: tuple[str, ...]) -> str:
    if value not in words:
        raise ConfigError(f"{name} is {value!r}", f"use {' or '.join(words)}")
    return value


def _url(text: str) -> str:
    try:
        return base_url(text) if text else ""
    except ValueError as error:
        raise ConfigError(
            f"PUBLIC_URL is not the URL of a server: {error}",
            "write it like https://feedback.example.org",
        ) from None


def _limits(text: str) -> Limits:
    if not text:
        return Limits()
    if not text.isdecimal() or not 1 << 16 <= int(text) <= 1 << 40:
        raise ConfigError(
            f"SESSIONS_ENVELOPE_BYTES is {text!r}", "use a number of bytes from 65536 on"
        )
    return Limits(envelope_bytes=int(text))
