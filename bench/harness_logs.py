"""Made sessions of each harness, in the records its reader must understand to count them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from session_maker import SessionMaker

_REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected, "
    "and nothing was written. Wait for the user to say how to go on."
)


class ClaudeCode(SessionMaker):
    harness = "claude-code"
    _parent: str | None = None

    def path(self) -> str:
        return f".claude/projects/{re.sub('[^A-Za-z0-9]', '-', self.cwd)}/{self.id}.jsonl"

    def opening(self) -> None:
        self.add({"type": "permission-mode", "permissionMode": "default", "sessionId": self.id})

    def turn(self, goes_on: Callable[[], bool]) -> None:
        self._line("user", message={"role": "user", "content": self.text.typed()})
        self.truth.prompts += 1
        snapshot: dict[str, Any] = {"messageId": self._parent, "trackedFileBackups": {}}
        self.add({"type": "file-history-snapshot", "snapshot": snapshot, "isSnapshotUpdate": False})
        chance = self.text.random
        for _ in self.rounds(12):
            if not goes_on():
                break
            id = "msg_01" + self.text.hex(22)
            if chance.random() < 0.35:
                thinking = self.text.text(600, 1.0, 12_000)
                block = {"type": "thinking", "thinking": thinking}
                self._assistant(id, {**block, "signature": self.text.opaque(150, 0.7)})
            if chance.random() < 0.35:
                self._assistant(id, {"type": "text", "text": self.text.text(240, 1.0, 12_000)})
            self._tool(id)
        if self.is_interrupted():
            content = [{"type": "text", "text": "[Request interrupted by user]"}]
            self._line("user", message={"role": "user", "content": content})
        self._line("system", subtype="turn_duration", durationMs=chance.randrange(900_000))

    def _line(self, kind: str, **members: Any) -> None:
        uuid = self.text.uuid()
        envelope = {
            "parentUuid": self._parent, "isSidechain": False, "userType": "external",
            "cwd": self.cwd, "sessionId": self.id, "version": "2.1.34", "gitBranch": "main",
            "slug": "quiet-forging-lamport", "type": kind,
        }  # fmt: skip
        self._parent = uuid
        self.add({**envelope, **members, "uuid": uuid, "timestamp": self.text.time()})

    def _assistant(self, id: str, block: dict[str, Any]) -> None:
        number = self.text.random.randrange
        usage = {
            "input_tokens": number(1, 9), "cache_creation_input_tokens": number(9000),
            "cache_read_input_tokens": number(180_000), "output_tokens": number(1, 4000),
            "cache_creation": {"ephemeral_5m_input_tokens": 0}, "service_tier": "standard",
        }  # fmt: skip
        message: dict[str, Any] = {
            "model": "claude-opus-4-6",
            "id": id,
            "type": "message",
            "role": "assistant",
        }
        message |= {"content": [block], "stop_reason": None, "usage": usage}
        self._line("assistant", message=message, requestId="req_011C" + self.text.hex(20))

    def _tool(self, message: str) -> None:
        text, chance = self.text, self.text.random
        file = f"{self.cwd}/src/{text.word()}.py"
        tool = chance.choices(["Bash", "Read", "Edit", "Write", "Grep"], [47, 22, 16, 5, 10])[0]
        input: dict[str, Any] = {"file_path": file}
        if tool == "Bash":
            input = {"command": text.text(90, 1.0, 6000), "description": text.text(40, 0.3, 90)}
        elif tool == "Edit":
            input["old_string"] = text.text(300, 1.0, 9000)
            input["new_string"] = text.text(500, 1.1, 14_000)
        elif tool == "Write":
            input["content"] = text.text(3000, 1.0, 90_000)
        id = "toolu_01" + text.hex(22)
        self._assistant(message, {"type": "tool_use", "id": id, "name": tool, "input": input})
        self.truth.tool_calls += 1
        if tool == "Bash" and chance.random() < 0.25:
            for _ in range(chance.randrange(1, 4)):
                output = text.text(300, 0.9, 6000)
                progress = {"type": "bash_progress", "output": output[:200], "fullOutput": output}
                self._line("progress", data=progress, parentToolUseID=id)
        self.answer(id, tool, input, text.result())

    def answer(self, id: str, tool: str, input: dict[str, Any], text: str) -> None:
        """Add the result of a call. Claude Code records it twice: for the model, and for itself."""
        how = self.drawn_outcome()
        block: dict[str, Any] = {"tool_use_id": id, "type": "tool_result", "content": text}
        outcome: Any = {"mode": "content", "numFiles": 0, "content": text, "numLines": 40}
        if how == "denied":
            block |= {"content": _REFUSED, "is_error": True}
            outcome = "User rejected tool use"
        elif how == "error":
            block |= {"content": f"Exit code 1\n{text}", "is_error": True}
            outcome = f"Error: {text}"
        elif tool == "Bash":
            block["is_error"] = False
            outcome = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        elif tool == "Edit":
            block["content"] = f"The file {input['file_path']} has been updated."
            patch = {"lines": self.text.text(700, 0.8, 9000).split("\n"), "oldStart": 3}
            outcome = {**input, "originalFile": self.text.text(9000, 0.8, 90_000), "patch": [patch]}
        elif self.text.random.random() < 0.0006:
            source = {"type": "base64", "media_type": "image/png", "data": self.text.image()}
            block["content"] = [{"type": "image", "source": source}]
            outcome = {"type": "image", "file": {"base64": "", "type": "image/png"}}
        message = {"role": "user", "content": [block]}
        self._line("user", message=message, toolUseResult=outcome)


class Codex(SessionMaker):
    harness = "codex"

    def path(self) -> str:
        date = self.started[:10].replace("-", "/")
        name = f"rollout-{self.started[:19].replace(':', '-')}-{self.id}.jsonl"
        return f".codex/sessions/{date}/{name}"

    def opening(self) -> None:
        instructions = {"text": self.text.exactly(15_000)}
        meta = {"id": self.id, "timestamp": self.started, "cwd": self.cwd, "source": "cli"}
        meta |= {"cli_version": "0.98.0", "originator": "codex_cli_rs"}
        self._line("session_meta", {**meta, "base_instructions": instructions})

    def turn(self, goes_on: Callable[[], bool]) -> None:
        turn, prompt = self.text.uuid(), self.text.typed()
        self._event("task_started", turn_id=turn, model_context_window=258_400)
        context = {"turn_id": turn, "cwd": self.cwd, "approval_policy": "on-request"}
        context |= {"model": "gpt-5.3-codex", "user_instructions": self.text.text(1500, 0.2, 3000)}
        self._line("turn_context", context)
        self._item("message", role="user", content=[{"type": "input_text", "text": prompt}])
        self._event("user_message", message=prompt, images=[], text_elements=[])
        self.truth.prompts += 1
        for _ in self.rounds(14):
            if not goes_on():
                break
            if self.text.random.random() < 0.6:
                summary = [{"type": "summary_text", "text": self.text.text(90, 0.5, 900)}]
                hidden = self.text.opaque(300, 0.6)
                self._item("reasoning", summary=summary, content=None, encrypted_content=hidden)
            if self.text.random.random() < 0.3:
                said = self.text.text(240, 1.0, 9000)
                self._event("agent_message", message=said, phase="commentary")
                content = [{"type": "output_text", "text": said}]
                self._item("message", role="assistant", content=content, phase="commentary")
            self._tool()
        if self.is_interrupted():
            self._event("turn_aborted", turn_id=turn, reason="interrupted")
        else:
            last = self.text.text(300, 0.8, 4000)
            self._event("task_complete", turn_id=turn, last_agent_message=last)

    def _line(self, kind: str, payload: dict[str, Any]) -> None:
        self.add({"timestamp": self.text.time(), "type": kind, "payload": payload})

    def _item(self, kind: str, **members: Any) -> None:
        self._line("response_item", {"type": kind, **members})

    def _event(self, kind: str, **members: Any) -> None:
        self._line("event_msg", {"type": kind, **members})

    def _tool(self) -> None:
        id, number = "call_" + self.text.hex(24), self.text.random.randrange
        arguments = {"cmd": self.text.text(100, 1.1, 8000), "workdir": self.cwd}
        given = json.dumps(arguments)
        self._item("function_call", name="exec_command", call_id=id, arguments=given)
        self.truth.tool_calls += 1
        how = self.drawn_outcome()
        if how == "denied":
            output = "exec command rejected by user"
        else:
            code = 1 if how == "error" else 0
            header = f"Chunk ID: {self.text.hex(6)}\nProcess exited with code {code}\n"
            output = f"{header}Original token count: {number(9000)}\nOutput:\n{self.text.result()}"
        self._item("function_call_output", call_id=id, output=output)
        total = {"input_tokens": number(10**6), "output_tokens": number(10**4)}
        info = {"total_token_usage": total, "last_token_usage": total}
        limit = {"used_percent": 3.0, "window_minutes": 300, "resets_at": 1_790_000_000}
        limits = {"primary": limit, "secondary": limit}
        self._event("token_count", info=info, rate_limits=limits)


class GeminiCli(SessionMaker):
    """A message is written when it begins and again with its tool calls, under one id."""

    harness = "gemini-cli"

    def _project(self) -> str:
        return f".gemini/tmp/{self.cwd.rpartition('/')[2]}"

    def path(self) -> str:
        name = f"session-{self.started[:16].replace(':', '-')}-{self.id[:8]}.jsonl"
        return f"{self._project()}/chats/{name}"

    def beside(self) -> dict[str, bytes]:
        return {f"{self._project()}/.project_root": self.cwd.encode()}

    def opening(self) -> None:
        meta = {"sessionId": self.id, "projectHash": self.text.hex(64), "kind": "main"}
        self.add({**meta, "startTime": self.started, "lastUpdated": self.started}, entry=False)

    def turn(self, goes_on: Callable[[], bool]) -> None:
        content = [{"text": self.text.typed()}]
        self.add({"id": self.text.uuid(), "timestamp": self.text.time(), "type": "user", "content": content})  # fmt: skip
        self.truth.prompts += 1
        for _ in self.rounds(10):
            if not goes_on():
                break
            self._tool()

    def _updated(self) -> None:
        self.add({"$set": {"lastUpdated": self.text.time()}}, entry=False)

    def _tool(self) -> None:
        text = self.text
        thought = {"subject": text.text(30, 0.3, 80), "description": text.text(250, 0.6, 2000)}
        tokens = {"input": text.random.randrange(10**5), "output": text.random.randrange(4000)}
        message = {
            "id": text.uuid(), "timestamp": text.time(), "type": "gemini",
            "content": text.text(200, 0.9, 8000), "thoughts": [thought], "tokens": tokens,
            "model": "gemini-3-pro-preview",
        }  # fmt: skip
        self.add(message)
        self._updated()
        how, shown = self.drawn_outcome(), text.result()
        output = f"Output: {shown}"
        if how == "denied":
            output = "[Operation Cancelled] Reason: User denied execution."
        elif how == "error":
            output += "\nExit Code: 1"
        id = "run_shell_command_" + text.hex(12)
        response = {"id": id, "name": "run_shell_command", "response": {"output": output}}
        call = {
            "id": id, "name": "run_shell_command", "args": {"command": text.text(100, 1.0, 5000)},
            "result": [{"functionResponse": response}],
            "status": "cancelled" if how == "denied" else "success",
            "timestamp": text.time(), "resultDisplay": shown[:20_000],
        }  # fmt: skip
        self.add({**message, "toolCalls": [call]}, entry=False)
        self.truth.tool_calls += 1
        self._updated()


class Copilot(SessionMaker):
    harness = "copilot"

    def _folder(self) -> str:
        return f".copilot/session-state/{self.id}"

    def path(self) -> str:
        return f"{self._folder()}/events.jsonl"

    def beside(self) -> dict[str, bytes]:
        return {f"{self._folder()}/workspace.yaml": f"id: {self.id}\ncwd: {self.cwd}\n".encode()}

    def opening(self) -> None:
        context = {"cwd": self.cwd, "branch": "main"}
        self._event("session.start", sessionId=self.id, selectedModel="gpt-5", context=context)

    def turn(self, goes_on: Callable[[], bool]) -> None:
        prompt = self.text.typed()
        self._event("user.message", content=prompt, transformedContent=prompt, source="user")
        self.truth.prompts += 1
        for _ in self.rounds(10):
            if not goes_on():
                break
            self._event("assistant.turn_start", turnId="0")
            self._tool()
            self._event("assistant.turn_end", turnId="0")
        if self.is_interrupted():
            self._event("abort", reason="user initiated")

    def _event(self, kind: str, **data: Any) -> None:
        self.add({"type": kind, "data": data, "id": self.text.uuid(), "timestamp": self.text.time(), "parentId": None})  # fmt: skip

    def _tool(self) -> None:
        id = "call_" + self.text.hex(24)
        arguments = {"command": self.text.text(100, 1.0, 5000), "description": "run"}
        request = {"toolCallId": id, "name": "bash", "arguments": arguments}
        said = self.text.text(200, 0.9, 8000)
        self._event("assistant.message", content=said, toolRequests=[request])
        self._event("tool.execution_start", toolCallId=id, toolName="bash", arguments=arguments)
        self.truth.tool_calls += 1
        how = self.drawn_outcome()
        if how == "denied":
            error = {"message": "The user rejected this tool call.", "code": "rejected"}
            self._event("tool.execution_complete", toolCallId=id, success=False, error=error)
            return
        text = self.text.result()
        code = 1 if how == "error" else 0
        shown = f"{text}\n<shellId: 0 completed with exit code {code}>"
        result = {"content": shown, "detailedContent": text}
        self._event("tool.execution_complete", toolCallId=id, success=True, result=result)


HARNESSES: dict[str, type[SessionMaker]] = {
    kind.harness: kind for kind in (ClaudeCode, Codex, GeminiCli, Copilot)
}
