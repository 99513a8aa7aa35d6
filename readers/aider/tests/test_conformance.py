"""The reader keeps the promises of the kit, over its corpus."""

from __future__ import annotations

from pytest_agentfeedback import ReaderConformance


class TestAider(ReaderConformance):
    harness = "aider"
    corpus = "corpus/aider"
    row_store = True  # a history holds many sessions, and alone says which

    # What a refused folder holds is not known; test_find says what is reported of it.
    test_refused_session_is_never_opened = None
    # The folders below a home are not a store of Aider's: those that cannot be listed are not reported.
    test_unlistable_directory_is_a_problem = None
