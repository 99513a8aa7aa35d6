"""The image and the compose file set what the server reads, and name what its packages have."""

from __future__ import annotations

import re
import tomllib
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from agentfeedback_server import settings
from agentfeedback_web.objects import BucketObjects, objects_at
from agentfeedback_web.sql import Database
from tests.support import ROOT

COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
IMAGE = (ROOT / "deploy/Dockerfile").read_text()
GIVEN = {
    "FEEDBACK_KEY": "k" * 48,
    "FEEDBACK_HOST": "feedback.example.org",
    "DATABASE_PASSWORD": "d" * 48,
    "BUCKET_PASSWORD": "b" * 48,
}


def filled(text: str) -> str:
    """A value with the variables of `.env` in it, as compose reads them."""
    return re.sub(r"\$\{(\w+)(?::\?[^}]*)?\}", lambda match: GIVEN[match[1]], text)


def test_the_server_can_be_set_up_as_the_compose_file_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of its variables is one that is read, and every value is taken."""
    environ = {
        name: filled(value) for name, value in COMPOSE["services"]["server"]["environment"].items()
    }
    names = re.findall(r'"([A-Z][A-Z_]+)"', (ROOT / settings.__file__).read_text())
    assert {name for name in environ if not name.startswith("AWS_")} <= set(names)
    found = settings.read({"HOME": "/nowhere", **environ})
    assert found.public_url == "https://feedback.example.org" and found.key == GIVEN["FEEDBACK_KEY"]
    database = Database(found.database, "data", application_id=1)
    assert GIVEN["DATABASE_PASSWORD"] not in database.shown and not database.sqlite
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, environ[name])
    assert isinstance(objects_at(found.objects), BucketObjects)
    endpoint = dict(parse_qsl(urlsplit(found.objects).query))["endpoint"]
    assert urlsplit(endpoint).hostname in COMPOSE["services"]
    assert urlsplit(found.database).hostname in COMPOSE["services"]


def test_nothing_but_the_proxy_is_reached_from_outside() -> None:
    """No secret is in the file, and only one service publishes ports."""
    published = [name for name, each in COMPOSE["services"].items() if "ports" in each]
    assert published == ["proxy"]
    for service in COMPOSE["services"].values():
        for name, value in service.get("environment", {}).items():
            if name.endswith(("KEY", "PASSWORD")):
                assert re.fullmatch(r"\$\{\w+:\?[^}]*\}", value), name
    assert set(COMPOSE["volumes"]) == {
        each.partition(":")[0]
        for service in COMPOSE["services"].values()
        for each in service.get("volumes", ())
    }


def test_the_image_installs_what_there_is() -> None:
    """The distribution and its extras; the port is that of its address; it does not run as root."""
    (name, extras) = re.findall(r'"([a-z-]+)\[([a-z,]+)\]"', IMAGE)[0]
    project = tomllib.loads((ROOT / "plugins/server/pyproject.toml").read_text())["project"]
    assert name == project["name"]
    assert set(extras.split(",")) == set(project["optional-dependencies"])
    assert re.search(r"HTTP_LISTEN_ADDR=0\.0\.0\.0:(\d+)\nEXPOSE \1\n", IMAGE)
    assert "USER agentfeedback" in IMAGE
    assert COMPOSE["services"]["proxy"]["command"].endswith("server:8090")
