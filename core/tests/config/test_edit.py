"""One key of the file changed: everything else is what it was, however it is laid out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentfeedback.config.edit import set_key, unset_key
from agentfeedback.config.keys import KEYS
from agentfeedback.config.toml_text import toml

values = (
    st.booleans()
    | st.integers(-9, 99)
    | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=8)
    | st.lists(st.integers(0, 9), max_size=3)
)
names = st.sampled_from(["quiet", "push_batch", "same_tool", "other", "x y"])
tables = st.dictionaries(
    st.sampled_from(["machine", "model", "future"]) | st.just("z"), values, max_size=3
)
documents = st.tuples(
    tables,
    st.dictionaries(
        st.sampled_from(["sessions", "detect", "collect", "new"]),
        st.dictionaries(names, values, max_size=3),
        max_size=4,
    ),
)


def _written(top: dict[str, Any], inner: dict[str, dict[str, Any]], style: str) -> str:
    def value(each: Any) -> str:
        return json.dumps(each, ensure_ascii=False)

    lines = [
        f"{json.dumps(name)} = {value(each)} # c{n}" for n, (name, each) in enumerate(top.items())
    ]
    for table, members in inner.items():
        if style == "inline":
            pairs = ", ".join(
                f"{json.dumps(name)} = {value(each)}" for name, each in members.items()
            )
            lines.append(f"{table} = {{{pairs}}} # {table}")
        elif style == "dotted":
            lines += [
                f"{table}.{json.dumps(name)} = {value(each)}" for name, each in members.items()
            ]
    if style == "tables":
        for table, members in inner.items():
            lines += ["", f"[{table}] # {table}"]
            lines += [
                f"{json.dumps(name)} = {value(each)} # in {table}" for name, each in members.items()
            ]
    return "\n".join(lines) + "\n"


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=80, deadline=None
)
@given(
    documents,
    st.sampled_from(["tables", "inline", "dotted"]),
    st.sampled_from(["sessions.quiet", "machine", "detect.nudge"]),
)
def test_a_change_of_any_file_means_that_change_alone(
    tmp_path: Path, document: Any, style: str, name: str
) -> None:
    """Whatever the layout: read again, the file says what it said, and the new value; comments are all there."""
    path = tmp_path / "config.toml"
    text = _written(*document, style)
    path.write_text(text)
    before = toml(text.encode())
    value = {"sessions.quiet": "9h", "machine": "box", "detect.nudge": False}[name]
    set_key(str(path), KEYS[name], value)
    wanted = {key: dict(item) if isinstance(item, dict) else item for key, item in before.items()}
    table, _, short = name.rpartition(".")
    (wanted.setdefault(table, {}) if table else wanted)[short] = value
    assert toml(path.read_bytes()) == wanted
    assert path.read_text().count("# ") >= text.count("# ")
    assert unset_key(str(path), KEYS[name])
    (wanted[table] if table else wanted).pop(short)
    after = toml(path.read_bytes())
    assert after == wanted or after == {key: item for key, item in wanted.items() if item != {}}
