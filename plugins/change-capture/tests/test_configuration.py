"""The files of connections and bindings: their versions, their shapes, and who may read them."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from agentfeedback.foundation.errors import AgentFeedbackError, UsageError
from agentfeedback_change_capture.setup import bindings, connections, private_files, recipes, rules
from agentfeedback_change_capture.setup.bindings import Binding
from agentfeedback_change_capture.setup.connections import Connection

MEMBERS: dict[str, Any] = {
    "root": "/srv/app/shop",
    "enabled": True,
    "hub": "https://hub.example",
    "repository": "demo/app",
    "spool": "/srv/spools/shop",
    "spool_id": "0" * 32,
    "spool_inode": 7,
    "worktree_id": "checkout_1",
    "base_ref": "origin/main",
    "setup_digest": "a" * 64,
    "capture_mode": "metadata-only",
    "action_rules": ["Bash=execution:partial:process_exit_code"],
    "recipes": [],
    "limits": {
        "records": 48,
        "bytes": 65_536,
        "artifact_bytes": 1,
        "replay_records": 1,
        "replay_bytes": 1,
    },
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "agentscm"
    folder.mkdir(mode=0o700)
    return folder


def written(config: Path, value: Any, name: str = private_files.BINDINGS) -> Path:
    path = config / name
    path.write_text(json.dumps(value))
    path.chmod(0o600)
    return path


def test_what_is_saved_is_loaded_and_private(config: Path) -> None:
    one = Binding(**MEMBERS)
    two = one.replaced(
        root="/b", spool="/c", claude_settings="/d", exclude_lines=["/x"], claude_history_root="/h"
    )
    bindings.save(str(config), [one, two])
    path = config / private_files.BINDINGS
    assert bindings.load(str(config)) == [one, two]
    assert path.stat().st_mode & 0o777 == 0o600
    text = path.read_text()
    assert text.endswith("}\n")
    assert " " not in text.replace("\n", "")
    assert bindings.load(str(config / "nothing")) == []


def test_version_6_is_written_only_while_a_binding_needs_it(config: Path) -> None:
    one = Binding(**MEMBERS)
    versions = []
    for changed in (
        one,
        one.replaced(capture_mode="local-conversation"),
        one.replaced(capture_mode="shared-conversation"),
        one,
        one.replaced(claude_settings="/srv/settings.json"),
        one.replaced(capture_mode="shared-conversation", enabled=False),
        one,
    ):
        bindings.save(str(config), [changed])
        versions.append(json.loads((config / private_files.BINDINGS).read_text())["version"])
        assert bindings.load(str(config)) == [changed]
    assert versions == [5, 5, 6, 5, 6, 6, 5]


def changed(**members: Any) -> dict[str, Any]:
    return {"version": 5, "bindings": [MEMBERS | members]}


REFUSED: list[Any] = [
    {"version": 4, "bindings": []},
    {"version": 7, "bindings": []},
    {"version": "5", "bindings": []},
    {"version": True, "bindings": []},
    {"bindings": []},
    {"version": 5},
    {"version": 5, "bindings": {}},
    {"version": 5, "bindings": [], "more": 1},
    [],
    changed(more=1),
    changed(capture_mode="shared-conversation"),
    changed(claude_settings="/x"),
    changed(capture_mode="everything"),
    changed(root="relative"),
    changed(enabled=1),
    changed(worktree_id=".a"),
    changed(base_ref="-x"),
    changed(setup_digest="A" * 64),
    changed(
        limits={"records": 47} | {k: v for k, v in MEMBERS["limits"].items() if k != "records"}
    ),
    changed(spool_id="x"),
    {"version": 5, "bindings": [MEMBERS, MEMBERS | {"spool": "/other"}]},
    {"version": 5, "bindings": [MEMBERS, MEMBERS | {"root": "/other"}]},
    *(
        {"version": 5, "bindings": [{k: v for k, v in MEMBERS.items() if k != name}]}
        for name in MEMBERS
    ),
]


@pytest.mark.parametrize("value", REFUSED, ids=range(len(REFUSED)))
def test_another_shape_is_refused_whole(config: Path, value: Any) -> None:
    path = written(config, value)
    before = path.read_bytes()
    with pytest.raises(AgentFeedbackError, match=r"change-capture\.json was left as it is"):
        bindings.load(str(config))
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["", "{", '{"version":5,"version":5,"bindings":[]}', "[" * 99_999])
def test_what_is_not_strict_json_is_refused(config: Path, text: str) -> None:
    path = config / private_files.BINDINGS
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(AgentFeedbackError, match="not strict JSON"):
        bindings.load(str(config))


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o666])
def test_a_looser_file_is_refused_and_keeps_its_mode(config: Path, mode: int) -> None:
    path = written(config, {"version": 5, "bindings": []})
    path.chmod(mode)
    with pytest.raises(AgentFeedbackError, match="others may read or write it; run chmod 600"):
        bindings.load(str(config))
    assert path.stat().st_mode & 0o777 == mode


def test_a_link_and_a_pipe_are_refused(config: Path) -> None:
    path = config / private_files.BINDINGS
    path.symlink_to(written(config, {"version": 5, "bindings": []}, "elsewhere"))
    with pytest.raises(AgentFeedbackError, match="not a regular file"):
        bindings.load(str(config))
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(AgentFeedbackError, match="not a regular file"):
        bindings.load(str(config))


def test_a_connection_is_current_while_its_root_resolves_to_itself(
    config: Path, tmp_path: Path
) -> None:
    root = tmp_path / "shop"
    root.mkdir()
    made = Connection(
        f"con_{'0' * 32}", str(root), "https://hub.example", "demo/app", "ada", "t", 5
    )
    connections.save(str(config), [made])
    [found] = connections.load(str(config))
    assert found.lineage == ("demo/app", "https://hub.example")
    assert "t" not in repr(found).replace("Connection", "").replace("https", "").replace(
        str(root), ""
    )
    assert connections.current([found], str(root)) is found
    assert connections.current([found], "/elsewhere") is None
    root.rename(tmp_path / "moved")
    assert connections.current([found], str(root)) is None
    root.symlink_to(tmp_path / "moved")
    assert connections.current([found], str(root)) is None


def test_one_connection_for_each_root(config: Path) -> None:
    made = Connection(f"con_{'0' * 32}", "/a", "https://hub.example", "demo/app", "ada", "t", 5)
    connections.save(str(config), [made, made])
    with pytest.raises(AgentFeedbackError, match="names a root twice"):
        connections.load(str(config))


def test_a_lock_that_another_process_holds(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_files, "PATIENCE", 0.01)
    held = private_files.lock(str(config), private_files.BINDINGS_LOCK)
    with pytest.raises(AgentFeedbackError, match="held by another agentscm"):
        private_files.lock(str(config), private_files.BINDINGS_LOCK)
    held.release()
    private_files.lock(str(config), private_files.BINDINGS_LOCK).release()
    assert (config / private_files.BINDINGS_LOCK).stat().st_mode & 0o777 == 0o600


def test_a_folder_that_is_open_to_others_is_refused(config: Path) -> None:
    config.chmod(0o750)
    with pytest.raises(AgentFeedbackError, match="others may use it; run chmod 700"):
        private_files.lock(str(config), private_files.BINDINGS_LOCK)
    assert os.listdir(config) == []
    assert config.stat().st_mode & 0o777 == 0o750


def test_where_the_configuration_is() -> None:
    assert private_files.config_directory({"HOME": "/h"}) == "/h/.config/agentscm"
    assert private_files.config_directory({"HOME": "/h", "XDG_CONFIG_HOME": "/x"}) == "/x/agentscm"
    given = {"HOME": "/h", "XDG_CONFIG_HOME": "relative"}
    assert private_files.config_directory(given) == "/h/.config/agentscm"
    with pytest.raises(AgentFeedbackError, match=r"\$HOME"):
        private_files.config_directory({})


# --- rules ------------------------------------------------------------------------------------

DIGEST = "b" * 64


@pytest.mark.parametrize(
    "text",
    [
        "Bash=execution:partial:process_exit_code",
        "PowerShell=execution:complete:process_exit_code",
        "mcp__a__b=execution:unknown:unverified",
        f"Bash=verification:complete:process_exit_code:sha256:{DIGEST}",
    ],
)
def test_rules(text: str) -> None:
    assert rules.parse(text).text == text


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "Bash",
            "=execution:partial:unverified",
            "Bash=execution",
            "Bash=check:partial:unverified",
        ),
        *("Write=execution:partial:process_exit_code", "Bash=execution:some:unverified"),
        *(
            "Bash=execution:partial:exit",
            "Bash=execution:partial:unverified:x",
            "a b=execution:partial:unverified",
        ),
        f"Bash=verification:partial:unverified:md5:{DIGEST}",
        "Bash=verification:partial:unverified:sha256:B",
    ],
)
def test_wrong_rules(text: str) -> None:
    with pytest.raises(UsageError):
        rules.parse_all([text])


def test_two_rules_of_the_same_calls_are_wrong() -> None:
    with pytest.raises(UsageError, match="another rule"):
        rules.parse_all(["Bash=execution:partial:unverified", "Bash=execution:complete:unverified"])


def test_the_rule_of_an_exact_input_wins() -> None:
    both = rules.parse_all(
        [
            "Bash=execution:partial:process_exit_code",
            f"Bash=verification:complete:process_exit_code:sha256:{DIGEST}",
        ]
    )
    assert rules.rule_for(both, "Bash", DIGEST) is both[1]
    assert rules.rule_for(both, "Bash", "c" * 64) is both[0]
    assert rules.rule_for(both, "Write", DIGEST) is None


RETURNED, FAILED = "PostToolUse", "PostToolUseFailure"


@pytest.mark.parametrize(
    ("event", "payload", "by_code", "unverified", "verifying"),
    [
        (RETURNED, {"exit_code": 0}, "succeeded", "unknown", "passed"),
        (RETURNED, {"exitCode": 3}, "failed", "unknown", "failed"),
        (RETURNED, {"exit_code": True}, "unknown", "unknown", "unknown"),
        (RETURNED, {"exit_code": "0"}, "unknown", "unknown", "unknown"),
        (RETURNED, {"stdout": "Exit code 1"}, "unknown", "unknown", "unknown"),
        (RETURNED, {"exit_code": 0, "interrupted": True}, "incomplete", "incomplete", "incomplete"),
        (FAILED, {}, "failed", "failed", "incomplete"),
    ],
)
def test_what_an_ending_says(
    event: str, payload: dict[str, Any], by_code: str, unverified: str, verifying: str
) -> None:
    from agentfeedback_change_capture.adapter.payload import decode

    given = decode(json.dumps({"tool_response": payload, "error": "Exit code 1"}).encode())

    def result(kind: str, source: str) -> tuple[str, str, int | None]:
        return rules.result({"kind": kind, "result_source": source}, event, given)

    execution = result("execution", "process_exit_code")
    assert execution[:2] == (by_code, "unknown")
    assert result("execution", "unverified")[:2] == (unverified, "unknown")
    assert result("verification", "process_exit_code")[1] == verifying


# --- recipes ----------------------------------------------------------------------------------

RECIPE = {
    "id": "unit-test",
    "argv": ["/usr/bin/python3", "-m", "unittest", "-q"],
    "coverage": "complete",
    "timeout_seconds": 300,
    "max_output_bytes": 1_048_576,
}


def recipe_file(folder: Path, mode: int = 0o600, **members: Any) -> str:
    path = folder / f"{members.get('id', 'unit-test')}.json".replace("/", "")
    path.write_text(json.dumps(RECIPE | members))
    path.chmod(mode)
    return str(path)


def test_a_recipe_and_its_digest(tmp_path: Path) -> None:
    from agentfeedback_change_capture.identities import recipe_digest

    found = recipes.read(recipe_file(tmp_path), 16 << 20)
    assert found == RECIPE
    assert recipe_digest(found).startswith("9b4f652bd93d04aad92a3d77e9042655")


@pytest.mark.parametrize(
    "members",
    [
        {"id": "Unit"},
        {"argv": []},
        {"argv": ["python3"]},
        {"argv": ["/bin/sh", "a\0b"]},
        {"argv": ["/bin/sh", "x" * 17_000]},
        {"argv": "sh"},
        {"coverage": "all"},
        {"timeout_seconds": 0},
        {"timeout_seconds": 1.5},
        {"timeout_seconds": 86_401},
        {"max_output_bytes": 17 << 20},
        {"extra": 1},
        {"argv": ["/bin/sh", "\ud800"]},
    ],
)
def test_a_wrong_recipe_is_refused(tmp_path: Path, members: dict[str, Any]) -> None:
    with pytest.raises(AgentFeedbackError, match="was refused"):
        recipes.read(recipe_file(tmp_path, **members), 16 << 20)


def test_recipe_files_are_the_user_s_own_and_distinct(tmp_path: Path) -> None:
    with pytest.raises(AgentFeedbackError, match="others may write it"):
        recipes.read(recipe_file(tmp_path, 0o622), 16 << 20)
    same = recipe_file(tmp_path, 0o644)
    with pytest.raises(AgentFeedbackError, match="the same id"):
        recipes.read_all_files([same, same], 16 << 20)
    with pytest.raises(AgentFeedbackError, match="more than 16"):
        recipes.read_all_files([same] * 17, 16 << 20)
    with pytest.raises(AgentFeedbackError, match="no such file"):
        recipes.read(str(tmp_path / "none"), 16 << 20)
