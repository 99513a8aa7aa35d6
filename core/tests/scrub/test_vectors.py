"""Each line of `vectors.json` against both tables."""

import json
import re
from pathlib import Path

import pytest

from agentfeedback.scrub import CAPTURE, SUBMIT, Scrubber, Table
from tests.support import scrub_parts as parts

VECTORS = json.loads((Path(__file__).with_name("vectors.json")).read_text("utf-8"))
TABLES = {"submit": SUBMIT, "capture": CAPTURE}


def _fill(template: str) -> str:
    text = re.sub(r"\{([a-z]+[0-9]*)\}", lambda match: parts.PARTS[match[1]], template)
    return re.sub(r"\[(?=[a-z])(?=[a-z_]{2,}(?:\]|$))", "[REDACTED:", text)


def _cases(name: str) -> list[tuple[Table, str, str]]:
    table = TABLES[name]
    return [
        (table, _fill(given), _fill(given if wanted is None else wanted))
        for given, wanted in VECTORS[name]
    ]


ALL = [*_cases("submit"), *_cases("capture")]


# Numbers as names: pytest would make them of the texts.
@pytest.mark.parametrize(("table", "given", "wanted"), ALL, ids=range(len(ALL)))
def test_vector(table: Table, given: str, wanted: str) -> None:
    scrubber = Scrubber(table)
    assert scrubber.text(given) == wanted
    assert (scrubber.count > 0) == (given != wanted)
    assert scrubber.text(wanted) == wanted


MISSES = [(TABLES[name], _fill(text)) for name in TABLES for text in VECTORS[f"{name}_misses"]]


@pytest.mark.parametrize(("table", "given"), MISSES, ids=range(len(MISSES)))
def test_known_misses_stay_known(table: Table, given: str) -> None:
    """Limits that are promised: a change here is a change of what is promised."""
    assert parts.PW in Scrubber(table).text(given)
