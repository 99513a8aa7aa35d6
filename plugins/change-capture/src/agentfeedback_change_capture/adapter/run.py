"""One run of the hook, from the bytes of a payload to what was kept of it.

Nothing here prints. Warnings are returned; the hook shows them, and its status is 0 whatever happened.
"""

from __future__ import annotations

import os
import time

from agentfeedback.foundation.errors import AgentFeedbackError
from agentfeedback_change_capture.adapter import observed
from agentfeedback_change_capture.adapter import payload as read
from agentfeedback_change_capture.facts import METADATA_ONLY
from agentfeedback_change_capture.setup import bindings, connections, private_files

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agentfeedback_change_capture.delivery.hub import Hub
    from agentfeedback_change_capture.facts import Action, Call, Ending, Fact, Stream, Target
    from agentfeedback_change_capture.setup.bindings import Binding
    from agentfeedback_change_capture.setup.rules import Rule
    from agentfeedback_change_capture.spool.outcome import Claim, Outcome
    from agentfeedback_change_capture.spool.spool import Spool

#: Seconds for each step; none begins after the hook's own deadline.
RESOLVE_SECONDS = 2.0
LOCK_SECONDS = 3.0
DELIVERY_SECONDS = 5.0


class Run:
    """What one run of the hook knows; `deadline` is a time of `time.monotonic`, `now` Unix seconds."""

    __slots__ = ("answer", "deadline", "environ", "hub", "now", "root", "runner", "warnings")

    def __init__(
        self,
        root: str,
        runner: str,
        hub: Hub,
        deadline: float,
        environ: Mapping[str, str],
        now: int,
    ) -> None:
        self.root = root
        self.runner = runner
        self.hub = hub
        self.deadline = deadline
        self.environ = environ
        self.now = now
        #: What went wrong, as sentences without any text of the payload.
        self.warnings: list[str] = []
        #: What Claude Code is answered; empty for nothing.
        self.answer = ""

    def serve(self, data: bytes) -> None:
        """Retain what a payload says, as far as this checkout is set up for that."""
        try:
            payload = read.decode(data)
            event = observed.event_of(payload)
            session = payload.get("session_id")
        except read.Unreadable as error:
            payload, event, session = {}, error.event, error.session
            if event not in observed.KINDS:
                return
        if event is None:
            return
        binding = self._binding()
        if binding is None:
            return
        if not isinstance(session, str) or not read.is_session(session):
            self.warnings.append("the session id of a hook is malformed, so its event is not kept")
            return
        if not _belongs(binding, session, payload, self.environ):
            return
        _Event(self, binding, session, event, payload).serve()

    def _binding(self) -> Binding | None:
        """Return the enabled binding of this checkout while it is connected; None otherwise."""
        config = private_files.config_directory(self.environ)
        binding = bindings.of_root(bindings.load(config), self.root)
        if binding is None or not binding.enabled:
            return None
        connection = connections.current(connections.load(config), self.root)
        if connection is None:
            return None
        if connection.lineage != binding.lineage:
            self.warnings.append(
                "this checkout is connected to another repository or Hub than it was configured for,"
                " so nothing is kept"
            )
            return None
        return binding

    def by(self, seconds: float) -> float:
        """Return when a step of so many seconds has to end."""
        return min(time.monotonic() + seconds, self.deadline)


