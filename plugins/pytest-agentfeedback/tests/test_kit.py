"""The kit as its users meet it: a test class of three lines, a corpus collected by pytest, goldens."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_agentfeedback import labels
from pytest_agentfeedback.goldens import readable

#: Any JSON value.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=8,
)


def relabel(site, *, drop=None, **members):
    """Change the members of the first label, or leave out the one of a span."""
    written = json.loads(site.labels.read_text())
    written[0].update(members)
    kept = [label for label in written if (label["session"], label["span"]) != drop]
    site.labels.write_text("[\n" + ",\n".join(map(json.dumps, kept)) + "\n]\n")


def test_class_of_three_lines_passes(site):
    """A good reader passes the whole kit once its goldens are written, and the summary says what there is."""
    wrote, output = site.pytest("--snapshot-update", "-k", "goldens")
    assert wrote == 0, output
    names = sorted(path.name for path in (site.folder / "goldens" / "tiny").iterdir())
    assert names == ["list.json", "s1.digest.json", "s2.digest.json"]

    status, output = site.pytest()

    assert status == 0, output
    assert "3 snapshots passed" in output
    assert "tiny: 6 labelled, 0 unlabelled, 6/6 classes" in output
    assert "microseconds a line" in output


def test_golden_is_the_exact_output_with_no_path_of_this_machine(site):
    """A golden is standard output, a line for each member, in which the copy's home is `/home/user`."""
    site.pytest("--snapshot-update", "-k", "goldens")
    golden = (site.folder / "goldens" / "tiny" / "list.json").read_bytes()

    assert golden.endswith(b"\n}\n")
    compact = json.dumps(json.loads(golden), ensure_ascii=False, separators=(",", ":"))
    assert readable(compact.encode() + b"\n") == golden
    assert [each["path"] for each in json.loads(golden)["sessions"]] == [
        "/home/user/.tiny/s1.jsonl",
        "/home/user/.tiny/s2.jsonl",
    ]


@given(JSON, st.sampled_from([b"", b" ", b"\n", b"\t"]), st.integers(0, 40))
def test_what_is_kept_differs_where_the_output_does(value, blank, at):
    """Two outputs that differ in any byte are kept as two; compact JSON has a line for each member."""
    output = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
    other = output[:at] + blank + output[at:]
    assert (readable(output) == readable(other)) is (output == other)
    assert json.loads(readable(output)) == value


def test_changed_output_fails_its_golden(site):
    """A change of what is printed fails `test_goldens_match`, which shows the members that changed."""
    site.pytest("--snapshot-update", "-k", "goldens")
    log = site.corpus / "home" / ".tiny" / "s1.jsonl"
    log.write_text(log.read_text().replace("no rule to make target docs", "no such target"))

    status, output = site.pytest("-k", "goldens")

    assert status == 1
    assert "1 failed" in output
    assert '-     "excerpt": "no rule to make target docs"' in output
    assert '+     "excerpt": "no such target"' in output


def test_golden_that_nothing_uses_fails_a_full_run(site):
    """A golden that nothing compares with is reported, so none is left behind unseen."""
    (site.folder / "test_tiny.py").write_text(
        "def test_list(bench, golden):\n"
        "    laid = bench.laid(bench.root / 'corpus' / 'tiny')\n"
        "    assert laid.listing == golden('tiny/list')\n"
    )
    site.pytest("--snapshot-update")
    assert site.pytest()[0] == 0
    (site.folder / "goldens" / "tiny" / "gone.digest.json").write_text("{}\n")

    status, output = site.pytest()

    assert status == 1
    assert "1 snapshot unused" in output


def test_goldens_lie_where_the_ini_value_says(site):
    """The ini value `agentfeedback_goldens` names their folder."""
    with (site.folder / "pytest.ini").open("a") as ini:
        ini.write("agentfeedback_goldens = kept/here\n")

    site.pytest("--snapshot-update", "test_tiny.py", "-k", "goldens")

    assert (site.folder / "kept" / "here" / "tiny" / "list.json").is_file()


def test_each_label_and_session_is_an_item(site):
    """Labels are collected by session and span, and each session has an item for what is not labelled."""
    status, output = site.pytest("corpus/tiny", "--collect-only")

    assert status == 0
    spans = ["s1#c1", "s1#c2", "s1#c3", "s2#c1", "s2#c2", "s2#c3", "s1", "s2"]
    wanted = [f"corpus/tiny/labels.json::{span}" for span in spans]
    assert [line for line in output.splitlines() if "::" in line] == wanted


def test_one_label_runs_by_its_node_id(site):
    """A label is a node id of its own."""
    status, output = site.pytest("corpus/tiny/labels.json::s2#c1")

    assert status == 0
    assert "1 passed" in output


def test_broken_label_says_claim_evidence_and_line(site):
    """A label the digest does not show fails with what it claims, what is shown and the line to edit."""
    relabel(site, **{"class": "denial"})

    status, output = site.pytest("corpus/tiny")

    assert status == 1
    assert "1 failed" in output
    assert "label s1#c1 claims denial" in output
    assert "'status': 'error'" in output
    assert f"edit {site.labels}:2" in output


