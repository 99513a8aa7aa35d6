"""The conformance kit for readers of agentfeedback.

```python
from pytest_agentfeedback import ReaderConformance

class TestAider(ReaderConformance):
    harness = "aider"
    corpus = "corpus/aider"   # relative to pytest's rootdir
```
"""

from __future__ import annotations

from agentfeedback.foundation.lazy import lazy_names

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pytest_agentfeedback.conformance import ReaderConformance
    from pytest_agentfeedback.recorder import Recorder

__all__ = ["ReaderConformance", "Recorder"]

# pytest imports this package in every run of whoever installed it, and help the table of commands
# in it, so that what only a reader's tests need is imported when they ask for it.
__getattr__ = lazy_names(
    __name__,
    {
        "ReaderConformance": "pytest_agentfeedback.conformance",
        "Recorder": "pytest_agentfeedback.recorder",
    },
)
