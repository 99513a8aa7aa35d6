"""The record types and members seen in rollouts of the verified versions, for `agentfeedback doctor --formats`."""

from __future__ import annotations

from agentfeedback.reading import Fields, Known
from agentfeedback_codex.texts import UnknownTexts

_PART = Fields(
    by="type",
    kinds={
        "input_text": Fields("text"),
        "input_image": Fields("image_url detail"),
        "output_text": Fields("text annotations"),
        "encrypted_content": Fields("encrypted_content"),
    },
)
#: What is reviewed: `custom` has `instructions`, whose form the others' members do not tell.
_TARGET = Fields(
    "branch instructions sha title type",
    words={"type": "baseBranch commit custom uncommittedChanges"},
)
_ENDED = "completed declined failed"
_SOURCES = "agent unified_exec_interaction unified_exec_startup user_shell"
_ITEM = Fields(
    "id",
    by="type",
    kinds={
        "AgentMessage": Fields("content"),
        "CollabAgentToolCall": Fields(
            """
            agents_states model prompt reasoning_effort receiver_agents receiver_thread_ids
            sender_thread_id status tool
            """
        ),
        "CommandExecution": Fields(
            """
            aggregated_output command cwd duration exit_code formatted_output parsed_cmd process_id
            source status stderr stdout
            """,
            words={"source": _SOURCES, "status": _ENDED},
        ),
        "ContextCompaction": Fields(),
        "DynamicToolCall": Fields(
            "arguments content_items duration error namespace status success tool",
            words={"status": _ENDED},
        ),
        "EnteredReviewMode": Fields("target user_facing_hint", inside={"target": _TARGET}),
        "ExitedReviewMode": Fields("review_output"),
        "Extension": Fields("action kind query results"),
        "FileChange": Fields("changes status stderr stdout", words={"status": _ENDED}),
        "ImageView": Fields("path"),
        "Plan": Fields("text"),
        "McpToolCall": Fields(
            "arguments duration error readOnlyHint result server status tool",
            words={"status": _ENDED},
        ),
        "Reasoning": Fields("raw_content summary_text"),
        "SubAgentActivity": Fields("agent_path agent_thread_id kind model reasoning_effort"),
        "UserMessage": Fields("client_id content"),
    },
)
_RESPONSE = Fields(
    "id internal_chat_message_metadata_passthrough",
    by="type",
    kinds={
        "additional_tools": Fields("role tools"),
        "agent_message": Fields("author content recipient"),
        "custom_tool_call": Fields("call_id input name namespace status"),
        "custom_tool_call_output": Fields("call_id output"),
        "function_call": Fields("arguments call_id name namespace status"),
        "function_call_output": Fields("call_id name namespace output"),
        "ghost_snapshot": Fields("ghost_commit"),
        "local_shell_call": Fields("action call_id status"),
        "message": Fields("content role status", inside={"content": _PART}),
        "reasoning": Fields("content encrypted_content summary"),
    },
)
_EVENT = Fields(
    by="type",
    kinds={
        "agent_message": Fields("memory_citation message phase"),
        "agent_reasoning": Fields("text"),
        "collab_agent_spawn_end": Fields(
            """
            call_id model new_agent_nickname new_agent_role new_thread_id prompt reasoning_effort
            sender_thread_id status
            """
        ),
        "context_compacted": Fields(),
        "dynamic_tool_call_request": Fields("arguments callId namespace tool turnId"),
        "dynamic_tool_call_response": Fields(
            "arguments call_id content_items duration error success tool turn_id"
        ),
        "entered_review_mode": Fields(
            "item_id target turn_id user_facing_hint", inside={"target": _TARGET}
        ),
        "error": Fields("codex_error_info message"),
        "exec_command_end": Fields(
            """
            aggregated_output call_id command cwd duration exit_code formatted_output parsed_cmd
            process_id source status stderr stdout turn_id
            """,
            words={"source": _SOURCES, "status": _ENDED},
        ),
        "exited_review_mode": Fields("item_id review_output turn_id"),
        "item_completed": Fields(
            "completed_at_ms item started_at_ms thread_id turn_id", inside={"item": _ITEM}
        ),
        "mcp_tool_call_end": Fields("call_id duration invocation result"),
        "patch_apply_end": Fields(
            "call_id changes status stderr stdout success turn_id", words={"status": _ENDED}
        ),
        "task_complete": Fields(
            """
            completed_at duration_ms error last_agent_message root_turn_id started_at
            time_to_first_token_ms turn_id
            """
        ),
        "task_started": Fields(
            """
            collaboration_mode_kind model_context_window root_turn_id started_at turn_attribution
            turn_id
            """
        ),
        "thread_rolled_back": Fields("num_turns"),
        "thread_settings_applied": Fields("thread_id thread_settings"),
        "token_count": Fields("info rate_limits"),
        "turn_aborted": Fields(
            "completed_at duration_ms reason root_turn_id started_at turn_id",
            words={"reason": "budget_limited interrupted replaced review_ended"},
        ),
        "user_message": Fields(
            "audio images kind local_audio local_images message text_elements",
            words={"kind": "environment_context plain user_instructions"},
        ),
    },
)
_COMPACTED = Fields(
    """
    compaction_response_id first_window_id latest_token_usage_record message previous_window_id
    replacement_history replacement_history_metadata resume_metadata retained_context window_id
    window_number
    """
)
_SESSION_META = Fields(
    """
    account_scoped agent_nickname agent_path base_instructions cli_version context_window cwd
    forked_from_id forked_from_ordinal_exclusive git history_base history_mode id instructions
    model_provider multi_agent_version originator parent_thread_id runtime_workspace_roots
    session_id source thread_source timestamp
    """
)
_TOKEN_USAGE = Fields(
    "response_id root_turn_id session_id thread_id thread_token_usage turn_id turn_token_usage usage"
)
_TURN_CONTEXT = Fields(
    """
    approval_policy approvals_reviewer collaboration_mode comp_hash current_date cwd
    disabled_plugin_ids effort file_system_sandbox_policy model multi_agent_version
    permission_profile personality realtime_active root_turn_id sandbox_policy summary timezone
    truncation_policy turn_id user_instructions workspace_roots
    """
)
_PAYLOADS = {
    "compacted": _COMPACTED,
    "event_msg": _EVENT,
    "inter_agent_communication_metadata": Fields("trigger_turn"),
    "response_item": _RESPONSE,
    "session_meta": _SESSION_META,
    "token_usage_record": _TOKEN_USAGE,
    "turn_context": _TURN_CONTEXT,
    "world_state": Fields("full state"),
}


def _bare(type: str) -> Fields:
    """A record of the first rollouts: what later ones have as the payload of a `response_item`."""
    kind = _RESPONSE.kinds[type]
    return Fields(" ".join(("id", *kind.names)), inside=kind.inside)


KNOWN = Known(
    verified=(
        "0.40.0",
        "0.63.0",
        "0.80.0",
        "0.98.0",
        "0.104.0",
        "0.110.0",
        "0.118.0",
        "0.124.0",
        "0.130.0",
        "0.144.6",
        "0.150.1",
        "0.160.1",
        "0.171.0",
    ),
    version="payload.cli_version",
    texts=UnknownTexts,
    records=Fields(
        "metadata ordinal payload timestamp",
        by="type",
        kinds={
            **{type: Fields(inside={"payload": payload}) for type, payload in _PAYLOADS.items()},
            # The first rollouts: records without a payload, and a first line without a type.
            "": Fields("git id instructions record_type"),
            **{type: _bare(type) for type in _RESPONSE.kinds},
        },
    ),
)
