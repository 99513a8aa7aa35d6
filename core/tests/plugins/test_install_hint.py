"""The pip command of a hint works where it is shown: by name, or from the checkout the program came from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.plugins.install_hint import pip_install, sources


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout, in a folder whose name needs quoting, with two distributions beside the core."""
    for folder in ("core", "readers/codex", "plugins/pytest-agentfeedback"):
        path = tmp_path / "a b" / folder
        path.mkdir(parents=True)
        (path / "pyproject.toml").write_text("")
    return tmp_path / "a b"


@pytest.fixture
def come_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Install the core as pip records it, with what PEP 610 says of where it came from."""
    info = tmp_path / "site/agentfeedback-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: agentfeedback\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(str(info.parent))
    return (info / "direct_url.json").write_text


@pytest.mark.parametrize("dir_info", [{}, {"editable": True}])
def test_what_came_from_a_checkout_is_installed_from_there(
    checkout: Path, come_from: Any, dir_info: dict[str, bool]
) -> None:
    """Each distribution is named once, by its folder where the checkout has one, quoted for a shell."""
    come_from(json.dumps({"url": (checkout / "core").as_uri(), "dir_info": dir_info}))
    dists = ("agentfeedback-codex", "agentfeedback-codex", "agentfeedback-other")
    assert pip_install(*dists) == f"pip install '{checkout}/readers/codex' agentfeedback-other"
    assert sources("agentfeedback", "pytest-agentfeedback") == [
        f"{checkout}/core",
        f"{checkout}/plugins/pytest-agentfeedback",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"url": 1, "dir_info": {}}',
        '{"url": "file:///x/agentfeedback-1.0.whl", "archive_info": {}}',
        '{"url": "https://example.org/x", "dir_info": {}}',
    ],
)
def test_what_came_from_elsewhere_is_installed_by_name(come_from: Any, text: str) -> None:
    """An archive, another place or a record that cannot be read leave the plain name."""
    come_from(text)
    assert pip_install("agentfeedback-codex") == "pip install agentfeedback-codex"
