"""The test items of a `labels.json`: one for each label, and one for each session that asks for labels of all failures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from pytest_agentfeedback import labels
from pytest_agentfeedback.corpus import CorpusError

if TYPE_CHECKING:
    from pytest_agentfeedback.corpus import Laid
    from pytest_agentfeedback.labels import Label

#: The property of a report that the summary is made of: (harness, class) or (harness, unlabelled events).
LABELLED = "agentfeedback_labelled"
UNLABELLED = "agentfeedback_unlabelled"


class LabelsFile(pytest.File):
    """A corpus: `labels.json` beside `home`."""

    laid: Laid

    def collect(self) -> Iterator[pytest.Item]:
        from pytest_agentfeedback.bench import bench_of

        try:
            found = labels.load(self.path)
        except labels.LabelsError as error:
            raise self.CollectError(str(error)) from None
        if twice := labels.duplicates(found):
            raise self.CollectError(f"{self.path}: " + "; ".join(twice))
        self.laid = bench_of(self.config).laid(self.path.parent)
        try:
            sessions = self.laid.sessions
        except CorpusError as error:
            raise self.CollectError(str(error)) from None
        for label in found:
            yield LabelItem.from_parent(self, name=label.name, label=label)
        for session in sessions:
            yield SessionItem.from_parent(self, name=session, found=found)


class _Broken(Exception):
    """A label that does not hold, in words."""


class _CorpusItem(pytest.Item):
    parent: LabelsFile

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, (_Broken, CorpusError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo)


class LabelItem(_CorpusItem):
    """One label: the digest shows the failure as its class says."""

    def __init__(self, *, label: Label, **more: Any) -> None:
        super().__init__(**more)
        self.label = label

    def runtest(self) -> None:
        laid, label = self.parent.laid, self.label
        self.user_properties.append((LABELLED, [laid.corpus.harness, label.kind]))
        if why := labels.broken(label, laid.digests.get(label.session)):
            raise _Broken(f"{why}\nedit {self.path}:{label.line}")

    def reportinfo(self) -> tuple[Any, int, str]:
        return self.path, self.label.line - 1, self.name


class SessionItem(_CorpusItem):
    """One session: it is digested whole, and each `tool_call` event of it has a label."""

    def __init__(self, *, found: Iterable[Label], **more: Any) -> None:
        super().__init__(**more)
        self.found = list(found)

    def runtest(self) -> None:
        laid = self.parent.laid
        digest = laid.digests.get(self.name)
        if why := laid.failed.get(self.name):
            raise _Broken(why)
        if digest is None:
            return  # a session no digest is made of (refused, unsupported) has no event to label
        if digest["truncated"]:
            raise _Broken(f"{self.name}: its digest is truncated, so not all of it can be labelled")
        missing = labels.unlabelled(self.found, digest)
        self.user_properties.append((UNLABELLED, [laid.corpus.harness, len(missing)]))
        if missing:
            listed = "\n".join(f"  {each}" for each in missing)
            raise _Broken(
                f"{self.name}: events without a label:\n{listed}\nadd one for each to {self.path}"
            )

    def reportinfo(self) -> tuple[Any, int | None, str]:
        return self.path, None, f"{self.name}: everything labelled"


def summaries(reports: Iterable[pytest.TestReport]) -> list[str]:
    """The summary lines of the corpora whose items ran."""
    kinds: dict[str, list[str]] = {}
    missing: dict[str, int] = {}
    for name, value in (each for report in reports for each in report.user_properties):
        if name not in (LABELLED, UNLABELLED):
            continue
        assert isinstance(value, (list, tuple))
        harness, told = value
        shown = kinds.setdefault(harness, [])
        if name == LABELLED:
            shown.append(told)
        else:
            missing[harness] = missing.get(harness, 0) + told
    return [labels.summary(harness, kinds[harness], missing.get(harness, 0)) for harness in kinds]
