"""The conformance kit for readers of agentfeedback.

```python
from pytest_agentfeedback import ReaderConformance

class TestAider(ReaderConformance):
    harness = "aider"
    corpus = "corpus/aider"   # relative to pytest's rootdir
```
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pytest_agentfeedback.conformance import ReaderConformance
    from pytest_agentfeedback.recorder import Recorder

__all__ = ["ReaderConformance", "Recorder"]

_MODULES = {"ReaderConformance": "conformance", "Recorder": "recorder"}


# pytest imports this package in every run of whoever installed it, so that what only a reader's
# tests need is imported when they ask for it.
def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
