"""Extracts resources to a nested template.

References of the resources to others become parameters of the nested template, references of others
to them become outputs. The text of the resources is moved with its comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsprotocol import types

from stoker.cli.authoring.language_server.actions.edits import in_block, in_flow, is_json
from stoker.cli.authoring.language_server.documents import uri_of
from stoker.cli.authoring.language_server.model import Model
from stoker.cli.authoring.language_server.syntax.nodes import Entry, Mapping, node_at
from stoker.schema.properties import Type
from stoker.template.describe.references import Reference, ReferenceKind
from stoker.template.versions import HOT

_NAME = re.compile(r"[^A-Za-z0-9_]+")
_EDIT = tuple[int, int, str]  # start, end, text


@dataclass(slots=True)
class _Nested:
    """The nested template while it is put together."""

    name: str  # of the resource in the parent
    parameters: dict[str, Any] = field(default_factory=dict)
    properties: dict[str, Any] = field(default_factory=dict)
    outputs: dict[str, Any] = field(default_factory=dict)
    conditions: dict[str, Any] = field(default_factory=dict)
    depends_on: list[str] = field(default_factory=list)
    inner: list[_EDIT] = field(default_factory=list)
    outer: list[_EDIT] = field(default_factory=list)


def selected(model: Model, start: int, end: int) -> list[Entry]:
    """Return the resources that a selection covers, at least partly."""
    section = node_at(model.document.tree, (model.dialect.resources,))
    if start == end or not isinstance(section, Mapping) or section.is_flow:
        return []
    return [each for each in section.entries if each.start < end and start < each.end]


def extract(model: Model, start: int, end: int) -> types.WorkspaceEdit | None:
    """Return the edit that moves the selected resources to a new template beside this one."""
    entries = selected(model, start, end)
    section = model.section(model.dialect.resources)
    can_move = model.dialect is HOT and not is_json(model.document)
    if not can_move or not entries or len(entries) == len(section):
        return None
    names = {entry.key.value for entry in entries}
    file = _free_file(model, entries[0].key.value)
    nested = _Nested(_free_name(file.stem, section.keys() - names))
    for reference in model.references:
        is_inside = reference.path[:1] == (model.dialect.resources,) and reference.path[1] in names
        if is_inside:
            _inside(model, nested, reference, names)
        elif reference.name in names:
            _outside(model, nested, reference)
    return _edit(model, nested, entries, file)


def _inside(model: Model, nested: _Nested, reference: Reference, names: set[str]) -> None:
    """Replace references of moved resources to those that stay by parameters."""
    name = reference.name
    match reference.kind:
        case ReferenceKind.PARAMETER:
            _pass_parameter(model, nested, name)
        case ReferenceKind.CONDITION:
            _copy_condition(model, nested, name)
        case ReferenceKind.RESOURCE if name not in names and reference.function == "depends_on":
            nested.depends_on.append(name)
            _drop_dependency(model, nested, reference, names)
        case ReferenceKind.RESOURCE if name not in names:
            own = _free_name(name, nested.parameters, nested.properties, {"get_resource": name})
            nested.parameters.setdefault(own, {"type": "string"})
            nested.properties[own] = {"get_resource": name}
            _replace_call(model, nested.inner, reference, {"get_param": own})
        case ReferenceKind.ATTRIBUTE if name not in names:
            path = [name, *reference.rest]
            call = {"get_attr": path}
            words = "_".join(str(part) for part in path if isinstance(part, str | int))
            own = _free_name(_NAME.sub("_", words), nested.parameters, nested.properties, call)
            nested.parameters.setdefault(own, {"type": _type_of(model, reference)})
            nested.properties[own] = call
            _replace_call(model, nested.inner, reference, {"get_param": own})


def _outside(model: Model, nested: _Nested, reference: Reference) -> None:
    """Replace references to moved resources by outputs of the nested template."""
    name = reference.name
    if reference.function == "depends_on":
        node = node_at(model.document.tree, reference.path)
        if node is not None:
            nested.outer.append((node.start, node.end, nested.name))
    elif reference.kind is ReferenceKind.RESOURCE:
        nested.outputs[name] = {"value": {"get_resource": name}}
        _replace_call(model, nested.outer, reference, {"get_attr": [nested.name, name]})
    elif reference.kind is ReferenceKind.ATTRIBUTE:
        attribute = [part for part in reference.rest[:1] if isinstance(part, str)]
        output = _NAME.sub("_", "_".join([name, *attribute]))
        nested.outputs[output] = {"value": {"get_attr": [name, *attribute]}}
        call = {"get_attr": [nested.name, output, *reference.rest[1:]]}
        _replace_call(model, nested.outer, reference, call)


def _pass_parameter(model: Model, nested: _Nested, name: str) -> None:
    declared = model.section(model.dialect.parameters).get(name)
    if isinstance(declared, dict):
        nested.parameters[name] = {k: v for k, v in declared.items() if k != "default"}
        nested.properties[name] = {"get_param": name}


def _copy_condition(model: Model, nested: _Nested, name: str) -> None:
    section = model.dialect.conditions
    if name in nested.conditions or name not in model.section(section):
        return
    nested.conditions[name] = model.section(section)[name]
    for each in model.references:
        if each.path[:2] == (section, name):
            if each.kind is ReferenceKind.PARAMETER:
                _pass_parameter(model, nested, each.name)
            elif each.kind is ReferenceKind.CONDITION:
                _copy_condition(model, nested, each.name)


def _drop_dependency(model: Model, nested: _Nested, reference: Reference, names: set[str]) -> None:
    """Remove dependencies on resources that stay from a moved one."""
    path = reference.path[:3]
    node, kept = node_at(model.document.tree, path), []
    written = model.data_at(path)
    if isinstance(written, list):
        kept = [each for each in written if each in names]
    if node is not None:
        nested.inner = [each for each in nested.inner if each[0] != node.start]
        nested.inner.append((node.start, node.end, in_flow(kept)))


def _replace_call(model: Model, edits: list[_EDIT], reference: Reference, call: Any) -> None:
    path = reference.path
    place = path.index(reference.function) if reference.function in path else len(path)
    # The last call on the path: a function may be nested in one of the same name.
    for index, part in enumerate(path):
        place = index if part == reference.function else place
    node = node_at(model.document.tree, path[:place])
    if isinstance(node, Mapping):
        edits.append((node.start, node.end, in_flow(call)))


def _type_of(model: Model, reference: Reference) -> str:
    type_ = model.type_of(reference.name)
    name = reference.rest[0] if reference.rest else ""
    declared = type_.attributes.get(str(name)) if type_ is not None else None
    is_whole = len(reference.rest) == 1
    is_structured = declared is not None and declared.type in (Type.MAP, Type.LIST)
    return "json" if is_whole and is_structured else "string"


def _free_file(model: Model, name: str) -> Path:
    folder = model.document.path.parent
    stem = _NAME.sub("-", name).strip("-") or "nested"
    file, number = folder / f"{stem}.yaml", 1
    while file.exists():
        number += 1
        file = folder / f"{stem}-{number}.yaml"
    return file


def _free_name(name: str, taken: Any, values: Any = None, value: Any = None) -> str:
    """Return a name that is free, or that has this value already."""
    own, number = name, 1
    while own in taken and not (values is not None and values.get(own) == value):
        number += 1
        own = f"{name}_{number}"
    return own


def _edit(model: Model, nested: _Nested, entries: list[Entry], file: Path) -> types.WorkspaceEdit:
    document = model.document
    text, uri = document.text, uri_of(file)
    edits = [types.TextEdit(text.range(start, end), new) for start, end, new in nested.outer]
    edits += [types.TextEdit(text.range(*_lines(model, each)), "") for each in entries[1:]]
    body: dict[str, Any] = {"type": file.name}
    if nested.depends_on:
        body["depends_on"] = sorted(set(nested.depends_on))
    if nested.properties:
        body["properties"] = nested.properties
    margin = model.document.text.position(entries[0].start).character
    resource = " " * margin + in_block({nested.name: body}, margin) + "\n"
    edits.append(types.TextEdit(text.range(*_lines(model, entries[0])), resource))
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    content = "\n".join(_content(model, nested, entries))
    return types.WorkspaceEdit(
        document_changes=[
            types.CreateFile(uri),
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri),
                [types.TextEdit(start, content)],
            ),
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(document.uri, document.version),
                sorted(edits, key=lambda edit: (edit.range.start.line, edit.range.start.character)),
            ),
        ]
    )


def _lines(model: Model, entry: Entry) -> tuple[int, int]:
    """Return the range of the lines of a resource."""
    text = model.document.text
    last = text.line_of(max(entry.end - 1, entry.start))
    end = text.starts[last + 1] if last + 1 < len(text.starts) else len(text.content)
    return text.starts[text.line_of(entry.start)], end


def _content(model: Model, nested: _Nested, entries: list[Entry]) -> Iterator[str]:
    """Yield the lines of the nested template."""
    yield f"heat_template_version: {model.version.name}\n"
    for section in ("parameters", "conditions"):
        if content := getattr(nested, section):
            yield f"{in_block({section: content})}\n"
    yield "resources:"
    for entry in entries:
        start, end = _lines(model, entry)
        lines = model.document.text.content[start:end]
        inner = [each for each in nested.inner if start <= each[0] < end]
        for first, last, new in sorted(inner, reverse=True):
            lines = f"{lines[: first - start]}{new}{lines[last - start :]}"
        yield lines.rstrip("\r\n")
    if nested.outputs:
        yield f"\n{in_block({'outputs': nested.outputs})}"
    yield ""
