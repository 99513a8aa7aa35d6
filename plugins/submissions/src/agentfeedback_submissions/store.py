"""What a store of submissions answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import field, frozen

from agentfeedback_submissions.row import SubmissionRow


@frozen(eq=False)
class Created:
    """What became of a create; `taken` is a row that holds other content under the same key."""

    row: SubmissionRow
    outcome: Literal["new", "duplicate", "mismatch"]


@frozen
class Mark:
    """What a row is marked with; None leaves a member as it is. Not `processed` clears all of them."""

    processed: bool = True
    members: Mapping[str, str] = field(factory=dict)
