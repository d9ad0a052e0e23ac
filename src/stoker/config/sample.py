"""A file with every option as a comment, in the form of oslo-config-generator's."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import Any

from stoker.config.ignored import IGNORED
from stoker.config.options import GROUPS
from stoker.kernel.lazy import LazyModule

oslo_policy_options = LazyModule("oslo_policy.opts")

_KINDS = {
    "BoolOpt": "boolean value",
    "IntOpt": "integer value",
    "FloatOpt": "floating point value",
    "ListOpt": "list value",
    "MultiStrOpt": "multi valued",
    "PortOpt": "port value",
    "HostAddressOpt": "host address value",
}
_WIDTH = 79


def sample() -> str:
    """The text of the file; options without effect are left out."""
    lines: list[str] = []
    for group, options in (*GROUPS.items(), *_of_libraries()):
        ignored = IGNORED.get(group, {})
        shown = [option for option in options if option.dest not in ignored]
        if shown:
            lines += [f"[{group}]", "", *(line for option in shown for line in _entry(option)), ""]
    return "\n".join(lines)


def _of_libraries() -> Iterator[tuple[str, Any]]:
    yield from oslo_policy_options.list_opts()


def _entry(option: Any) -> Iterator[str]:
    kind = _KINDS.get(type(option).__name__, "string value")
    yield from _comment(f"{option.help or ''} ({kind})".strip())
    choices = getattr(option.type, "choices", None)
    if choices:
        yield from _comment("Possible values: " + ", ".join(map(str, choices)))
    for name in ("min", "max"):
        bound = getattr(option.type, name, None)
        if bound is not None:
            yield f"# {name.capitalize()}imum value: {bound}"
    for old in option.deprecated_opts:
        yield f"# Deprecated group/name - [{old.group or 'its own'}]/{old.name or option.dest}"
    yield f"#{option.dest} = {written(option.default)}".rstrip()
    yield ""


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, _WIDTH, initial_indent="# ", subsequent_indent="# ")


def written(value: object) -> str:
    """Return a default as a file would have it; ``<None>`` for none."""
    if value is None:
        return "<None>"
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)
