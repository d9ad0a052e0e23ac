"""Remedies of findings as edits: the words that a suggestion names, quotes, missing keys."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any

from lsprotocol import types

from stoker.cli.authoring.language_server.actions.edits import (
    added,
    added_section,
    removed,
    replaced,
)
from stoker.cli.authoring.language_server.completion.candidates import as_yaml
from stoker.cli.authoring.language_server.contexts import context_of
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.syntax.nodes import (
    Mapping,
    Node,
    Scalar,
    Sequence,
    Step,
    steps_to,
)
from stoker.schema.constraints import AllowedValues
from stoker.schema.properties import Property, Type
from stoker.schema.values import MISSING
from stoker.template.versions import HOT

_MEANT = re.compile(r'did you mean "!?([^"]+)"\?')
_USED = re.compile(r'^use "([^"]+)"$')
_QUOTED = re.compile(r"put (?:it|them|the name|the text) into quotes")
_LEFT_OUT = re.compile(r'leave "([^"]+)" out')
_LIST = re.compile(r"^write (\[[^\[\]]+\])$")
_DECLARED = re.compile(r"declare it in the section")
_UNKNOWN_PARAMETER = re.compile(r"The Parameter \(([^)]+)\)")
_VARIABLE = re.compile(r"\$\{!?([^{}.]+)(?:\.([^{}]+))?\}")
_ALIKE = 0.5
_HOT_TYPES = {
    Type.INTEGER: "number",
    Type.NUMBER: "number",
    Type.BOOLEAN: "boolean",
    Type.LIST: "comma_delimited_list",
    Type.MAP: "json",
}
_CFN_TYPES = {
    Type.INTEGER: "Number",
    Type.NUMBER: "Number",
    Type.LIST: "CommaDelimitedList",
    Type.MAP: "Json",
}
_EMPTY: dict[Type, Any] = {
    Type.INTEGER: 0,
    Type.NUMBER: 0,
    Type.BOOLEAN: False,
    Type.LIST: [],
    Type.MAP: {},
}

Fix = tuple[str, types.TextEdit]


def fixes(model: Model, diagnostic: types.Diagnostic) -> Iterator[Fix]:
    """Yield titles and edits of the remedies of a finding."""
    data = diagnostic.data if isinstance(diagnostic.data, dict) else {}
    suggestion = str(data.get("suggestion") or "")
    start = model.document.text.offset(diagnostic.range.start)
    steps = steps_to(model.document.tree, start)
    if not steps:
        return
    scalars = list(_scalars(steps[-1]))
    meant = _MEANT.search(suggestion) or _USED.search(suggestion)
    if meant is not None:
        yield from _replacement(model, scalars, meant[1])
    elif _QUOTED.search(suggestion):
        yield from _quotes(model, scalars)
    elif (left_out := _LEFT_OUT.search(suggestion)) is not None:
        yield from _removal(model, steps, left_out[1])
    elif (as_list := _LIST.search(suggestion)) is not None:
        value = steps[-1].entry.value if steps[-1].entry is not None else None
        if isinstance(value, Scalar):
            yield f"Write {as_list[1]}", replaced(model.document, value, as_list[1])
    elif _DECLARED.search(suggestion):
        yield from _declaration(model, diagnostic.message, start)
    if diagnostic.code == MISSING:
        yield from _required(model, start)


def _scalars(step: Step) -> Iterator[Scalar]:
    """Yield the words that a finding at a place may mean: a key, its value, and its items."""
    if isinstance(step.node, Scalar):
        yield step.node
    pending: list[Node | None] = [] if step.entry is None else [step.entry.value]
    for node in pending:
        if isinstance(node, Scalar):
            yield node
        elif isinstance(node, Sequence):
            yield from (item for item in node.items if isinstance(item, Scalar))


def _replacement(model: Model, scalars: list[Scalar], meant: str) -> Iterator[Fix]:
    """Replace the word that is most like the meant one."""
    text = model.document.text
    found: list[tuple[float, int, int, str]] = []
    for scalar in scalars:
        plain = as_yaml(meant) if not scalar.style else meant
        found.append((_likeness(scalar.value, meant), scalar.inner, scalar.inner_end, plain))
        raw = text.content[scalar.inner : scalar.inner_end]
        for match in _VARIABLE.finditer(raw):
            for group in (1, 2):
                if match[group] is not None:
                    start, end = match.span(group)
                    likeness = _likeness(match[group], meant)
                    found.append((likeness, scalar.inner + start, scalar.inner + end, meant))
    found = [each for each in found if each[0] >= _ALIKE]
    if found:
        _, start, end, word = max(found)
        yield f'Replace with "{meant}"', types.TextEdit(text.range(start, end), word)


def _likeness(written: str, meant: str) -> float:
    if written == meant:
        return 0.0
    return SequenceMatcher(None, written.lower(), meant.lower()).ratio()


def _quotes(model: Model, scalars: list[Scalar]) -> Iterator[Fix]:
    for scalar in scalars[-1:]:
        if not scalar.style:
            quoted = json.dumps(scalar.value, ensure_ascii=False)
            yield f"Write {quoted}", replaced(model.document, scalar, quoted)


def _removal(model: Model, steps: list[Step], key: str) -> Iterator[Fix]:
    for step in reversed(steps):
        entry = step.node.entry(key) if isinstance(step.node, Mapping) else None
        if entry is not None and isinstance(step.node, Mapping):
            yield f'Remove "{key}"', removed(model.document, step.node, entry)
            return


def _declaration(model: Model, message: str, offset: int) -> Iterator[Fix]:
    found, root = _UNKNOWN_PARAMETER.search(message), model.document.tree
    if found is None or not isinstance(root, Mapping):
        return
    steps = steps_to(root, offset)
    declared = context_of(model, steps[-1].path[:-1]).declared if steps else None
    kinds, name = (_HOT_TYPES, "string") if model.dialect is HOT else (_CFN_TYPES, "String")
    kind = name if declared is None else kinds.get(declared.type, name)
    entries = {found[1]: {model.dialect.type: kind}}
    edit = added_section(
        model.document, root, model.dialect.parameters, entries, model.dialect.resources
    )
    yield f'Declare the parameter "{found[1]}"', edit


def _required(model: Model, offset: int) -> Iterator[Fix]:
    """Add the required properties that a resource, or a map in it, does not have."""
    steps = steps_to(model.document.tree, offset)
    dialect, last = model.dialect, steps[-1]
    if last.is_key and last.entry is not None and last.entry.value is not None:
        steps.append(Step(last.entry.value, last.path))
    for step in reversed(steps):
        node = step.node
        context = context_of(model, step.path)
        if not isinstance(node, Mapping) or context.section != "resources":
            continue
        if len(step.path) == 2 and context.type is not None:
            inner = node.value(dialect.properties)
            missing = _missing(model, context.type.properties, inner)
            entry = node.entry(dialect.properties)
            if isinstance(inner, Mapping):
                yield _title(missing), added(model.document, inner, missing)
            elif entry is None:
                entries = {dialect.properties: missing}
                yield _title(missing), added(model.document, node, entries)
            return
        if context.properties:
            missing = _missing(model, context.properties, node)
            if missing:
                yield _title(missing), added(model.document, node, missing)
                return


def _title(missing: dict[str, Any]) -> str:
    return f"Add required properties: {', '.join(missing)}"


def _missing(model: Model, declared: Any, present: Node | None) -> dict[str, Any]:
    known = present.keys if isinstance(present, Mapping) else []
    return {
        name: _value(model, name, each)
        for name, each in declared.items()
        if each.required and name not in known
    }


def _value(model: Model, name: str, declared: Property) -> Any:
    """Return a parameter of the same name, an allowed value, or an empty value."""
    if name in model.section(model.dialect.parameters):
        return {"get_param" if model.dialect is HOT else "Ref": name}
    for constraint in declared.constraints:
        if isinstance(constraint, AllowedValues) and constraint.allowed:
            return constraint.allowed[0]
    return _EMPTY.get(declared.type, "")
