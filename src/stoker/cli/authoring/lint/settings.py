"""Settings of lint: the rules that run, their severities and options.

They are read from ``.stokerlint.yaml`` in the directory of a document and in those above it. The
settings of a nearer directory have precedence. ``root: true`` ends the search. Options of the
command have precedence over files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from stoker.cli.arguments.documents import read_file
from stoker.cli.authoring.lint.catalogue import all_rules
from stoker.cli.authoring.lint.rule import Group, Level, Rule
from stoker.cli.authoring.lint.validation_codes import VALIDATION_CODES
from stoker.cli.console.failures import InputError
from stoker.kernel.diagnostics import DiagnosticError, Severity, did_you_mean
from stoker.kernel.values import replace
from stoker.template.source.source import read

FILE_NAME = ".stokerlint.yaml"
_KEYS = ("level", "rules", "groups", "exclude", "overrides", "root")
_ON = frozenset(("on", "true"))
_OFF = frozenset(("off", "false"))


class Switch(Struct, frozen=True):
    """A setting of one rule or group."""

    is_on: bool = True
    severity: Severity | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


class Settings(Struct, frozen=True):
    """Settings for one document."""

    level: Level = Level.DEFAULT
    rules: Mapping[str, Switch] = field(default_factory=dict)
    groups: Mapping[str, Switch] = field(default_factory=dict)
    is_excluded: bool = False
    # Names of rules or groups from the command; only these, and not those.
    only: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()

    def severity_of(self, rule: Rule) -> Severity | None:
        """Return the severity of a rule's findings; None if the rule does not run."""
        names = {rule.name, str(rule.group)}
        if names & self.ignored or (self.only and not names & self.only):
            return None
        own, group = self.rules.get(rule.name), self.groups.get(str(rule.group))
        switch = own or group
        if switch is not None and not switch.is_on:
            return None
        if not self.level.includes(rule.level) and switch is None and not names & self.only:
            return None
        chosen = [each.severity for each in (own, group) if each is not None and each.severity]
        return chosen[0] if chosen else rule.severity

    def options_of(self, rule: Rule) -> dict[str, Any]:
        """Return the options of a rule that differ from its defaults."""
        own = self.rules.get(rule.name)
        return dict(own.options) if own is not None else {}


class _File(Struct, frozen=True):
    """A settings file, checked."""

    directory: Path
    data: Mapping[str, Any]


class SettingsFiles:
    """The settings files of many documents; each is read once."""

    def __init__(
        self,
        level: Level | None = None,
        only: Iterable[str] = (),
        ignored: Iterable[str] = (),
        config: Path | None = None,
    ) -> None:
        self._level = level
        self._only, self._ignored = frozenset(only), frozenset(ignored)
        self._files: dict[Path, _File | None] = {}
        self._config = None if config is None else _read(config)
        for name in (*self._only, *self._ignored):
            _check_name(name, "the command")

    def settings_of(self, document: Path | None) -> Settings:
        """Return the settings of a document; of the current directory for standard input."""
        place = Path.cwd() if document is None else document.absolute()
        found = Settings()
        for file in self._found(place.parent if document is not None else place):
            found = _merged(found, file, place)
        return replace(
            found,
            level=self._level or found.level,
            only=self._only,
            ignored=self._ignored,
        )

    def _found(self, directory: Path) -> list[_File]:
        """Return the files for a directory, the outermost first."""
        if self._config is not None:
            return [self._config]
        found: list[_File] = []
        for each in (directory, *directory.parents):
            if each not in self._files:
                path = each / FILE_NAME
                self._files[each] = _read(path) if path.is_file() else None
            file = self._files[each]
            if file is not None:
                found.append(file)
                if file.data.get("root") is True:
                    break
        return found[::-1]


def _merged(settings: Settings, file: _File, document: Path) -> Settings:
    """Return the settings with those of a file, and of its overrides for this document."""
    found = _with(settings, file.data)
    try:
        name = document.relative_to(file.directory).as_posix()
    except ValueError:
        name = document.name
    for override in file.data.get("overrides") or ():
        if _matches(name, override["files"]):
            found = _with(found, override)
    if _matches(name, file.data.get("exclude") or ()):
        found = replace(found, is_excluded=True)
    return found


