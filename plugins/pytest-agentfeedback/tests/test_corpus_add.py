"""`corpus add`: a session of a store becomes one of a corpus, and nothing of whose it was comes with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import zstandard

from agentfeedback.terminal.screen import visible
from pytest_agentfeedback import command, labels
from pytest_agentfeedback.audit import watching
from pytest_agentfeedback.corpus import Corpus, Laid, lay_out
from pytest_agentfeedback.curation.labelling import KEYS, Terminal, label
from pytest_agentfeedback.curation.line import main

CORPORA = Path(__file__).parents[3] / "corpus"
#: A session of each harness whose log has the text below in a result.
SESSIONS = {
    "claude-code": "0c000000-0000-4000-8000-000000000001",
    "codex": "01a22000-0001-7000-8000-000000000001",
    "copilot": "0d000000-0000-4000-8000-000000000001",
    "gemini-cli": "session-2026-03-01T09-00-0e000001",
    "opencode-v1": "ses_0f01ffeShopShopShopShop01",
    "opencode-v2": "ses_2f01ffeShopShopShopShop01",
}
SAID = "No rule to make target"
PLANTED = (
    "gh" + "p_" + "Zx9Q" * 9,
    "hunter2" + "hunter2",
    "AKIA" + "QWERTYUIOPASDFGH",
)
PRIVATE = ("marianne", "acmeshop", "wolpertinger", "corp.io", *PLANTED)
COMPARED = ("prompts", "tool_calls", "tool_errors", "interrupts", "denials")


class Store:
    """A home with one harness' corpus as its sessions, made somebody's: names and secrets are in them."""

    def __init__(self, folder: Path, harness: str) -> None:
        self.harness = harness
        self.ref = f"{harness}:{SESSIONS[harness]}"
        self.home = folder / "people" / "marianne"
        self.project = self.home / "clients" / "acmeshop"
        self.to = folder / "corpus"
        shutil.copytree(CORPORA / harness / "home", folder / "text")
        planted = (
            f"{SAID} for a.person@corp.io {PLANTED[0]} on wolpertinger as Marianne"
            f" password={PLANTED[1]} {PLANTED[2]}"
        )
        for path in folder.joinpath("text").rglob("*"):
            if path.is_file() and path.suffix != ".zst":
                text = path.read_text().replace("/srv/app/shop", str(self.project))
                path.write_text(text.replace(SAID, planted))
        for path in sorted(folder.joinpath("text").rglob("*shop"), reverse=True):
            name = re.sub("[^A-Za-z0-9]", "-", str(self.project))
            path.rename(path.with_name(name if path.name == "-srv-app-shop" else "acmeshop"))
        self.home.parent.mkdir(parents=True)
        lay_out(folder / "text", self.home)

    def add(self, *words: str, ref: str = "") -> int:
        return main(["corpus", "add", ref or self.ref, "--to", str(self.to), *words])

    @property
    def corpus(self) -> Corpus:
        return Corpus(self.to / self.harness)

    def files(self) -> list[Path]:
        return sorted(path for path in self.corpus.home.rglob("*") if path.is_file())

    def log(self) -> Path:
        (found,) = (path for path in self.home.rglob(f"*{SESSIONS[self.harness]}*.jsonl"))
        return found


@pytest.fixture
def store(tmp_path, monkeypatch, request):
    """A store of the harness the test is given, whose user runs the command."""
    made = Store(tmp_path, request.param)
    lived_in(made, monkeypatch)
    return made


def lived_in(made: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands are run by the user whose store this is, in that home."""
    for name in list(os.environ):
        if name not in ("PATH", "LANG", "PYTHONPATH") and not name.startswith("PYTEST_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(made.home))
    monkeypatch.setenv("USER", "marianne")
    monkeypatch.setattr("socket.gethostname", lambda: "wolpertinger.local")


every_harness = pytest.mark.parametrize("store", SESSIONS, indirect=True)
claude = pytest.mark.parametrize("store", ["claude-code"], indirect=True)
codex = pytest.mark.parametrize("store", ["codex"], indirect=True)


def digest_of(home: Path, ref: str, caller: Path) -> dict:
    done = command.run(
        ["sessions", "digest", ref, "--json", "--home", str(home)], command.environment(caller)
    )
    return json.loads(done.stdout)["sessions"][0]


@every_harness
def test_session_tells_the_same_and_nothing_private(store, tmp_path, capfd):
    """What the digest counts and which calls failed is as in the store; no name, path or secret is in the corpus."""
    before = digest_of(store.home, store.ref, tmp_path / "caller")
    assert store.project.name in json.dumps(before)

    status = store.add()

    out, err = capfd.readouterr()
    assert status == 0, err
    assert "warning" not in err
    laid = Laid(store.corpus, tmp_path / "laid")
    (after,) = laid.digests.values()
    assert [after["counts"][name] for name in COMPARED] == [
        before["counts"][name] for name in COMPARED
    ]
    assert after["project"] == "/srv/app/1"
    shown = [(each["tool"], each["status"]) for each in labels.calls(after)]
    assert shown == [(each["tool"], each["status"]) for each in labels.calls(before)]
    assert shown
    for path in store.files():
        text = f"{path.relative_to(store.to)}\n{path.read_text()}".lower()
        assert [each for each in PRIVATE if each.lower() in text] == []
    missing = labels.unlabelled([], after)
    assert [each for each in missing if visible(each) not in out] == []
    assert out.endswith(
        f"next: python -m pytest_agentfeedback corpus label {store.corpus.folder}\n"
    )


def test_added_and_labelled_sessions_are_good_corpora(tmp_path, monkeypatch, capfd):
    """After `add` and `label` the corpus of each harness passes pytest, all of them in one run."""
    keys = {"error": "g", "interrupted": "c", "denied": "d"}
    status: list[str] = []

    def tell(line: str) -> None:
        if found := re.match(r"  call     .*: (error|interrupted|denied)", line):
            status.append(found[1])

    def ask(prompt: str) -> str:
        return "seen in a test" if prompt.startswith("note") else keys[status[-1]]

    corpora = tmp_path / "corpora"
    for harness in SESSIONS:
        store = Store(tmp_path / harness, harness)
        store.to = corpora
        lived_in(store, monkeypatch)
        assert store.add() == 0
        assert label([store.corpus.folder], Terminal(ask, tell), os.environ) == 0

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(corpora)],
        cwd=corpora,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert len(re.findall(r"[1-9]\d* labelled, 0 unlabelled", done.stdout)) == len(SESSIONS)
    assert set(keys.values()) <= set(KEYS)


