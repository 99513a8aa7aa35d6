"""Every hook is documented with its exact arguments, its example works, and it has a test of its own."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from agentfeedback.plugins import hookspecs
from agentfeedback.plugins.host import GATE_HOOKS, Host
from tests.support import ROOT
from tests.support.machine import Machine, codex_line, line, meta, prompt, typed

PAGE = (ROOT / "docs/reference/hooks.md").read_text()
SECTIONS = dict(re.findall(r"^## `(.*?)`\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
HOOKS = {
    name: f"{name}({', '.join(inspect.signature(function).parameters)})"
    for name, function in vars(hookspecs).items()
    if hasattr(function, "agentfeedback_spec")
}


def test_every_hook_has_a_section_with_its_arguments() -> None:
    """The headings of the page are the hooks and their arguments, in the order they fire, and nothing else."""
    assert list(SECTIONS) == list(HOOKS.values())
    assert len(HOOKS) >= 9


@pytest.mark.parametrize("name", HOOKS)
def test_the_host_has_a_method_for_every_hook(name: str) -> None:
    """A hook is called by the method of its name, with its arguments; readers are asked of one plugin at a time."""
    wanted = list(inspect.signature(vars(hookspecs)[name]).parameters)
    _, *arguments = inspect.signature(vars(Host)[name]).parameters
    assert arguments == (["plugin"] if name == "register_readers" else wanted)


@pytest.mark.parametrize("name", HOOKS)
def test_section_says_what_a_plugin_needs_to_know(name: str) -> None:
    """Each section names every argument, what is returned, and who is asked."""
    body = SECTIONS[HOOKS[name]]
    for argument in inspect.signature(vars(hookspecs)[name]).parameters:
        assert f"`{argument}`:" in body
    assert "\n- Returns: " in body and "\n- Asked: " in body
    if "Returns: nothing" not in body:
        assert "\n- `None`: " in body


@pytest.mark.parametrize("name", HOOKS)
def test_example_of_the_page_works(machine: Machine, name: str) -> None:
    """The example of each hook is a module that is loaded, is asked, and lets every command work."""
    (code,) = re.findall(r"```python\n(.*?)```", SECTIONS[HOOKS[name]], re.DOTALL)
    own, group = "example", "agentfeedback.plugins"
    if name == "register_readers":
        own, group = "notebook", "agentfeedback.readers"
        (machine.home / ".notebook").mkdir()
        (machine.home / ".notebook/n1.jsonl").write_bytes(
            line(cwd="/srv/app", says="hello") + b"\n"
        )
    if name in GATE_HOOKS:
        group = "agentfeedback.gates"
    machine.plugin(own, code, group=group)
    machine.claude("c1", [prompt("u1", "is BADGE-" + "123456 right?")])
    machine.codex("x1", [meta(), typed()])
    machine.codex("x2", [meta("/srv/customers/a"), typed()])
    machine.codex("x3", [meta(), typed(), codex_line("turn_context", cwd="/srv/secrets/a")])
    machine.environ["TEAM_STATE"] = str(machine.home / "team.db")
    plugins, digest, mark, doctor = machine.together(
        ("plugins", "--json"),
        ("sessions", "digest", "--unprocessed", "--json"),
        ("sessions", "mark", "codex:x1", "--outcome", "nothing"),
        ("doctor", "--json"),
    )
    (plugin,) = [each for each in plugins.json["plugins"] if each["name"] == own]
    assert (plugin.get("error"), plugin["hooks"]) == (None, [name])
    assert (digest.status, mark.status) == (0, 0)
    assert "warning" not in digest.err + mark.err
    one, codex = (
        next((item for item in digest.json["sessions"] if item["ref"] == ref), {})
        for ref in ("claude-code:c1", "codex:x1")
    )
    refs = [item["ref"] for item in digest.json["sessions"]]
    effect = {
        "register_readers": "notebook:n1" in refs,
        "register_scrub_formats": "[REDACTED:badge]" in one["events"][0]["summary"],
        "register_detectors": one.get("findings") == {"questions": [{"span": "u1"}]},
        "watermark_store": (machine.home / "team.db").exists() and not machine.database.exists(),
        "session_before_open": "codex:x2" not in refs,
        "session_after_read": "codex:x3" not in refs,
        "digest_session": codex["events"] == [] and codex["counts"]["prompts"] == 1,
        "session_digested": "claude-code:c1: " in digest.err,
        "session_marked": "codex:x1 is nothing" in mark.err,
        "doctor_sections": doctor.json.get("team") == {"name": ""}
        and "no team is named; set TEAM" in doctor.json["problems"],
        "run_finished": "finished digest" in digest.err and "finished mark" in mark.err,
    }
    assert {hook for hook, seen in effect.items() if seen} == {name}


def test_every_hook_has_a_test_of_its_own() -> None:
    """For every hook there is a test named after it."""
    source = "".join(
        path.read_text()
        for folder in (ROOT / "core/tests", Path(__file__).parent)
        for path in folder.rglob("test_*.py")
    )
    defined = set(re.findall(r"^def (test_hook_\w+)\(", source, re.MULTILINE))
    assert {f"test_hook_{name}" for name in HOOKS} <= defined
