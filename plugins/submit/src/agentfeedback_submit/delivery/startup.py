"""What a command of local mode does first: files what lies in the spool for this machine, then the inbox (platform details 1.3).

It prints nothing, and what keeps it from its work keeps no command from its own: that is logged, and
shows again in `flush` and `ingest`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agentfeedback_submit.delivery.deliver import Local
from agentfeedback_submit.delivery.flush import FlushRun
from agentfeedback_submit.delivery.inbox import Inbox
from agentfeedback_submit.delivery.outcome_log import Line

if TYPE_CHECKING:
    from agentfeedback_submit.context import SubmitContext


def start(run: SubmitContext, *, inbox: bool = True) -> None:
    """The pass; nothing is done where the policy switches the working directory off."""
    if run.gate.after_read([run.directory]) is not None:
        return
    here = Local(run.service)
    try:
        FlushRun(run.spool, here, run.tell, run.scrub).run()
        if inbox:
            Inbox(run.data, here, run.tell, run.scrub).run()
    except OSError as error:
        run.tell(Line(outcome="error", reason=f"startup_{type(error).__name__}"))
