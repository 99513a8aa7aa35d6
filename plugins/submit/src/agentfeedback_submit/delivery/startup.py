"""What a command of local mode does first: files what is in the spool for this machine, then the inbox.

It prints nothing, and what keeps it from its work keeps no command from its own: that is logged, and
shows again in `flush` and `ingest`.
"""

from __future__ import annotations

from agentfeedback_submissions.service import Service
from agentfeedback_submit.delivery.deliver import Scrub
from agentfeedback_submit.delivery.destination import Local
from agentfeedback_submit.delivery.flush import FlushRun, Tell
from agentfeedback_submit.delivery.inbox import Inbox
from agentfeedback_submit.delivery.outcome_log import Line
from agentfeedback_submit.delivery.spool import Spool


def start(
    service: Service, spool: Spool, log: Tell, *, scrub: Scrub = str, inbox: bool = True
) -> None:
    """File what waits for this machine; `log` hears what became of each report, and of a failure."""
    here = Local(service)
    try:
        FlushRun(spool, here, log, scrub).run()
        if inbox:
            Inbox(spool.data, here, log, scrub).run()
    except Exception as error:  # noqa: BLE001 - a report is being filed, or read: that goes on
        log(Line(outcome="error", reason=f"startup_{type(error).__name__}"))
