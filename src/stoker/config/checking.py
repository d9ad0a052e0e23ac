"""Faults of configuration files, and options without effect, by file and line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from oslo_config import cfg

from stoker.config.ignored import ELSEWHERE, IGNORED, IGNORED_GROUPS, OF_THE_BUS
from stoker.config.options import GROUPS

if TYPE_CHECKING:
    from oslo_config.cfg import ConfigOpts

_SECTION = re.compile(r"\[(?P<name>[^]]+)\]")
_OPTION = re.compile(r"(?P<name>[^\s#;=:\[][^=:]*?)\s*[=:](?P<value>.*)")
_NEAR = 0.75


class Kind(StrEnum):
    """The severity of a finding."""

    WRONG = "error"
    UNKNOWN = "unknown"
    NO_EFFECT = "no effect"
    OLD_NAME = "old name"


class Setting(Struct, frozen=True):
    """A line of a file that sets an option."""

    file: Path
    line: int
    group: str
    name: str
    value: str


class Finding(Struct, frozen=True):
    """A finding about an option, or about a file."""

    kind: Kind
    file: Path
    line: int
    option: str  # as ``[group] name``
    message: str  # the fault and the remedy, or why the option has no effect

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else str(self.file)
        words = [place, self.kind, *([self.option] if self.option else []), self.message]
        return ": ".join(words)


def settings_in(files: Iterable[Path]) -> Iterator[Setting]:
    """The settings of files. Raises OSError, and UnicodeDecodeError."""
    for file in files:
        group = "DEFAULT"
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if section := _SECTION.match(line):
                group = section["name"]
            elif option := _OPTION.match(line):
                yield Setting(file, number, group, option["name"], option["value"].strip())


def remarks(files: Iterable[Path]) -> list[Finding]:
    """Settings that have no effect, are unknown, or have an old name."""
    found = (_remark(setting) for setting in settings_in(files))
    return [finding for finding in found if finding is not None]


def check(files: Iterable[Path], conf: ConfigOpts) -> list[Finding]:
    """All that can be said of files that ``conf`` has read: :func:`remarks`, and wrong values."""
    known = list(files)
    wrong = (_wrong_value(setting, conf) for setting in settings_in(known))
    return [*(finding for finding in wrong if finding is not None), *remarks(known)]


def said_of(message: str, files: Sequence[Path]) -> Finding:
    """Return a finding for a message on several files, at its first option."""
    at = [s for s in settings_in(files) if message.startswith(f"[{s.group}] {s.name} ")]
    if not at:
        return Finding(Kind.WRONG, files[-1], 0, "", message)
    said = message.removeprefix(f"[{at[-1].group}] {at[-1].name} ")
    return _finding(Kind.WRONG, at[-1], said)


# Types of authentication for which a file has user and password.
_PASSWORDS = ("password", "v3password")


def _remark(setting: Setting) -> Finding | None:
    group, name = setting.group, setting.name
    reason = IGNORED_GROUPS.get(group) or IGNORED.get(group, {}).get(name)
    if name == "auth_type" and setting.value in _PASSWORDS:
        return None
    if reason is not None:
        return _finding(Kind.NO_EFFECT, setting, reason)
    place = _option_at(group, name)
    if place is not None:
        new_group, option = place
        if (new_group, option.dest) == (group, name):
            return None
        return _finding(Kind.OLD_NAME, setting, f"its name is [{new_group}] {option.dest} by now")
    if name in ELSEWHERE.get(group, ()) or group in OF_THE_BUS:
        return None
    return _finding(Kind.UNKNOWN, setting, _advice(group, name))


def _option_at(group: str, name: str) -> tuple[str, Any] | None:
    """The group and the option that a name of a file stands for."""
    options = {option.dest: option for option in GROUPS.get(group, ())}
    return (group, options[name]) if name in options else _OLD_NAMES.get((group, name))


def _old_names() -> Iterator[tuple[tuple[str, str], tuple[str, Any]]]:
    for group, options in GROUPS.items():
        for option in options:
            for old in option.deprecated_opts:
                yield (old.group or group, old.name or option.dest), (group, option)


# If several options have one old name, the first of them takes its value.
_OLD_NAMES: Mapping[tuple[str, str], tuple[str, Any]] = dict(reversed(list(_old_names())))


def _advice(group: str, name: str) -> str:
    names = _names_in(group)
    if not names:
        near = get_close_matches(group, _all_groups(), 1, _NEAR)
        meant = f'; did you mean the section "[{near[0]}]"?' if near else "; remove it"
        return f"there is no such section{meant}"
    with_effect = [option.dest for option in GROUPS.get(group, ())]
    near = get_close_matches(name, with_effect, 1, _NEAR) or get_close_matches(
        name, names, 1, _NEAR
    )
    if near:
        return f'there is no such option; did you mean "{near[0]}"?'
    elsewhere = sorted(other for other in _all_groups() if name in _names_in(other))
    if elsewhere:
        return f"there is no such option in this section; it belongs to [{elsewhere[0]}]"
    return "neither Stoker nor Heat has such an option; remove it"


def _names_in(group: str) -> list[str]:
    registered = [option.dest for option in GROUPS.get(group, ())]
    return [*registered, *IGNORED.get(group, {}), *ELSEWHERE.get(group, ())]


def _all_groups() -> list[str]:
    return [*GROUPS, *IGNORED, *IGNORED_GROUPS, *ELSEWHERE, *OF_THE_BUS]


def _wrong_value(setting: Setting, conf: ConfigOpts) -> Finding | None:
    """Return the fault of a value; that of a secret is not quoted."""
    place = _option_at(setting.group, setting.name)
    if place is None:
        return None
    group, option = place
    if setting.value.upper().replace("_", "-") == _PLACEHOLDER:
        return _finding(
            Kind.WRONG, setting, "it still has its placeholder; set a value of your own"
        )
    try:
        section = conf if group == "DEFAULT" else getattr(conf, group)
        getattr(section, option.dest)
    except (cfg.Error, ValueError) as error:
        shown = "" if option.secret else f' "{setting.value}"'
        expected = _EXPECTED.get(type(option).__name__, "another value")
        cause = str(error).rpartition("is not valid: ")[2] if not option.secret else "not valid"
        return _finding(
            Kind.WRONG, setting, f"the value{shown} is refused ({cause}); give {expected}"
        )
    return None


_PLACEHOLDER = "CHANGE-ME"
_EXPECTED = {
    "BoolOpt": "true or false",
    "IntOpt": "a whole number",
    "FloatOpt": "a number",
    "PortOpt": "a number from 0 to 65535",
    "HostAddressOpt": "an address or a host name",
}


def _finding(kind: Kind, setting: Setting, message: str) -> Finding:
    option = f"[{setting.group}] {setting.name}"
    return Finding(kind, setting.file, setting.line, option, message)
