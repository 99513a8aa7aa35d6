"""`python -m pytest_agentfeedback corpus add|label|check`."""

from __future__ import annotations

import sys

from pytest_agentfeedback.curation.line import main

if __name__ == "__main__":
    sys.exit(main())
