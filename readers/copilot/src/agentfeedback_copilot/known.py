"""The events and members seen in logs of the verified versions, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.drift import Fields, Known

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
    "permission.completed": Fields("decisionSource requestId result toolCallId"),
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
        "content kind", inside={"kind": Fields("description exitCode shellId type")}
    ),
    "tool.execution_complete": Fields(
        """
        error fileEdits interactionId isUserRequested model parentToolCallId result rte
        shellExecution success toolCallId toolTelemetry turnId
        """,
        inside={
            "error": Fields("code message"),
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
        """
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

KNOWN = Known(
    verified=("1.0.64", "1.0.85", "1.0.102"),
    version="data.copilotVersion",
    records=Fields(
        "agentId data id parentId timestamp",
        by="type",
        kinds=dict.fromkeys(_PUBLISHED, Fields())
        | {type: Fields(inside={"data": data}) for type, data in _DATA.items()},
    ),
)
