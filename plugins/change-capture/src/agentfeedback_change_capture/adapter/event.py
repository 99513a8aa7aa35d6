"""One observed event of a session in its checkout: looked up, resolved, and appended to the spool."""

from __future__ import annotations

import os
import time

from agentfeedback_change_capture.adapter import observed
from agentfeedback_change_capture.adapter import payload as read
from agentfeedback_change_capture.facts import METADATA_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agentfeedback.foundation.lock import FileLock
    from agentfeedback_change_capture.adapter.run import Run
    from agentfeedback_change_capture.facts import Action, Call, Ending, Fact, Stream, Target
    from agentfeedback_change_capture.setup.bindings import Binding
    from agentfeedback_change_capture.setup.rules import Rule
    from agentfeedback_change_capture.spool.outcome import Claim, Outcome
    from agentfeedback_change_capture.spool.spool import Spool

#: Seconds for the answer of a Hub, and for the lock of a spool.
RESOLVE_SECONDS = 2.0
LOCK_SECONDS = 3.0


class ObservedEvent:
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
        recipe = self._managed()
        # A session begins with a look at every claim; later hooks look at the newest.
        thorough = self.event == "SessionStart"
        with (
            self._managed_lock(recipe),
            Spool.open(binding.spool, namespace, run.by(LOCK_SECONDS), thorough=thorough) as spool,
        ):
            outcome = self._keep(spool, claim, target, resolution.cause, recipe)
            self._warn_of(outcome)
            self._close_starts(spool)
            if self.event == "SessionStart" and self.binding.recipes:
                self._guide()

    def _managed_lock(self, recipe: dict[str, str] | None) -> FileLock | _NoLock:
        """Return the lock under which calls of recipes are resolved; it comes before the spool's."""
        if recipe is None:
            return _NoLock()
        from agentfeedback.foundation.lock import FileLock

        path = os.path.join(self.binding.spool, "managed.lock")
        return FileLock(path, self.run.by(LOCK_SECONDS), create=False)

    def _keep(
        self,
        spool: Spool,
        claim: Claim | None,
        target: Target | None,
        cause: str,
        recipe: dict[str, str] | None,
    ) -> Outcome:
        if target is None and claim is not None:
            # A call belongs where its first hook found it, also while the Hub is away.
            target = claim.target
        if target is not None:
            stream = self._stream(target)
            if self.call is None:
                return spool.append(stream, self.fact)
            if self.event == "PreToolUse":
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
        if not self.binding.recipes or self.call is None:
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
            if agent is None:  # unreadable: it does not say whose end it is
                return
        elif self.event in ("SessionEnd", "SessionStart"):
            agent = ""
        else:
            return
        spool.close_starts(self.session, self.run.now, agent_id=agent)

    def _guide(self) -> None:
        import json

        from agentfeedback_change_capture.adapter import managed

        text = managed.guidance(self.run.runner, self.binding.recipes) if managed.RUNNER else ""
        if text:
            answer = {"hookEventName": "SessionStart", "additionalContext": text}
            self.run.answer = json.dumps({"hookSpecificOutput": answer}, ensure_ascii=False)


class _NoLock:
    """Stands for a lock where none is needed."""

    def __enter__(self) -> None:
        return

    def __exit__(self, *error: object) -> None:
        return


def _bodies(event: str, payload: dict[str, Any], binding: Binding) -> list[Any]:
    if binding.capture_mode == METADATA_ONLY:
        return []
    from agentfeedback_change_capture.adapter.bodies import select

    return list(select(event, payload, binding.capture_mode))