def _matches(name: str, globs: Sequence[str]) -> bool:
    """Return whether a path matches a glob; ``**`` also matches no directory."""
    return any(
        fnmatch(name, glob) or fnmatch(name, glob.replace("**/", "")) or name.startswith(f"{glob}/")
        for glob in globs
    )


def _with(settings: Settings, data: Mapping[str, Any]) -> Settings:
    return replace(
        settings,
        level=Level(data["level"]) if "level" in data else settings.level,
        rules={**settings.rules, **_switches(data.get("rules"))},
        groups={**settings.groups, **_switches(data.get("groups"))},
    )


def _switches(section: Mapping[str, Any] | None) -> dict[str, Switch]:
    return {name: _switch(written) for name, written in (section or {}).items()}


def _switch(written: Any) -> Switch:
    """Return a switch: on, off, a severity, or a map with a severity and options."""
    if isinstance(written, Mapping):
        options = {name: value for name, value in written.items() if name != "severity"}
        return replace(_switch(written.get("severity", "on")), options=options)
    word = str(written).lower()
    if word in _ON:
        return Switch()
    return Switch(is_on=False) if word in _OFF else Switch(severity=Severity(word))


def _read(path: Path) -> _File:
    """Read and check a settings file. Raise :class:`InputError` for a wrong one."""
    try:
        data = read(read_file(path), str(path)).data
    except DiagnosticError as error:
        raise InputError(f"{path}: {error.first.message}") from None
    checked = {} if data is None else data
    if not isinstance(checked, Mapping):
        raise InputError(f"{path}: the settings must be a map, as level: strict")
    _check(checked, str(path), _KEYS)
    for override in checked.get("overrides") or ():
        if not isinstance(override, Mapping) or not _is_texts(override.get("files")):
            raise InputError(f'{path}: an override needs "files", a list of globs')
        _check(override, str(path), ("files", "level", "rules", "groups"))
    if not _is_texts(checked.get("exclude") or []):
        raise InputError(f'{path}: "exclude" must be a list of globs')
    return _File(path.absolute().parent, checked)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _check(data: Mapping[str, Any], file: str, keys: Sequence[str]) -> None:
    for key in data:
        if key not in keys:
            near = did_you_mean(str(key), keys) or f"known are {', '.join(keys)}"
            raise InputError(f'{file}: there is no setting "{key}"; {near}')
    level = data.get("level", Level.DEFAULT)
    if level not in list(Level):
        raise InputError(f'{file}: "level" must be one of {", ".join(Level)}')
    for section in ("rules", "groups"):
        content = data.get(section) or {}
        if not isinstance(content, Mapping):
            raise InputError(f'{file}: "{section}" must map names to on, off or a severity')
        for name, written in content.items():
            _check_name(str(name), file)
            _check_switch(str(name), written, file)


def _check_switch(name: str, written: Any, file: str) -> None:
    severity = written.get("severity", "on") if isinstance(written, Mapping) else written
    words = (*sorted(_ON), *sorted(_OFF), *Severity)
    if str(severity).lower() not in words:
        raise InputError(f'{file}: "{name}" must be one of on, off, {", ".join(Severity)}')
    options = set(written) - {"severity"} if isinstance(written, Mapping) else set()
    rule = all_rules().get(name)
    known = set(rule.options) if rule is not None else set()
    for option in sorted(options - known):
        near = did_you_mean(option, known) or f"it has {', '.join(sorted(known)) or 'none'}"
        raise InputError(f'{file}: "{name}" has no option "{option}"; {near}')
    for option in sorted(options):
        expected = rule.options[option] if rule is not None else None
        if not _is_alike(written[option], expected):
            kind = "a list" if isinstance(expected, tuple) else type(expected).__name__
            raise InputError(f'{file}: the option "{option}" of "{name}" must be {kind}')


def _is_alike(value: Any, default: Any) -> bool:
    if isinstance(default, tuple):
        return isinstance(value, list)
    return type(value) is type(default)


def _check_name(name: str, file: str) -> None:
    """Raise :class:`InputError` for a name that no rule and no group has."""
    names = (*all_rules(), *Group, *VALIDATION_CODES)
    if name not in names:
        near = did_you_mean(name, names) or "stoker lint --list-rules lists them"
        raise InputError(f'{file}: there is no rule or group "{name}"; {near}')
