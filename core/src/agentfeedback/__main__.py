"""`python -m agentfeedback`."""

import sys

from agentfeedback.cli.main import main

sys.exit(main())
