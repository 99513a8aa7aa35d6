"""The proxy that the environment names for a URL (platform details 1.6). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from agentfeedback.foundation.urls import PORTS
from agentfeedback_submit.remote.server import ClientSetupError

_REMEDY = "correct the proxy variable, or name the server in NO_PROXY"


@frozen(eq=False)
class Proxy:
    """A proxy and the `user:password` it wants, which is empty for one that wants none."""

    url: str
    credentials: str = field(default="", repr=False)


def proxy_for(url: str, environ: Mapping[str, str]) -> Proxy | None:
    """The proxy for a server: `<scheme>_proxy`, then `all_proxy`, unless `no_proxy` names its host.

    Lower case wins over upper case. Raises `ClientSetupError` for a proxy that cannot be used.
    """
    parts = urlsplit(url)
    names = [f"{parts.scheme}_proxy", "all_proxy"]
    port = parts.port or PORTS[parts.scheme]
    if _passed_by(parts.hostname or "", port, _variable(environ, "no_proxy")):
        return None
    for name in names:
        # Under CGI this variable is a header of the request, which anyone may send.
        if name == "http_proxy" and "REQUEST_METHOD" in environ:
            found = environ.get(name, "")
        else:
            found = _variable(environ, name)
        if found:
            return _proxy(name, found)
    return None


def _variable(environ: Mapping[str, str], name: str) -> str:
    return environ.get(name, "") or environ.get(name.upper(), "")


def _proxy(name: str, text: str) -> Proxy:
    try:
        parts = urlsplit(text if "://" in text else f"http://{text}")
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host:
        raise ClientSetupError(f"{name} names no proxy", _REMEDY)
    if parts.scheme not in ("http", "https"):
        raise ClientSetupError(f"{name} names a proxy that is neither http nor https", _REMEDY)
    shown = f"[{host}]" if ":" in host else host
    url = f"{parts.scheme}://{shown}" + (f":{port}" if port is not None else "")
    credentials = ""
    if parts.username:
        credentials = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return Proxy(url, credentials)


def _passed_by(host: str, port: int, rules: str) -> bool:
    for rule in rules.split(","):
        rule = rule.strip().lower()
        if rule == "*":
            return True
        name, colon, number = rule.rpartition(":")
        if colon and number.isdecimal() and not name.endswith(":"):
            if int(number) != port:
                continue
            rule = name
        rule = rule.strip("[]").lstrip(".")
        if rule and (host == rule or host.endswith(f".{rule}")):
            return True
    return False
