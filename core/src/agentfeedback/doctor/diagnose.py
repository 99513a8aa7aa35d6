"""What keeps agentfeedback from working on this machine, each problem with its remedy.

Works when everything else is broken: what cannot be read is a problem of its own and leaves the
rest of the report standing. Nothing is changed, and a session's log is opened for `formats` alone.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, evolve, field

from agentfeedback import __version__
from agentfeedback.config.file import read
from agentfeedback.config.paths import Paths
from agentfeedback.config.resolve import VARIABLES, resolve
from agentfeedback.config.shape import Collect, Config
from agentfeedback.doctor.database_check import database_problem
from agentfeedback.foundation.errors import AgentFeedbackError, ConfigError
from agentfeedback.foundation.urls import shown_url
from agentfeedback.plugins.discovery import BLOCK_VARIABLE, Plugin
from agentfeedback.plugins.doctor_section import DoctorContext, DoctorSection
from agentfeedback.plugins.harnesses import HARNESSES, dist_of
from agentfeedback.plugins.host import Host
from agentfeedback.policy.gate import CollectGate
from agentfeedback.policy.user_file import near_misses, unknown_keys
from agentfeedback.sessions import facts_cache
from agentfeedback.sessions.engine import Engine
from agentfeedback.sessions.find import FoundStore
from agentfeedback.sessions.listing import shown_store
from agentfeedback.wire import records
from agentfeedback.wire.doctor import (
    CacheFolder,
    ConfigFile,
    DatabaseFile,
    Doctor,
    HarnessHealth,
    Versions,
    Warnings,
)
from agentfeedback.wire.encode import plain

#: What counts while it is not known which sessions may be read.
_NOTHING_READ = Config(collect=Collect(disabled=True))


@define(eq=False)
class DoctorReport:
    """The record that is printed, and the sections of plugins."""

    doctor: Doctor
    sections: list[DoctorSection] = field(factory=list)

    def plain(self) -> dict[str, Any]:
        """The JSON object that is printed."""
        members: dict[str, Any] = plain(self.doctor)
        return members | {section.name: plain(section.value) for section in self.sections}


def diagnose(
    environ: Mapping[str, str],
    *,
    home: str | None = None,
    formats: bool = False,
    directory: str | None = None,
    progress: Callable[[str, int], Any] | None = None,
) -> DoctorReport:
    """Examine this machine.

    `directory` is where the command runs: its repository's file is checked. Never raises for what it finds.
    """
    return _Diagnosis(environ, home, directory, progress).report(formats=formats)


class _Diagnosis:
    def __init__(
        self,
        environ: Mapping[str, str],
        home: str | None,
        directory: str | None,
        progress: Callable[[str, int], Any] | None,
    ) -> None:
        self._environ = environ
        self._home = home
        self._directory = directory
        self._progress = progress
        self._loaded = False
        self._doctor = Doctor("ok", [], Versions(__version__))

    def report(self, *, formats: bool) -> DoctorReport:
        doctor = self._doctor
        report = DoctorReport(doctor)
        try:
            paths = Paths.of(self._environ, self._home)
        except AgentFeedbackError as error:
            self._problem(error.problem, error.remedy)
        else:
            config, tables = self._configuration(paths)
            self._connection(config, readable=tables is not None)
            self._database(paths)
            doctor.cache = CacheFolder(*facts_cache.kept(paths.cache))
            engine = self._engine(config)
            stores = self._stores(engine)
            if formats:
                doctor.formats = engine.drift(stores)
            context = DoctorContext(
                paths, self._environ, tables or {}, doctor.mode, doctor.url, doctor.api_key
            )
            report.sections = self._sections(engine.host, context)
        doctor.status = "error" if doctor.problems else "ok"
        return report

    def _problem(self, problem: str, remedy: str) -> None:
        self._doctor.problems.append(f"{problem}; {remedy}" if remedy else problem)

    # -- the program's own files ---------------------------------------------------------------

    def _configuration(self, paths: Paths) -> tuple[Config, dict[str, Any] | None]:
        """The configuration and its tables; one that cannot be read has no tables and refuses every session."""
        path = paths.config_file
        mode = _mode(path)
        shown = self._doctor.config = ConfigFile(
            path, os.path.lexists(path), f"{mode:04o}" if mode is not None else ""
        )
        try:
            file = read(path)
        except ConfigError as error:
            self._problem(error.problem, error.remedy)
            return _NOTHING_READ, None
        config, tables = file.config, dict(file.tables)
        for each in (path, os.path.dirname(path)):
            self._open_to_writers(each)
        if mode is not None and mode & 0o077 and tables.get("api_key"):
            self._problem(
                f"config file {path} holds a key and can be read by others (mode {mode:04o})",
                f"run chmod 600 {path}",
            )
        shown.warnings = _scrubbed(unknown_keys(tables))
        warnings = []
        for rules in CollectGate(config, paths.homes).in_force(self._directory or ""):
            warnings += [f"{rules.file}: {warning}" for warning in rules.warnings]
            if rules.problem:
                self._problem(
                    f"{rules.file} cannot be followed, so no session of its repository is read: {_scrubbed([rules.problem])[0]}",
                    "correct the file",
                )
        self._doctor.collect = Warnings(_scrubbed(warnings))
        missed = near_misses(tables, paths.homes)
        for miss in missed:
            self._problem(
                f"config file {path} is not valid: {miss}",
                "correct the file; no session is read until then",
            )
        return (evolve(config, collect=_NOTHING_READ.collect) if missed else config), tables

    def _connection(self, config: Config, *, readable: bool) -> None:
        doctor = self._doctor
        url = resolve("url", config, self._environ)
        key = resolve("api_key", config, self._environ)
        doctor.url.value, doctor.url.source = shown_url(url.value), url.source
        doctor.api_key.set, doctor.api_key.source = bool(key.value), key.source
        if url.value:
            doctor.mode = "remote"
            if readable and not key.value:
                self._problem(
                    "a server is configured and no key",
                    f"set {VARIABLES['api_key']}, or api_key in {doctor.config.path}",
                )

    def _database(self, paths: Paths) -> None:
        path = paths.database
        shown = self._doctor.database = DatabaseFile(path, os.path.lexists(path))
        if (error := database_problem(path)) is not None:
            self._problem(error.problem, error.remedy)
        for file in (path, f"{path}-wal", f"{path}-shm"):
            mode = _mode(file)
            if mode is not None and mode & 0o077:
                shown.loose = True
                self._problem(
                    f"{file} is open to others (mode {mode:04o})", f"run chmod 600 {file}"
                )
        if self._open_to_writers(os.path.dirname(path)):
            shown.loose = True

    def _open_to_writers(self, path: str) -> bool:
        """Whether anyone may write here: then it is a problem. Groups are left alone, most hold one user."""
        mode = _mode(path)
        if mode is None or not mode & 0o002:
            return False
        self._problem(f"{path} can be written by anyone (mode {mode:04o})", f"run chmod o-w {path}")
        return True

    # -- plugins and stores --------------------------------------------------------------------

    def _engine(self, config: Config) -> Engine:
        engine = Engine(
            self._environ,
            home=self._home,
            host=Host(self._environ, self._hear),
            progress=self._progress,
            config=config,
        )
        doctor = self._doctor
        for plugin in engine.host.load_all():
            doctor.plugins.append(
                records.InstalledPlugin(
                    plugin.name,
                    plugin.kind,
                    plugin.dist,
                    plugin.version,
                    plugin.hooks,
                    plugin.error,
                )
            )
            self._plugin(plugin)
        self._loaded = True
        readers = {plugin.name for plugin in doctor.plugins if plugin.kind == "reader"}
        doctor.missing = [name for name in HARNESSES if name not in readers]
        doctor.config.warnings += engine.host.unknown_blocked_names
        for sentence in engine.host.unreadable_dists:
            self._problem(sentence, "check its permissions, or install it again")
        if not readers:
            from agentfeedback.plugins.install_hint import pip_install

            self._problem(
                "no session reader is installed", f"run {pip_install(dist_of('claude-code'))} first"
            )
        return engine

    def _hear(self, sentence: str) -> None:
        # While plugins are loaded each failure is kept with its plugin, and reported by `_plugin`.
        if self._loaded:
            self._problem(sentence, "update or uninstall it")

    def _plugin(self, plugin: Plugin) -> None:
        if not plugin.error:
            return
        blocked = plugin.error.startswith("blocked")
        if plugin.kind == "gate":
            what = f"gate {plugin.name} of {plugin.dist} is missing, so every session is refused"
            remedy = (
                f"take it out of {BLOCK_VARIABLE}"
                if blocked
                else f"update or uninstall {plugin.dist}"
            )
            self._problem(f"{what}: {plugin.error}", remedy)
        elif not blocked:
            self._problem(
                f"{plugin.kind} {plugin.name} of {plugin.dist} cannot be used: {plugin.error}",
                f"update or uninstall {plugin.dist}, or leave it out with {BLOCK_VARIABLE}={plugin.name}",
            )

    def _stores(self, engine: Engine) -> list[FoundStore]:
        stores = engine.stores(engine.host.harnesses())
        for store in stores:
            report = store.report
            view = shown_store(report, engine.scrubber.text)
            reason = engine.scrubber.text(report.reason) if report.state != "absent" else ""
            self._doctor.harnesses.append(
                HarnessHealth(
                    view.harness,
                    view.location,
                    view.state,
                    reason,
                    len(store.sessions),
                    view.problems,
                )
            )
            if report.reason.startswith(f"reader {view.harness} failed"):
                continue  # `_hear` reported it
            if report.state == "unreadable":
                self._problem(
                    f"the {view.harness} session store {view.location} is unreadable: {reason}",
                    "check its permissions",
                )
            elif report.state == "unsupported-format":
                self._problem(
                    f"the {view.harness} session store {view.location} has a format that is not supported: {reason}",
                    f"update {dist_of(view.harness)}",
                )
        return stores

    def _sections(self, host: Host, context: DoctorContext) -> list[DoctorSection]:
        sections: list[DoctorSection] = []
        for section in host.doctor_sections(context):
            if section.name in [other.name for other in sections]:
                self._problem(f"two plugins have a section {section.name}", "uninstall one of them")
                continue
            sections.append(section)
            for problem, remedy in section.problems:
                self._problem(problem, remedy)
        return sections


def _scrubbed(sentences: list[str]) -> list[str]:
    """Sentences that quote a configuration, which may hold a secret in the wrong place."""
    if not sentences:
        return []
    from agentfeedback.scrub import SUBMIT, Scrubber

    scrubber: Scrubber = Scrubber(SUBMIT)
    return [scrubber.text(sentence) for sentence in sentences]


def _mode(path: str) -> int | None:
    """The permission bits of what is at a path, links followed; None when there is nothing to be seen."""
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return None