@claude
def test_folder_is_encoded_as_the_harness_would(store):
    """Claude Code's folder name says the new directory, as the harness writes it."""
    store.add()

    (log,) = store.files()

    assert log.relative_to(store.corpus.home).parts[:3] == (".claude", "projects", "-srv-app-1")


@claude
@pytest.mark.parametrize(
    "rule", ["disabled = true", 'deny_paths = ["~/clients"]', "opt_in_only = true"]
)
def test_policy_is_asked_before_the_log_is_opened(store, rule, capfd):
    """A session the user's own policy refuses is not opened, and nothing is written."""
    config = store.home / ".config" / "agentfeedback"
    config.mkdir(parents=True)
    (config / "config.toml").write_text(f"[collect]\n{rule}\n")
    log = str(store.log())

    with watching() as watch:
        status = store.add()

    assert status == 1
    assert "session is d" in capfd.readouterr().err
    assert log not in [path for path, _ in watch.opened]
    assert not store.to.exists()


@claude
def test_nothing_is_overwritten(store, capfd):
    """A session that the corpus has is refused, under whatever name, and no byte changes."""
    store.add()
    before = {path: path.read_bytes() for path in store.files()}
    capfd.readouterr()

    again = store.add()
    elsewhere = store.add("--rename", f"{store.project}=/srv/app/elsewhere")

    assert (again, elsewhere) == (1, 1)
    err = capfd.readouterr().err
    assert "it is there already" in err
    assert f"it has a session {SESSIONS['claude-code']} already" in err
    assert {path: path.read_bytes() for path in store.files()} == before


@codex
def test_lines_keep_their_length_where_spans_are_offsets(store, tmp_path):
    """Codex names records by byte offsets: with --whole every line is as long as it was, and is JSON."""
    before = store.log().read_bytes().splitlines()

    store.add("--whole")

    (log,) = store.files()
    after = log.read_bytes().splitlines()
    assert [len(line) for line in after] == [len(line) for line in before]
    assert after != before
    assert all(isinstance(json.loads(line), dict) for line in after)


