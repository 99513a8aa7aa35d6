"""What is collected: of the machine little, of the environment named variables only, of git its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agentfeedback.config.shape import Context
from agentfeedback_submit.filing.collect import Collected, collect, folder_name
from tests.support.git import repository


def collected(
    directory: Path, context: Context | None = None, drop: Any = (), **environ: str
) -> Collected:
    return collect(
        str(directory),
        environ,
        home=str(directory.parent),
        context=context or Context(),
        client="agentfeedback/1",
        drop=drop,
    )


def test_a_plain_folder_tells_its_name_alone(tmp_path: Path) -> None:
    """Outside a repository the folder is the project; the full directory is not told."""
    (tmp_path / "shop").mkdir()
    found = collected(tmp_path / "shop")
    assert found.project == found.context["folder"] == "shop"
    assert set(found.context) == {"folder", "os", "arch", "client"}
    assert str(tmp_path) not in repr(found.context)


def test_the_settings_of_context(tmp_path: Path) -> None:
    """The directory is sent when asked for, configured keys as given, dropped ones never."""
    (tmp_path / "shop").mkdir()
    context = Context(cwd=True, drop=("os", "channel"), app="a", url="u", channel="c")
    found = collected(tmp_path / "shop", context, drop=("arch",)).context
    assert found["cwd"] == str(tmp_path / "shop") and (found["app"], found["url"]) == ("a", "u")
    assert not {"os", "arch", "channel"} & set(found)


@pytest.mark.parametrize(
    ("environ", "harness", "model", "context"),
    [
        ({}, "", "", {}),
        ({"OMP_PROFILE": "x", "CLAUDECODE": "1"}, "omp", "", {}),
        ({"PI_CODING_AGENT": "1", "PI_MODEL": "m"}, "pi", "m", {}),
        ({"OPENCODE": "1", "CODEX_SANDBOX": "1"}, "opencode", "", {}),
        ({"CODEX_SANDBOX": "seatbelt", "CLAUDE_CODE_SESSION_ID": "s"}, "codex", "", {}),
        (
            {
                "CLAUDECODE": "1",
                "CLAUDE_CODE_SESSION_ID": "s",
                "CLAUDE_EFFORT": "high",
                "AI_AGENT": "a",
            },
            "claude-code",
            "",
            {"session_id": "s", "effort": "high", "agent": "a"},
        ),
        (
            {"CLAUDECODE": "1", "CLAUDE_CODE_SESSION_ID": "s", "AGENT_FEEDBACK_SESSION_ID": "t"},
            "claude-code",
            "",
            {"session_id": "t"},
        ),
        ({"OPENCODE_MODEL": "m"}, "opencode", "m", {}),
        ({"CODEX_SANDBOX": "", "SECRET_TOKEN": "x", "USER": "u", "PWD": "/p"}, "", "", {}),
    ],
)
def test_the_harness_is_told_by_its_variables(
    tmp_path: Path, environ: dict[str, str], harness: str, model: str, context: dict[str, str]
) -> None:
    """The first that is set names the harness; no other variable is looked at."""
    found = collected(tmp_path, **environ)
    assert (found.harness, found.model) == (harness, model)
    assert {
        name: value
        for name, value in found.context.items()
        if name not in ("folder", "os", "arch", "client")
    } == context


def test_a_project_is_named_after_its_remote(tmp_path: Path, git: str) -> None:
    """The folder's name is this machine's alone."""
    root = tmp_path / "shop"
    repository(root, "remote add origin https://example.org/team/store.git")
    found = collected(root)
    assert (found.project, found.context["folder"]) == ("store", "shop")


@pytest.mark.parametrize(
    ("directory", "name"), [("/h/u", "~"), ("/h/u/", "~"), ("/h/u/a", "a"), ("/", "/")]
)
def test_the_home_is_called_by_its_sign(directory: str, name: str) -> None:
    """The name of a home would be that of its user."""
    assert folder_name(directory, "/h/u") == name
