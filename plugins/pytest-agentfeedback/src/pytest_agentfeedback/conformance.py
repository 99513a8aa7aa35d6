"""The class a reader's test derives from: plain test methods, each of which may be overridden, or skipped by name."""

from __future__ import annotations

from pytest_agentfeedback.checks.finding import FindChecks
from pytest_agentfeedback.checks.hostile import HostileChecks
from pytest_agentfeedback.checks.placing import PlaceChecks
from pytest_agentfeedback.checks.product import ProductChecks
from pytest_agentfeedback.checks.telling import TellChecks
from pytest_agentfeedback.checks.untouched import StoreChecks


class ReaderConformance(
    FindChecks, PlaceChecks, StoreChecks, TellChecks, HostileChecks, ProductChecks
):
    """Every promise a reader makes, as a test.

    Set `harness` and `corpus`:

    ```python
    class TestAider(ReaderConformance):
        harness = "aider"
        corpus = "corpus/aider"
    ```

    A reader of files needs nothing else. A row store sets `row_store = True` and, where not every
    row begins a message, overrides `cuts`. `Subject` documents what else may be overridden.
    """
