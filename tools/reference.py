"""``python tools/reference.py`` writes what the documentation repeats from the code: the pages of
commands and options, and the table of types in docs/found-again.md.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from stoker import config
from stoker.cli.main import COMMANDS, main
from stoker.resources.built_in import built_in
from stoker.resources.registry import Registry
from stoker.resources.rest import RestResource
from stoker.schema.resource_type import Adopts

ROOT = Path(__file__).parents[1]
_TABLE = "| type | its object is recognised by |"
_KINDS = {
    "BoolOpt": "boolean",
    "IntOpt": "integer",
    "FloatOpt": "number",
    "ListOpt": "list",
    "MultiStrOpt": "text, repeatable",
}


def commands_page() -> str:
    """What every command does, and its options."""
    lines = ["# Commands", "", "Written by `python tools/reference.py`.", *_help_of(main)]
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None, name
        arguments = [_argument(p) for p in command.params if isinstance(p, click.Argument)]
        usage = " ".join(["stoker", name, "[OPTIONS]", *arguments])
        lines += ["", f"## stoker {name}", "", f"    {usage}", *_help_of(command)]
        rows = [_flag(p) for p in command.params if isinstance(p, click.Option)]
        if rows:
            lines += ["", "| Option | Meaning |", "|---|---|", *rows]
    return "\n".join([*lines, ""])


def _help_of(command: click.Command) -> Iterator[str]:
    for part in inspect.cleandoc(command.help or "").split("\n\n"):
        yield ""
        if part.startswith("\b\n"):
            title, *examples = part.removeprefix("\b\n").splitlines()
            yield from (f"{title}:", "", *(f"    {line.strip()}" for line in examples))
        else:
            yield from part.splitlines()


def _argument(parameter: click.Argument) -> str:
    name = (parameter.name or "").upper() + ("..." if parameter.nargs < 0 else "")
    return name if parameter.required else f"[{name}]"


def _flag(option: click.Option) -> str:
    names = ", ".join(f"`{name}`" for name in (*option.opts, *option.secondary_opts))
    value = "" if option.is_flag else f" {option.metavar or option.type.name.upper()}"
    return f"| {names}{value} | {option.help or ''} |"


def configuration_page() -> str:
    """Every option that has an effect, by section, and the names of those that have none."""
    lines = [
        "# Configuration",
        "",
        "Every option that has an effect; written by `python tools/reference.py`. Names and",
        "defaults are Heat's where Heat has the option, so Stoker reads a `heat.conf`; it ignores",
        "what it does not know. Policies are set in `[oslo_policy]`, as for any OpenStack service.",
        "With a local cloud, Stoker sets the options for identity itself.",
    ]
    for group, options in config.GROUPS.items():
        without = config.NOT_HONOURED.get(group, ())
        rows = [_row(option) for option in options if option.dest not in without]
        if rows:
            titles = ["| Option | Type | Default | Meaning |", "|---|---|---|---|"]
            lines += ["", f"## [{group}]", "", *titles, *rows]
    return "\n".join([*lines, *_without_effect(), ""])


def _row(option: Any) -> str:
    kind = _KINDS.get(type(option).__name__, "text")
    default = "" if option.default in (None, "", []) else f"`{_as_written(option.default)}`"
    return f"| `{option.dest}` | {kind} | {default} | {option.help or ''} |"


def _as_written(default: object) -> str:
    if isinstance(default, bool):
        return str(default).lower()
    return ",".join(map(str, default)) if isinstance(default, list) else str(default)


def _without_effect() -> Iterator[str]:
    yield from (
        "",
        "## Options without effect",
        "",
        "Stoker knows these options of Heat and does not implement them. If a file sets one, the",
        "log says so at the start.",
        "",
        "| Section | Options |",
        "|---|---|",
    )
    for group, names in config.NOT_HONOURED.items():
        yield f"| `[{group}]` | {', '.join(f'`{name}`' for name in names)} |"


def found_again_page() -> str:
    """The page on lost creates, with the table of types as the types are now."""
    text = (ROOT / "docs/found-again.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(_TABLE)
    _, _, after = rest.partition("\n\n")
    types = Registry()
    found = ((name, types.find(name)) for name in sorted(built_in()))
    rows = [f"| `{name}` | {_way(type_)} |" for name, type_ in found if isinstance(type_, Adopts)]
    return f"{before}{_TABLE}\n|---|---|\n" + "\n".join(rows) + f"\n\n{after}"


def _way(type_: Any) -> str:
    """How a type recognises the object of a lost create."""
    if isinstance(type_, RestResource) and type(type_).find is RestResource.find:
        if "name" not in type_.properties:
            return "marker (it has no name)"
        return f"name; {'marker' if type_.marker else 'namesakes'} if the user has named it"
    words = (inspect.getdoc(type_.find) or "").splitlines()[0].removesuffix(".")
    return ("unique: " if type_.unique else "") + words[0].lower() + words[1:]


PAGES = {
    "docs/commands.md": commands_page,
    "docs/configuration.md": configuration_page,
    "docs/found-again.md": found_again_page,
}
"""Files, and what makes their text."""


if __name__ == "__main__":
    for name, page in PAGES.items():
        (ROOT / name).write_text(page(), encoding="utf-8")