@pytest.mark.parametrize(
    ("span", "kind"),
    [
        ("c1", "cancellation"),
        ("c1", "denial"),
        ("c1", "self-noise"),
        ("c1", "repeat"),
        ("c4", "genuine-friction"),
        ("no-such-span", "expected-failure"),
    ],
)
def test_no_class_holds_for_another_failure(site, tiny_bench, span, kind):
    """A plain failure is none of the other classes, and a call that went well is not a failure."""
    relabel(site, **{"span": span, "class": kind})
    label = labels.load(site.labels)[0]

    why = labels.broken(label, tiny_bench.laid(site.corpus).digests["s1"])

    assert f"label s1#{span} claims {kind}" in why


def test_failure_without_a_label_fails_its_session(site):
    """A `tool_call` event without a label fails the session's item, which names it."""
    relabel(site, drop=("s2", "c3"))

    status, output = site.pytest("corpus/tiny")

    assert status == 1
    assert "c3 shell interrupted" in output
    assert "tiny: 5 labelled, 1 unlabelled, 5/6 classes (no example of cancellation)" in output


@pytest.mark.parametrize(
    ("members", "fault"),
    [
        ({"class": "rude"}, "want one of genuine-friction, expected-failure"),
        ({"class": "rude"}, "labels[0].class"),
        ({"why": "because"}, "unknown member why @ labels[0]"),
        ({"note": " "}, "labels[0]: note is empty"),
        ({"note": 5}, "want a text @ labels[0].note"),
    ],
)
def test_wrong_label_is_named(site, members, fault):
    """A label that is not of the form is named by index and member."""
    relabel(site, **members)

    with pytest.raises(labels.LabelsError) as caught:
        labels.load(site.labels)

    assert fault in str(caught.value)


def test_empty_file_of_labels_is_named(site):
    """A labels.json without content is answered with what to write."""
    site.labels.write_text(" \n")

    with pytest.raises(labels.LabelsError, match=r"labels.json is empty: write \[\]"):
        labels.load(site.labels)


def test_nothing_runs_while_a_label_is_wrong(site):
    """Two labels of one failure, like any label that is not of the form, stop the collection with one sentence."""
    relabel(site, span="c2")

    status, output = site.pytest("corpus/tiny")

    assert status != 0
    assert "line 3: s1#c2 has a label already" in output
    assert "Traceback" not in output


def test_session_that_cannot_be_read_fails(site):
    """A session whose reader fails is not a session without failures."""
    reader = site.folder / "agentfeedback_tiny" / "reader.py"
    reader.write_text(reader.read_text().replace("    def tell(", "    def told("))

    status, output = site.pytest("corpus/tiny/labels.json::s1")

    assert status == 1
    assert "reader tiny failed: AttributeError" in output


def test_checkout_times_do_not_matter(site, tiny_bench):
    """A copy of a corpus has fixed times in byte order of the paths, whatever those of the checkout are."""
    before = tiny_bench.lay(site.corpus)
    (site.corpus / "home" / ".tiny" / "s1.jsonl").touch()
    after = tiny_bench.lay(site.corpus)

    def times(laid):
        return [path.stat().st_mtime_ns for path in sorted((laid.home / ".tiny").iterdir())]

    assert times(before) == times(after) == sorted(times(before))
    assert before.listing == after.listing


def test_sql_text_becomes_a_database(site, tiny_bench):
    """A corpus keeps databases as SQL text: `X.sql` is the database `X` in each copy, and the text is not there."""
    import sqlite3
    from contextlib import closing

    text = "create table session (id text); insert into session values ('s1');"
    (site.corpus / "home" / "rows.db.sql").write_text(text)

    home = tiny_bench.lay(site.corpus).home

    assert sorted(path.name for path in home.iterdir()) == [".tiny", "rows.db"]
    with closing(sqlite3.connect(home / "rows.db")) as database:
        assert database.execute("select id from session").fetchall() == [("s1",)]


@pytest.mark.skipif(importlib.util.find_spec("xdist") is None, reason="pytest-xdist is not here")
def test_summary_is_the_same_in_several_processes(site):
    """With xdist the summary counts the labels of all workers."""
    status, output = site.pytest("corpus/tiny", "-n2")

    assert status == 0, output
    assert "tiny: 6 labelled, 0 unlabelled, 6/6 classes" in output


def test_plugin_imports_pytest_alone():
    """Whoever has the kit installed pays for no other library in runs that do not use it."""
    code = "import sys, pytest_agentfeedback.plugin; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    loaded = set(done.stdout.split())
    assert not {"syrupy", "hypothesis", "attrs", "attr", "cattrs"} & loaded
    # Of agentfeedback nothing but what hands out the kit's names when they are asked for.
    own = {name for name in loaded if name.partition(".")[0] == "agentfeedback"}
    assert own <= {"agentfeedback", "agentfeedback.foundation", "agentfeedback.foundation.lazy"}
