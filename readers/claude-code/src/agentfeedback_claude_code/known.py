"""The record types and members seen in transcripts of the verified versions, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known
from agentfeedback_claude_code.texts import UnknownTexts

_RESULT_ITEM = Fields(
    by="type",
    kinds={
        "text": Fields("text"),
        "image": Fields("source"),
        "tool_reference": Fields("tool_name"),
    },
)
_BLOCK = Fields(
    by="type",
    kinds={
        "text": Fields("text citations"),
        "thinking": Fields("thinking signature"),
        "redacted_thinking": Fields("data"),
        "image": Fields("source"),
        "document": Fields("source title context citations"),
        "tool_use": Fields("id name input"),
        "tool_result": Fields("tool_use_id content is_error", inside={"content": _RESULT_ITEM}),
    },
)
_MESSAGE = Fields(
    """
    container content context_management diagnostics id model role stop_details stop_reason
    stop_sequence type usage
    """,
    inside={"content": _BLOCK},
)
#: Who wrote a text, by the harness's mark.
_ORIGIN = Fields("kind", open=True, words={"kind": "human task-notification teammate"})
_DECISION = Fields("decision", open=True, words={"decision": "accept reject"})
_PROGRESS = Fields(
    "type",
    open=True,
    words={"type": "agent_progress bash_progress hook_progress mcp_progress"},
)
_ATTACHMENT = Fields(
    by="type",
    kinds={
        "agent_listing_delta": Fields(
            """
            addedLines addedTypes builtInPluginTypes builtInTypes isInitial removedTypes
            showConcurrencyNote
            """
        ),
        "auto_mode": Fields(
            "autoModeConsentFlow bashFirst bashFirstSteer bypass finishExposedWork steerOnly"
        ),
        "command_permissions": Fields("allowedTools"),
        "date": Fields("date"),
        "deferred_tools_delta": Fields(
            """
            addedLines addedNames failedMcpServers needsAuthMcpServers pendingMcpServers
            readdedNames removedNames wireHiddenNames
            """
        ),
        "environment": Fields("changes snapshot"),
        "hook_blocking_error": Fields("blockingError hookEvent hookName toolUseID"),
        "hook_stopped_continuation": Fields("hookEvent hookName message toolUseID"),
        "hook_success": Fields(
            "command content durationMs exitCode hookEvent hookName stderr stdout toolUseID"
        ),
        "max_turns_reached": Fields("exitCommitted maxTurns turnCount"),
        "structured_output": Fields("data toolUseID"),
        "total_tokens_reminder": Fields("text"),
        "file": Fields("content displayPath filename savedCopyFraming"),
        "instructions": Fields("files"),
        "model": Fields("identity text"),
        "plan_mode": Fields("isSubAgent planExists planFilePath reminderType"),
        "plan_mode_exit": Fields("planExists planFilePath"),
        "prompt_snapshot": Fields(
            """
            cliPrefix contextRendering echoWireToolInputs inlineTools keptReminders reminderFold
            systemPrompt systemTurns toolChangeHeader tools
            """
        ),
        "queued_command": Fields(
            """
            commandMode delivery_id humanTurn isMeta origin prompt rowSource runId source_uuid
            timestamp
            """,
            inside={"origin": _ORIGIN},
            words={"commandMode": "prompt task-notification"},
        ),
        "remote_session_change": Fields("commit managedCommit managedPr pr sendUserFileHint url"),
        "session_context": Fields("context"),
        "silent_turn_reminder": Fields("text"),
        "skill_listing": Fields("content digests isInitial names skillCount"),
        "task_reminder": Fields("content itemCount"),
    },
)

#: What every entry of the conversation may hold.
_ENTRY = """
    agentId cwd entrypoint gitBranch isMeta isSidechain parentUuid sessionId session_id slug
    timestamp userType uuid version
