"""The proxy that the environment names for a URL. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

from attrs import field, frozen

from agentfeedback.foundation.urls import PORTS, is_loopback
from agentfeedback_submit.remote.server import ClientSetupError

_REMEDY = "correct the proxy variable, or name the server in NO_PROXY"


@frozen(eq=False)
class Proxy:
    """A proxy and the `user:password` it wants, which is empty for one that wants none."""

    url: str
    credentials: str = field(default="", repr=False)


def proxy_for(url: str, proxies: Mapping[str, str]) -> Proxy | None:
    """The proxy for a server: that of its scheme, then that of `all`, unless `no` names its host.

    Plain http to this machine goes through none, or the key would leave it in clear text.

    `proxies` is what `urllib.request.getproxies_environment` returns. Raises `ClientSetupError` for a
    proxy that cannot be used.
    """
    parts = urlsplit(url)
    if parts.scheme == "http" and is_loopback(parts.hostname or ""):
        return None
    if _passed_by(parts.hostname or "", parts.port or PORTS[parts.scheme], proxies.get("no", "")):
        return None
    for name in (parts.scheme, "all"):
        if found := proxies.get(name, ""):
            return _proxy(f"{name}_proxy", found)
    return None


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
    """Whether `no_proxy` names a host.

    The standard library's own rule is not documented, knows a * only where it is alone, and no IPv6
    address.
    """
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