class _Event:
    """One observed event of a session in its checkout."""

    def __init__(
        self, run: Run, binding: Binding, session: str, event: str, payload: dict[str, Any]
    ) -> None:
        self.run = run
        self.binding = binding
        self.session = session
        self.event = event
        self.payload = payload
        self.fact: Fact = (
            observed.fact(event, payload, run.now) if payload else observed.unreadable(run.now)
        )
        self.call = self._call()
        self.tool_input: Any = payload.get("tool_input")

    def serve(self) -> None:
        """Look the occurrence up, resolve the target, select bodies, and append."""
        from agentfeedback_change_capture.facts import Namespace
        from agentfeedback_change_capture.spool.lookup import look_up
        from agentfeedback_change_capture.spool.spool import Spool

        run, binding = self.run, self.binding
        claim = look_up(binding.spool, self.session, self.call.tool_use_id) if self.call else None
        resolution = run.hub.resolve(self.session, binding.worktree_id, run.by(RESOLVE_SECONDS))
        target = resolution.target
        kept = target is not None or claim is not None
        if kept and self.payload and not self._is_retry(claim):
            self.fact.bodies = _bodies(self.event, self.payload, binding)
        if time.monotonic() >= run.deadline:
            run.warnings.append("there was no time left to keep an event")
            return
        namespace = Namespace(binding.hub, binding.repository, binding.worktree_id)
        with Spool.open(binding.spool, namespace, run.by(LOCK_SECONDS)) as spool:
            outcome = self._keep(spool, claim, target, resolution.cause)
            self._warn_of(outcome)
            self._close_starts(spool)
            if self.event == "SessionStart" and self.binding.recipes:
                self._guide()

    def _keep(
        self, spool: Spool, claim: Claim | None, target: Target | None, cause: str
    ) -> Outcome:
        if target is None and claim is not None:
            # A call belongs where its first hook found it, also while the Hub is away.
            target = claim.target
        if target is not None:
            stream = self._stream(target)
            if self.call is None:
                return spool.append(stream, self.fact)
            if self.event == "PreToolUse":
                recipe = self._managed()
                action = None if recipe is not None else self._action()
                return spool.start(stream, self.fact, self.call, action, recipe=recipe)
            return spool.finish(stream, self.fact, self.call, self._ending)
        return spool.defer(
            self.session,
            self.fact,
            cause,
            self.binding.capture_mode,
            call=self.call,
            recipe_digest=self._recipe_digest() if self._rule() is not None else None,
        )

    def _stream(self, target: Target) -> Stream:
        from agentfeedback_change_capture.facts import Stream

        return Stream(self.session, target, self.binding.capture_mode)

    def _call(self) -> Call | None:
        if self.event not in observed.TOOL_EVENTS:
            return None
        named = observed.tool_use(self.payload)
        if named is None:
            return None
        from agentfeedback_change_capture.facts import Call
        from agentfeedback_change_capture.identities import fingerprint

        return Call(*named, fingerprint(self.payload))

    def _is_retry(self, claim: Claim | None) -> bool:
        if claim is None or self.call is None:
            return False
        known = claim.pre if self.event == "PreToolUse" else claim.post
        return known == self.call.fingerprint

    def _rule(self) -> Rule | None:
        from agentfeedback_change_capture.setup import rules

        if self.call is None or self.event != "PreToolUse":
            return None
        configured = [rules.parse(text) for text in self.binding.action_rules]
        if not any(rule.tool == self.call.tool for rule in configured):
            return None
        return rules.rule_for(configured, self.call.tool, self._recipe_digest())

    def _recipe_digest(self) -> str:
        from agentfeedback_change_capture.identities import native_recipe_digest

        assert self.call is not None
        return native_recipe_digest(self.call.tool, self.tool_input)

    def _action(self) -> Action | None:
        rule = self._rule()
        if rule is None:
            return None
        from agentfeedback_change_capture.facts import Action

        return Action(rule.shown(), self._recipe_digest(), self.binding.setup_digest)

    def _managed(self) -> dict[str, str] | None:
        """Return id and digest of the recipe that this call runs; such a call starts its action itself."""
        if not self.binding.recipes:
            return None
        from agentfeedback_change_capture.adapter.managed import recipe_of
        from agentfeedback_change_capture.identities import recipe_digest

        recipe = recipe_of(self.payload, self.run.runner, self.binding.recipes)
        if recipe is None:
            return None
        return {"id": recipe["id"], "digest": recipe_digest(dict(recipe))}

    def _ending(self, rule: dict[str, str]) -> Ending:
        from agentfeedback_change_capture.facts import Ending
        from agentfeedback_change_capture.setup.rules import result

        execution, verification, code = result(rule, self.event, self.payload)
        return Ending(
            execution,
            verification,
            self.binding.setup_digest,
            recipe_digest=self._recipe_digest(),
            exit_code=code,
        )

    def _warn_of(self, outcome: Outcome) -> None:
        said = {
            "conflict": "a hook repeated a call with other facts; the first ones are kept",
            "paused": "the spool is full, so capture pauses; compact it or raise its limits",
            "dropped": "the spool is full, so an event was not kept; compact it or raise its limits",
        }.get(outcome.kind)
        if said is not None:
            self.run.warnings.append(said)

    def _close_starts(self, spool: Spool) -> None:
        """Finish what a turn has ended without: its calls get no hook of their own."""
        if self.event == "Stop":
            agent: str | None = None
        elif self.event == "SubagentStop":
            agent = read.agent_id(self.payload)
        elif self.event in ("SessionEnd", "SessionStart"):
            agent = ""
        else:
            return
        spool.close_starts(self.session, self.run.now, agent_id=agent)

    def _guide(self) -> None:
        import json

        from agentfeedback_change_capture.adapter.managed import guidance

        text = guidance(self.run.runner, self.binding.recipes)
        if text:
            answer = {"hookEventName": "SessionStart", "additionalContext": text}
            self.run.answer = json.dumps({"hookSpecificOutput": answer}, ensure_ascii=False)


def _bodies(event: str, payload: dict[str, Any], binding: Binding) -> list[Any]:
    if binding.capture_mode == METADATA_ONLY:
        return []
    from agentfeedback_change_capture.adapter.bodies import select

    return list(select(event, payload, binding.capture_mode))


def _belongs(
    binding: Binding, session: str, payload: dict[str, Any], environ: Mapping[str, str]
) -> bool:
    """Whether a session is one of this checkout; one that something is retained of is not asked again."""
    from agentfeedback.foundation.git.root import repository_root
    from agentfeedback_change_capture.identities import session_file

    if os.path.lexists(os.path.join(binding.spool, "sessions", f"{session_file(session)}.json")):
        return True
    where = environ.get("CLAUDE_PROJECT_DIR", "")
    if not os.path.isabs(where):
        given = payload.get("cwd")
        where = given if isinstance(given, str) else ""
    if not os.path.isabs(where) or "\0" in where:
        return False
    return repository_root(os.path.realpath(where)) == binding.root


def message_of(error: BaseException) -> str:
    """Return an error as a warning may show it: ours as it is, of any other the kind and number alone."""
    if isinstance(error, AgentFeedbackError):
        return str(error)
    number = getattr(error, "errno", None)
    kind = type(error).__name__
    return f"{kind} {number}" if isinstance(number, int) else kind