@codex
def test_store_a_variable_moved_lies_where_the_harness_would_put_it(store, tmp_path, monkeypatch):
    """A store that CODEX_HOME moved, with a compressed log, has the default layout in the corpus, compressed."""
    moved = tmp_path / "elsewhere"
    (store.home / ".codex").rename(moved)
    (log,) = moved.rglob(f"*{SESSIONS['codex']}.jsonl")
    lines = log.read_bytes()
    compressed = log.with_name(f"{log.name}.zst")
    compressed.write_bytes(zstandard.ZstdCompressor().compress(lines))
    log.unlink()
    monkeypatch.setenv("CODEX_HOME", str(moved))

    store.add("--whole")

    (found,) = store.files()
    where = Path(".codex") / compressed.relative_to(moved)
    assert found.relative_to(store.corpus.home) == where
    text = zstandard.ZstdDecompressor().decompressobj().decompress(found.read_bytes())
    assert len(text) == len(lines)
    assert [each for each in PRIVATE if each.encode() in text.lower()] == []


@claude
def test_vendor_text_stays_behind(store):
    """What a harness writes for its model is left out, unless the maintainer wants the session whole."""
    reminder = "<system-" + "reminder>be kind</system-" + "reminder>"
    with store.log().open("a") as log:
        for record in (
            {"type": "attachment", "attachment": {"type": "edited_text_file", "text": "vendor"}},
            {"type": "system", "subtype": "informational", "content": "vendor"},
            {"type": "user", "isMeta": True, "message": {"role": "user", "content": "vendor"}},
            {"type": "user", "message": {"role": "user", "content": f"go on{reminder}"}},
        ):
            log.write(json.dumps({"cwd": str(store.project), "uuid": "u1", **record}) + "\n")

    store.add()

    (log,) = store.files()
    text = log.read_text()
    assert "vendor" not in text
    assert "be kind" not in text
    assert '"content":"go on"' in text


@claude
def test_dropped_type_is_named_where_it_matters(store, capfd):
    """--drop leaves records of a type out, and says what the reader tells no more."""
    store.add("--drop", "assistant")

    (log,) = store.files()
    assert {json.loads(line)["type"] for line in log.read_text().splitlines()} == {"user"}
    assert re.search(
        r"warning: tool calls: \d+ in the store, 0 in the corpus", capfd.readouterr().err
    )


@claude
def test_what_still_looks_secret_is_not_written(store, capfd):
    """A record of which the second pass cannot say that it holds no secret stops the command."""
    deep = "[" * 250 + "]" * 250
    with store.log().open("a") as log:
        log.write(f'{{"type":"user","uuid":"u9","toolUseResult":{deep}}}\n')

    status = store.add()

    assert status == 1
    assert "still looks as if it held a secret, so nothing was written" in capfd.readouterr().err
    assert not store.to.exists()


@pytest.mark.parametrize("store", ["opencode-v1"], indirect=True)
def test_rows_of_a_live_database_are_read_and_it_is_left_alone(store):
    """A database somebody has open is read from a copy: what is only in its log is seen, and no file of it changes."""
    (path,) = (each for each in store.home.rglob("opencode.db"))
    with closing(sqlite3.connect(path)) as harness:
        harness.execute("PRAGMA journal_mode = WAL")
        harness.execute(
            "UPDATE part SET data = replace(data, 'Get the tests', 'Get all tests')"
            " WHERE id = 'prt_0f01001'"
        )
        harness.commit()
        before = {
            each: each.read_bytes() for each in path.parent.iterdir() if "shm" not in each.name
        }

        status = store.add()

        assert status == 0
        assert all(each.read_bytes() == content for each, content in before.items())
    (text,) = store.files()
    assert text.name == f"opencode-{SESSIONS['opencode-v1']}.db.sql"
    assert "Get all tests" in text.read_text()
    assert "ses_0f02ffe" not in text.read_text()


@claude
def test_missing_session_and_wrong_words_are_told_in_one_line(store, capfd):
    """A ref without a session exits 1, a wrong --rename or --home exits 2, each with one line."""
    assert store.add(ref="claude-code:nope") == 1
    assert store.add("--rename", "nothing") == 2
    assert store.add("--home", "/no/such/folder") == 2

    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "there is no such session in" in lines[0]
