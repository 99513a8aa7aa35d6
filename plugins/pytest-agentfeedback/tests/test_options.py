"""What a test class may say of its format, beside its harness and its corpus."""

from __future__ import annotations

import importlib

import pytest
from hypothesis import strategies as st

from pytest_agentfeedback import ReaderConformance


class Case(ReaderConformance):
    harness = "tiny"
    corpus = "corpus/tiny"
    examples = 10


def test_missed_entries_are_faults_where_every_object_is_one(site, tiny_bench, monkeypatch):
    """A line that is not an entry is a fault where the class says every object is one, and else is none."""
    module = importlib.import_module("agentfeedback_tiny.reader")
    case, strict = Case(), Case()
    strict.every_object_is_an_entry = True

    case.test_any_log_is_read(tiny_bench)
    with pytest.raises(pytest.fail.Exception, match=r"entries and \d+ unparsed, of \d+ lines"):
        strict.test_any_log_is_read(tiny_bench)

    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            timeline.entry(line.id, line.time, line.cwd)

    monkeypatch.setattr(module, "Tiny", Tiny)
    strict = Case()
    strict.every_object_is_an_entry = True
    strict.test_any_log_is_read(tiny_bench)


def test_more_logs_are_read_too(site, tiny_bench, monkeypatch):
    """A fault that shows in the class's own logs alone is found."""
    module = importlib.import_module("agentfeedback_tiny.reader")

    class Tiny(module.Tiny):
        def tell(self, line, timeline):
            if line.type == "rare":
                raise KeyError(line.type)
            super().tell(line, timeline)

    class More(Case):
        def more_logs(self):
            return st.just([b'{"type":"rare"}'])

    monkeypatch.setattr(module, "Tiny", Tiny)
    Case().test_any_log_is_read(tiny_bench)
    with pytest.raises(pytest.fail.Exception, match="rare"):
        More().test_any_log_is_read(tiny_bench)
