"""The kit that tests readers, gates, watermark stores and installers of agentfeedback.

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
    from pytest_agentfeedback.contracts.gate import GateContract
    from pytest_agentfeedback.contracts.installer import InstallerContract
    from pytest_agentfeedback.contracts.store import WatermarkStoreContract
    from pytest_agentfeedback.machine import Machine
    from pytest_agentfeedback.recorder import Recorder

__all__ = [
    "GateContract",
    "InstallerContract",
    "Machine",
    "ReaderConformance",
    "Recorder",
    "WatermarkStoreContract",
]

# pytest imports this package in every run of whoever installed it, and help the table of commands
# in it, so that what only a reader's tests need is imported when they ask for it.
__getattr__ = lazy_names(
    __name__,
    {
        "GateContract": "pytest_agentfeedback.contracts.gate",
        "InstallerContract": "pytest_agentfeedback.contracts.installer",
        "Machine": "pytest_agentfeedback.machine",
        "WatermarkStoreContract": "pytest_agentfeedback.contracts.store",
        "ReaderConformance": "pytest_agentfeedback.conformance",
        "Recorder": "pytest_agentfeedback.recorder",
    },
)
