"""Inputs of stacks, from rows of ``raw_template``.

The parameters of a root stack stay in its environment, as Heat stores and shows them. Those of a
nested stack become the parameters of its input, as Stoker derives them from the parent.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from stoker.engine.model.records import Input, Stack
from stoker.kernel.diagnostics import DiagnosticError
from stoker.takeover.heat.database import Row
from stoker.takeover.heat.decryption import Decryption
from stoker.takeover.heat.documents import map_of
from stoker.takeover.heat.trees import HeatBatch
from stoker.takeover.records.identifiers import derived_id
from stoker.template.definition import Definition
from stoker.template.document import parse_shared
from stoker.template.evaluate.type_resolver import TemplateType


class HeatTemplate(Struct, frozen=True):
    """A row of ``raw_template``, decrypted."""

    template: Mapping[str, Any]
    files: Mapping[str, str]
    environment: Mapping[str, Any]


def template_of(row: Row, files: Mapping[int, Row], decryption: Decryption) -> HeatTemplate:
    """Return a template with its files and environment. Raise UnreadableValueError."""
    place = f"raw_template {row['id']}"
    found = map_of(row["files"], f"{place}, column files")
    if row["files_id"] is not None and row["files_id"] in files:
        found = map_of(files[row["files_id"]]["files"], f"{place}, raw_template_files")
    environment = dict(map_of(row["environment"], f"{place}, column environment"))
    hidden = environment.get("encrypted_param_names") or []
    given = dict(environment.get("parameters") or {})
    for name in hidden:
        if isinstance(given.get(name), list):
            given[name] = decryption.pair(given[name], f"{place}, parameter {name}")
    environment["parameters"] = given
    return HeatTemplate(map_of(row["template"], f"{place}, column template"), found, environment)


def input_id_of(stack_id: str, template_id: int) -> str:
    """Return the id of the input for a template of a stack."""
    return derived_id("input", stack_id, template_id)


def input_of(
    stack: Stack,
    batch: HeatBatch,
    template_id: int,
    decryption: Decryption,
    definition: Definition | None,
) -> Input:
    """Return the input of a stack; ``definition`` is that of a nested stack's resource."""
    found = template_of(batch.templates[template_id], batch.files, decryption)
    if stack.parent_id is None:
        return _root_input(stack.id, template_id, found)
    return _nested_input(stack.id, template_id, found, definition)


def _root_input(stack_id: str, template_id: int, found: HeatTemplate) -> Input:
    return Input(
        id=input_id_of(stack_id, template_id),
        stack_id=stack_id,
        template=found.template,
        environment=found.environment,
        files=found.files,
    )


def _nested_input(
    stack_id: str, template_id: int, found: HeatTemplate, definition: Definition | None
) -> Input:
    environment = dict(found.environment)
    parameters = environment.pop("parameters", {})
    url, text = _document(found, definition)
    return Input(
        id=input_id_of(stack_id, template_id),
        stack_id=stack_id,
        template=found.template,
        text=text,
        parameters=parameters,
        environment={**environment, "parameters": {}, "encrypted_param_names": []},
        files=found.files,
        template_file=url,
        facade=_facade(definition),
    )


def _document(found: HeatTemplate, definition: Definition | None) -> tuple[str | None, str | None]:
    """Return the file of the template and its text, if the template is that file unchanged."""
    type_ = None if definition is None else definition.type
    if not isinstance(type_, TemplateType):
        return None, None
    text = found.files.get(type_.url)
    if text is None:
        return type_.url, None
    try:
        same = parse_shared(text, type_.url).source.data == found.template
    except DiagnosticError:
        same = False
    return type_.url, text if same else None


def _facade(definition: Definition | None) -> dict[str, Any]:
    if definition is None:
        return {"metadata": {}, "deletion_policy": "Delete", "update_policy": {}}
    return {
        "metadata": dict(definition.metadata),
        "deletion_policy": definition.deletion_policy.value,
        "update_policy": dict(definition.update_policy),
    }
