"""``python -m tools.reference`` writes what the documentation repeats from the code: the pages of
commands, options, functions, error codes and types, on imports and express, and the table in
docs/reference/lost-creates.md.
"""

from __future__ import annotations

import inspect
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from stoker.cli.authoring.lint.explanation import page as lint_page
from stoker.cli.main import COMMANDS, main
from stoker.config.ignored import IGNORED, IGNORED_GROUPS
from stoker.config.options import GROUPS
from stoker.resources.base.builtin_types import built_in
from stoker.resources.base.registry import Registry
from stoker.schema.resource_type import Adopts, why_not_importable
from tools import code_page, function_page, type_pages
from tools.type_pages import way

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
    lines = ["# Commands", "", "Written by `python -m tools.reference`.", *_help_of(main)]
    context = click.Context(main)
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None, name
        lines += ["", f"## stoker {name}", *_described(f"stoker {name}", command)]
    return "\n".join([*lines, ""])


def _described(name: str, command: click.Command) -> Iterator[str]:
    """The usage of a command, what it does, its options; then those of the commands below it."""
    arguments = [_argument(p) for p in command.params if isinstance(p, click.Argument)]
    below = command.commands if isinstance(command, click.Group) else {}
    usage = " ".join([name, *(["COMMAND"] if below else []), "[OPTIONS]", *arguments])
    yield from ("", f"    {usage}", *_help_of(command))
    rows = [_flag(p) for p in command.params if isinstance(p, click.Option)]
    if rows:
        yield from ("", "| Option | Meaning |", "|---|---|", *rows)
    for inner, nested in below.items():
        yield from ("", f"### {name} {inner}", *_described(f"{name} {inner}", nested))


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
        "Every option that has an effect; written by `python -m tools.reference`. Names and",
        "defaults are Heat's where Heat has the option, so Stoker reads a `heat.conf`. Policies",
        "are set in `[oslo_policy]`, as for any OpenStack service. With a local cloud, Stoker sets",
        "the options for identity itself.",
        "",
        "`stoker config check FILE` says what is wrong in a file and what has no effect, with the",
        "line and the remedy; the service says the same when it starts. `stoker config sample`",
        "prints all options as a file of comments.",
    ]
    alike: dict[tuple[Any, ...], list[str]] = {}
    for group, options in GROUPS.items():
        alike.setdefault(options, []).append(group)
    for options, groups in alike.items():
        without = IGNORED.get(groups[0], {})
        rows = [_row(option) for option in options if option.dest not in without]
        if rows:
            titles = ["| Option | Type | Default | Meaning |", "|---|---|---|---|"]
            first, *others = groups
            names = ", ".join(f"`[{group}]`" for group in others)
            same = ["", f"The sections {names} have the same options."] if others else []
            lines += ["", f"## [{first}]", *same, "", *titles, *rows]
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
        "Stoker knows these options of Heat. If a file sets one, the log says so at the start.",
        "",
        "| Section | Options | Why they have no effect |",
        "|---|---|---|",
    )
    for group, names in IGNORED.items():
        reasons = {reason: [n for n in names if names[n] == reason] for reason in names.values()}
        for reason, same in reasons.items():
            yield f"| `[{group}]` | {', '.join(f'`{name}`' for name in same)} | {reason} |"
    for group, reason in IGNORED_GROUPS.items():
        yield f"| `[{group}]` | all | {reason} |"


def found_again_page() -> str:
    """The page on lost creates, with the table of types as the types are now."""
    text = (ROOT / "docs/reference/lost-creates.md").read_text(encoding="utf-8")
    before, _, rest = text.partition(_TABLE)
    _, _, after = rest.partition("\n\n")
    types = Registry()
    found = ((name, types.find(name)) for name in sorted(built_in()))
    rows = [f"| `{name}` | {way(type_)} |" for name, type_ in found if isinstance(type_, Adopts)]
    return f"{before}{_TABLE}\n|---|---|\n" + "\n".join(rows) + f"\n\n{after}"


_IMPORTS = """# Imports of existing objects

Written by `python -m tools.reference`. [How to import](../guide/howto/import.md) shows an example.
The id is the one that the service gives the object, unless the table shows its form, with
capital letters as placeholders. Properties that a service does not report are not compared; the
plan lists them.

| type | id |
|---|---|
"""


def imports_page() -> str:
    """Return the page on types whose objects can be imported, and the form of their ids."""
    types = Registry()
    importable, others = [], []
    for name in sorted(built_in()):
        type_ = types.find(name)
        assert type_ is not None, name
        if why_not_importable(type_) is None:
            forms = type_.id_form.split(" or ") if type_.id_form else []
            form = " or ".join(f"`{each}`" for each in forms) or "id"
            importable.append(f"| `{name}` | {form} |")
        elif type_.not_importable:
            others.append(f"| `{name}` | {type_.not_importable} |")
    return _IMPORTS + "\n".join([*importable, "", *_NOT_IMPORTABLE, *others, ""])


_NOT_IMPORTABLE = (
    "## Not importable",
    "",
    "The resources of groups and nested stacks are imported one by one. Types that are not on this",
    "page have no object in the cloud.",
    "",
    "| type | why |",
    "|---|---|",
)


_EXPRESS = """# Types under express

Written by `python -m tools.reference`. [Express deployments](../guide/howto/express.md) explains
when a resource starts early.

## Usable before they are settled

Other resources can use these values as soon as the object shows them. For everything else they
wait until the object is settled.

| type | attributes | id for | deletes do not wait for those that use it |
|---|---|---|---|
"""


def express_page() -> str:
    """Return the page on types that can be used, or can start, before all is settled."""
    registry = Registry()
    types = {name: registry.find(name) for name in sorted(built_in())}
    usable, users = [], []
    for name, type_ in types.items():
        assert type_ is not None, name
        if type_.early_kind or type_.early_attributes:
            kind = type_.early_kind
            for_ = [f"`{n}`" for n, t in types.items() if kind and t and kind in t.uses_early]
            attributes = ", ".join(f"`{each}`" for each in sorted(type_.early_attributes))
            deletes = "yes" if type_.deleted_early else ""
            usable.append(f"| `{name}` | {attributes} | {', '.join(for_)} | {deletes} |")
        if type_.uses_early:
            users.append(f"- `{name}`")
    return _EXPRESS + "\n".join([*usable, "", *_EARLY, *users, ""])


_EARLY = (
    "## Start before others are settled",
    "",
    "New resources of these types start early if they use only such values. All other types wait.",
    "",
)


PAGES = {
    "docs/reference/error-codes.md": code_page.codes_page,
    "docs/reference/express.md": express_page,
    "docs/reference/functions.md": function_page.functions_page,
    "docs/reference/commands.md": commands_page,
    "docs/reference/configuration.md": configuration_page,
    "docs/reference/imports.md": imports_page,
    "docs/reference/lint.md": lint_page,
    "docs/reference/lost-creates.md": found_again_page,
    **type_pages.pages(),
}
"""Files, and what makes their text."""


if __name__ == "__main__":
    texts = {ROOT / name: page() for name, page in PAGES.items()}
    shutil.rmtree(ROOT / type_pages.FOLDER, ignore_errors=True)
    for path, text in texts.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
