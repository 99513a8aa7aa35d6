"""The events and members seen in logs of the verified versions, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known, decoder
from agentfeedback_copilot.lines import Event, answer_of
from agentfeedback_copilot.results import SHELL_READERS, SHELLS, has_unknown_line

#: How a permission may be decided; the harness's own schema has them all.
_PERMISSIONS = """
    approved approved-for-location approved-for-session approved-read-only-for-session cancelled
    denied-by-content-exclusion-policy denied-by-permission-request-hook denied-by-rules
    denied-interactively-by-user denied-no-approval-rule-and-could-not-request-from-user
    """
#: What the harness may tell the model by itself; likewise.
_NOTIFICATIONS = """
    agent_completed agent_idle instruction_discovered new_inbox_message shell_completed
    shell_detached_completed
    """

_DATA = {
    "abort": Fields("reason"),
    "assistant.message": Fields(
        """
        apiCallId content interactionId messageId model originatingMessageId outputTokens
        parentToolCallId rte toolRequests turnId
        """
    ),
    "assistant.turn_end": Fields("parentToolCallId turnId"),
    "assistant.turn_start": Fields("interactionId parentToolCallId turnId"),
    "hook.end": Fields("error hookInvocationId hookType output success"),
    "hook.start": Fields("hookInvocationId hookType input"),
    "permission.completed": Fields(
        "decisionSource requestId result toolCallId",
        inside={"result": Fields(open=True, words={"kind": _PERMISSIONS})},
    ),
    "permission.requested": Fields(
        "agentMode ownerSessionId permissionMode permissionRequest promptRequest requestId toolCallId"
    ),
    "session.context_changed": Fields("branch cwd gitRoot headCommit pendingGitContext"),
    "session.error": Fields("errorType message providerCallId stack statusCode"),
    "session.model_change": Fields(
        """
        contextTier newModel previousModel previousReasoningEffort reasoningEffort source
        """
    ),
    "session.resume": Fields(
        """
        alreadyInUse context contextTier eventCount eventsFileSizeBytes reasoningEffort
        remoteSteerable resumeTime selectedModel
        """
    ),
    "session.shutdown": Fields(
        """
        accountingSnapshot agentMetrics codeChanges conversationTokens currentModel currentTokens
        eventsFileSizeBytes modelMetrics providerModelMetrics sessionStartTime shutdownType
        systemTokens toolDefinitionsTokens totalApiDurationMs totalNanoAiu totalPremiumRequests
        usageAccountingWatermarks
        """
    ),
    "session.start": Fields(
        """
        alreadyInUse context contextTier copilotVersion producer reasoningEffort remoteSteerable
        selectedModel sessionId startTime version
        """
    ),
    "session.usage_record": Fields("usage"),
    "subagent.completed": Fields(
        """
        agentDisplayName agentName durationMs firstDispatchedModel model modelSelectionSource
        toolCallId totalTokens totalToolCalls
        """
    ),
    "subagent.configured": Fields("model multiTurn reasoningEffort"),
    "subagent.started": Fields(
        """
        agentDescription agentDisplayName agentName agentType executionMode model
        modelSelectionSource resumable taskModelSource toolCallId
        """
    ),
    "system.message": Fields("content interactionId metadata role"),
    "system.notification": Fields(
        "content kind",
        inside={
            "kind": Fields(
                "description exitCode shellId type",
                words={"type": _NOTIFICATIONS},
            )
        },
    ),
    "tool.execution_complete": Fields(
        """
        error fileEdits interactionId isUserRequested model parentToolCallId result rte
        shellExecution success toolCallId toolTelemetry turnId
        """,
        inside={
            "error": Fields(
                "code message",
                words={"code": "cancelled denied failure interrupted rejected timeout"},
            ),
            "result": Fields("content contents detailedContent structuredContent"),
            "shellExecution": Fields("cwd exitCode outputPreview"),
        },
    ),
    "tool.execution_start": Fields(
        """
        arguments mcpServerName mcpToolName model parentToolCallId shellToolInfo toolCallId toolName
        toolTitle turnId
        """
    ),
    "tool.user_requested": Fields("arguments toolCallId toolName"),
    "user.message": Fields(
        """
        attachments content delivery interactionId isAutopilotContinuation messageId parentAgentTaskId source
        supportedNativeDocumentMimeTypes transformedContent turnId
        """,
        words={"delivery": "idle queued steering"},
    ),
}

#: Seen in published logs (0.0.420 to 1.0.77); what they hold is not looked into.
_PUBLISHED = (
    "session.auto_mode_resolved",
    "session.compaction_complete",
    "session.compaction_start",
    "session.info",
    "session.mode_changed",
    "session.permissions_changed",
    "session.plan_changed",
    "session.task_complete",
    "session.truncation",
    "session.usage_checkpoint",
    "session.warning",
    "session.workspace_file_changed",
    "skill.invoked",
)


class _Texts:
    """Names results of shells, line after line, whose last line is the harness's and that no rule knows."""

    def __init__(self) -> None:
        self._shells: set[str] = set()

    def __call__(self, line: bytes) -> str:
        event = decoder(Event)(line)
        data = event.data if event is not None else None
        if event is None or data is None or not data.tool_call_id:
            return ""
        if event.type == "tool.execution_start" and data.tool_name in (*SHELLS, *SHELL_READERS):
            self._shells.add(data.tool_call_id)
        elif event.type == "tool.execution_complete" and data.tool_call_id in self._shells:
            self._shells.discard(data.tool_call_id)
            if has_unknown_line(answer_of(data)):
                return f"{event.type}/text of a shell"
        return ""


KNOWN = Known(
    verified=("1.0.64", "1.0.85", "1.0.102"),
    version="data.copilotVersion",
    texts=_Texts,
    records=Fields(
        "agentId data id parentId timestamp",
        by="type",
        kinds=dict.fromkeys(_PUBLISHED, Fields())
        | {type: Fields(inside={"data": data}) for type, data in _DATA.items()},
    ),
)
