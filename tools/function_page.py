"""The page of functions: each with its versions, and the part of the language page about it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

from stoker.template.functions.registry import condition_functions_of, functions_of
from stoker.template.versions import CFN, VERSIONS, Version

_LANGUAGE = Path(__file__).parents[1] / "docs/reference/language.md"
_HEAD = """# Functions

Written by `python -m tools.reference`. Every function of every template version. The texts and the
examples are those of [the template language](language.md), where they run as tests; `gives` is the
result.

| function | result |
|---|---|
"""
_NAMED = re.compile(r"`([\w:]+)`")
_FENCED = re.compile(r"^(```yaml\n.*?^```)$", re.MULTILINE | re.DOTALL)


def functions_page() -> str:
    """Return the page."""
    names = sorted({name for version in VERSIONS for name in _of(version)}, key=str.lower)
    texts = _texts(names)
    lines = [
        f"| [`{name}`](#{re.sub(r'[^a-z0-9_-]', '', name.lower())}) | {_description(name)} |"
        for name in names
    ]
    for name in names:
        lines += ["", f"## {name}", "", f"{_description(name)} {_versions(name)}"]
        for block in texts.get(name) or _uses(name):
            lines += ["", block.strip()]
    return _HEAD + "\n".join([*lines, ""])


def _of(version: Version) -> frozenset[str]:
    return version.functions | version.extensions


def _in_conditions(version: Version) -> frozenset[str]:
    return version.condition_functions | version.condition_extensions


def _description(name: str) -> str:
    version = next(version for version in reversed(VERSIONS) if name in _of(version))
    table = {**condition_functions_of(version), **functions_of(version)}
    return (table[name].__doc__ or "").strip().partition("\n")[0].replace("``", "`")


def _versions(name: str) -> str:
    """Return the sentences about the versions that have a function."""
    hot = [version for version in VERSIONS if version.dialect is not CFN]
    parts = []
    having = [version.name for version in hot if name in _of(version)]
    if having:
        first, last = having[0], having[-1]
        ends = "" if last == hot[-1].name else f" to `{last}`"
        parts.append(f"HOT `{first}`" if first == last else f"HOT from `{first}`{ends}")
    if any(name in _of(version) for version in VERSIONS if version.dialect is CFN):
        parts.append("CloudFormation")
    conditional = [version.name for version in hot if name in _in_conditions(version)]
    where = []
    if conditional:
        where.append(f"HOT from `{conditional[0]}`")
    if any(name in _in_conditions(version) for version in VERSIONS if version.dialect is CFN):
        where.append("CloudFormation")
    conditions = f"In conditions: {', '.join(where)}." if where else "Not in conditions."
    return f"In {' and '.join(parts)}. {conditions}"


def _texts(names: list[str]) -> Mapping[str, list[str]]:
    """Return the paragraphs and examples about each function.

    They start with a paragraph whose first word is the function, and end before the next one.
    """
    found: dict[str, list[str]] = {}
    current: list[str] = []
    for block in _blocks():
        if block.startswith(("#", "|", "- ")):
            current = []
        elif named := _functions_at_start(block, names):
            current = named
        for name in current:
            found.setdefault(name, []).append(block)
    return found


def _uses(name: str) -> list[str]:
    """Return the first example that uses a function."""
    spellings = (f"{name}:", f'"{name}"', f"!{name.removeprefix('Fn::')} ")
    fences = [block for block in _blocks() if block.startswith("```yaml")]
    return [block for block in fences if any(word in block for word in spellings)][:1]


def _blocks() -> Iterator[str]:
    """Yield the paragraphs and code blocks of the language page."""
    for number, part in enumerate(_FENCED.split(_LANGUAGE.read_text())):
        if number % 2:
            yield part
        else:
            yield from filter(None, map(str.strip, part.split("\n\n")))


def _functions_at_start(block: str, names: list[str]) -> list[str]:
    """Return the functions that a paragraph is about: those before its verb."""
    subject = re.match(r"(?:(?:and|or|,)?\s*`[\w:]+`,?\s*)+", block)
    named = _NAMED.findall(subject[0]) if subject else []
    return [name for name in named if name in names]