"""
_SYSTEM = Fields(
    _ENTRY + " content level",
    by="subtype",
    kinds={
        "api_error": Fields("error maxRetries retryAttempt retryInMs source"),
        "compact_boundary": Fields("compactMetadata logicalParentUuid"),
        "informational": Fields("preventContinuation promptSubmitEnding"),
        "local_command": Fields("commandRun contextUsage"),
        "stop_hook_summary": Fields(
            """
            failedHookErrorIndexes hasOutput hookAdditionalContext hookCount hookErrors hookInfos
            preventedContinuation stopReason toolUseID
            """
        ),
        "turn_duration": Fields("durationMs messageCount pendingBackgroundAgentCount"),
    },
)

KNOWN = Known(
    texts=UnknownTexts,
    verified=("1.0.0", "2.0.0", "2.0.60", "2.1.64", "2.1.197", "2.1.290", "2.1.332"),
    version="version",
    records=Fields(
        "sessionId",
        by="type",
        kinds={
            "user": Fields(
                _ENTRY
                + """
                classifierBoundary holdsPersonsWords interruptedMessageId isCompactSummary isVisibleInTranscriptOnly
                mcpCallNotReadOnly message origin permissionDecision permissionMode promptId
                promptSource queueSkipAttachments repeatsCompactSummary rowSource sandboxed sentAtMs
                sourceToolAssistantUUID sourceToolUseID thinkingMetadata toolDenialBeforeRun
                toolDenialKind toolEndsTurn toolUseResult todos turnCompanion turnOrigin turnPosition userFeedback
                """,
                inside={
                    "message": _MESSAGE,
                    "origin": _ORIGIN,
                    "permissionDecision": _DECISION,
                },
                words={
                    "promptSource": "typed queued sdk system",
                    "toolDenialKind": """
                        automode-blocked automode-parsing-error automode-unavailable cancelled
                        interrupted permission-rule user-rejected
                    """,
                },
            ),
            "assistant": Fields(
                _ENTRY
                + """
                apiBlockIndex apiErrorStatus errorDetails apiErrorType attributionAgent attributionMcpServer
                attributionMcpTool attributionSkill costUSD durationMs effort error
                failedResponseHadNoToolCall isApiErrorMessage madeBy message perTurnEffort
                promptCacheRequested requestId requestRef requestSessionId requestedModel
                serverClassifierRequest thinkingDisplay thinkingDurationMs toolInputStreamMs
                """,
                inside={"message": _MESSAGE},
            ),
            "attachment": Fields(
                _ENTRY
                + """
                attachment rendered renderedBesideToolResult renderedInHumanTurn renderedRole
                """,
                inside={"attachment": _ATTACHMENT},
            ),
            "system": _SYSTEM,
            "agent-name": Fields("agentName"),
            "ai-title": Fields("aiTitle"),
            "api-request": Fields(
                """
                agentId base cacheControl echoWireToolInputs id keep params querySource
                requestDigest shapeHash tail thread timestamp version
                """
            ),
            "api-request-blob": Fields("agentId hash message"),
            "api-request-shape": Fields("agentId shape shapeHash timestamp version"),
            "atis-latch": Fields("atis"),
            "cost-state": Fields(
                """
                hasUnknownModelCost modelUsage startTime totalAPIDuration
                totalAPIDurationWithoutRetries totalCostUSD totalDuration totalLinesAdded
                totalLinesRemoved totalToolDuration
                """
            ),
            "custom-title": Fields("customTitle"),
            "file-history-delta": Fields(
                "backup messageId snapshotMessageId timestamp trackingPath"
            ),
            "file-history-snapshot": Fields("isSnapshotUpdate messageId snapshot"),
            "last-prompt": Fields("explicit lastPrompt leafUuid"),
            "mode": Fields("mode"),
            "permission-mode": Fields("permissionMode"),
            "queue-operation": Fields(
                "commandUuid content deliveryId operation reason timestamp",
                words={"operation": "dequeue enqueue popAll remove"},
            ),
            "progress": Fields(
                _ENTRY + " data parentToolUseID toolUseID", inside={"data": _PROGRESS}
            ),
            "summary": Fields("leafUuid summary"),
            "tools-used": Fields("tools"),
            "worktree-state": Fields("worktreeSession"),
        },
    ),
)
