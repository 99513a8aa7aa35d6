"""The published document names every route with its methods, and its schemas are ones."""

from __future__ import annotations

import json
import re

import pytest
from jsonschema import Draft202012Validator

from agentfeedback_server import openapi
from agentfeedback_server.begin import Limits
from agentfeedback_server.openapi_schemas import UPLOAD_ERRORS
from agentfeedback_server.routes import api, public

from .conftest import Running

DOCUMENT = openapi.document(Limits())


def test_every_route_of_the_api_is_described(small: Running) -> None:
    """With each of its methods; HEAD goes with GET."""
    routes = {}
    for route in (*api.routes(small.server.tenants), *public.routes(small.server.settings)):
        if route.path.startswith("/api/") and route.path != public.OPENAPI:
            methods = {method.lower() for method in route.endpoint.handlers} - {"head"}
            routes[route.path] = methods
    assert {path: set(shown) for path, shown in DOCUMENT["paths"].items()} == routes


def test_it_is_served_to_everybody(small: Running) -> None:
    """As it is."""
    reply = small.with_key("").get(public.OPENAPI)
    assert reply.status_code == 200 and reply.json() == json.loads(json.dumps(DOCUMENT))


def test_names_and_schemas_hold() -> None:
    """Every schema that is mentioned is there and used; parameters of paths are those of the paths."""
    found = DOCUMENT["components"]["schemas"]
    for shown in found.values():
        Draft202012Validator.check_schema(shown)
    mentioned = set(re.findall(r"#/components/schemas/([a-z-]+)", json.dumps(DOCUMENT)))
    assert mentioned == set(found)
    for path, operations in DOCUMENT["paths"].items():
        for operation in operations.values():
            named = [each["name"] for each in operation["parameters"] if each["in"] == "path"]
            assert named == re.findall(r"{(\w+)}", path)
            assert {"200", "400", "500", "503"} <= operation["responses"].keys()


@pytest.mark.parametrize("code", UPLOAD_ERRORS)
def test_the_codes_of_uploads_are_in_the_source(code: str) -> None:
    """None is described that is never answered."""
    import inspect

    from agentfeedback_server import uploads

    assert f'"{code}"' in inspect.getsource(uploads)
