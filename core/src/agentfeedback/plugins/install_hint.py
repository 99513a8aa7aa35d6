"""How a distribution of this project is installed here: by its name, or from the checkout the core came from.

Imported only where a sentence needs it, since `importlib.metadata` costs more than most commands.
"""

from __future__ import annotations

import json
import os
import shlex
from importlib import metadata
from urllib.parse import unquote, urlsplit

from agentfeedback.plugins.harnesses import CORE


def pip_install(*dists: str) -> str:
    """The command that installs these distributions, each once, for a shell."""
    return shlex.join(["pip", "install", *sources(*dists)])


def sources(*dists: str) -> list[str]:
    """What pip is given for these distributions, each once: its folder in the checkout, or its name."""
    checkout = _checkout()
    return [_folder(checkout, dist) if checkout else dist for dist in dict.fromkeys(dists)]


def _checkout() -> str:
    """The checkout that the core was installed from; empty when it came from elsewhere."""
    try:
        # PEP 610: pip and others write it for what did not come from an index.
        text = metadata.distribution(CORE).read_text("direct_url.json")
        origin = json.loads(text or "{}")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        return ""  # not installed, or by something that left no readable trace: the name is all there is
    url = origin.get("url") if isinstance(origin, dict) and "dir_info" in origin else None
    parts = urlsplit(url) if isinstance(url, str) else None
    if parts is None or parts.scheme != "file":
        return ""
    return os.path.dirname(unquote(parts.path).rstrip("/"))


def _folder(checkout: str, dist: str) -> str:
    short = dist.removeprefix(f"{CORE}-")
    for folder in ("core",) if dist == CORE else (f"readers/{short}", f"plugins/{short}"):
        path = os.path.join(checkout, folder)
        if os.path.isfile(os.path.join(path, "pyproject.toml")):
            return path
    return dist
