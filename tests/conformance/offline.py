"""Replays recorded cases on the evaluator only: templates in, outputs and error types out.

Resources are created in memory by their own types, in dependency order; a nested template is
evaluated the same way. Texts are not compared, for they are this project's own.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import yaml

from stoker.kernel.addresses import StackAddress
from stoker.kernel.diagnostics import Diagnostic, DiagnosticError, Diagnostics
from stoker.kernel.values import replace
from stoker.schema.resource_type import Call, Done, Reads, ResourceType, StackFacts
from stoker.schema.unknown import Unknown
from stoker.template.definition import Definition
from stoker.template.document import parse
from stoker.template.environment import files as environment_files
from stoker.template.evaluate.evaluation import Evaluation
from stoker.template.evaluate.inputs import Identity
from stoker.template.evaluate.nested_stacks import child_inputs, preliminary_nested
from stoker.template.evaluate.type_resolver import TemplateType
from stoker.template.evaluate.validation import as_template_diagnostics
from stoker.template.parameters.declarations import declare
from tests.evaluating import with_helpers

CASES = Path(__file__).parent / "cases"
STACK_ID = "0a1b2c3d-0000-4000-8000-00000000000a"
RESOURCE_ID = "0a1b2c3d-0000-4000-8000-00000000000c"
NESTED_ID = "0a1b2c3d-0000-4000-8000-00000000000b"
STACK_NAME = "zqoffline0001y"
PROJECT_ID = "0123456789abcdef0123456789abcdef"
TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)?"
TOKEN = "abcdefghij2k"
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"


def load(path: Path) -> dict[str, Any]:
    """One recorded case."""
    case: dict[str, Any] = yaml.load(path.read_text(), Loader=yaml.CSafeLoader)
    return case


@dataclass
class Created:
    """Resources that exist, as facts."""

    references: dict[str, Any] = field(default_factory=dict)
    attributes: dict[str, Mapping[str, Any]] = field(default_factory=dict)

    def reference(self, name: str) -> Any:
        return self.references.get(name, Unknown(frozenset((name,))))

    def attribute(self, name: str, attribute: str) -> Any:
        if name not in self.references:
            return Unknown(frozenset((name,)))
        return self.attributes[name].get(attribute)


@dataclass
class Answer:
    """The result of one step."""

    http: int
    error: str | None = None
    outputs: dict[str, Any] = field(default_factory=dict)
    required_by: dict[str, list[str]] = field(default_factory=dict)
    status: str = "CREATE_COMPLETE"
    diagnostics: tuple[Diagnostic, ...] = ()


class ReplayError(Exception):
    """A resource could not be created."""


def create(definition: Definition, facts: Created, stack_name: str) -> None:
    """Create one resource in memory."""
    token = TOKEN
    call = Call(
        stack=StackFacts(STACK_ID, STACK_NAME, PROJECT_ID),
        name=definition.name,
        resource_id=RESOURCE_ID,
        token=token,
        physical_name=f"{stack_name}-{definition.name}-{token}",
        properties=definition.properties,
        started_at=0.0,
        now=1e9,
    )
    outcome = definition.type.create(call)
    if not isinstance(outcome, Done):
        raise ReplayError(str(outcome))
    attributes = dict(outcome.attributes or {})
    done = replace(call, physical_id=outcome.physical_id, data=outcome.data or {})
    if isinstance(definition.type, Reads):
        attributes |= definition.type.read(done)
    facts.references[definition.name] = definition.type.reference(done)
    facts.attributes[definition.name] = attributes


def build(evaluation: Evaluation) -> tuple[Created, str]:
    """Create all resources in memory."""
    facts = Created()
    try:
        for name in TopologicalSorter(evaluation.dependencies).static_order():
            definition = evaluation.definition(name, facts)
            if isinstance(definition.type, TemplateType):
                nest(evaluation, definition, facts)
            else:
                create(definition, facts, evaluation.inputs.identity.stack_name)
    except (ReplayError, DiagnosticError):
        return facts, "CREATE_FAILED"
    return facts, "CREATE_COMPLETE"


def nest(evaluation: Evaluation, definition: Definition, facts: Created) -> None:
    """Create a nested stack in memory, with its outputs and members as attributes."""
    own = evaluation.inputs.identity
    identity = Identity(f"{own.stack_name}-{definition.name}-{TOKEN}", NESTED_ID, PROJECT_ID)
    nested = preliminary_nested(definition, identity)
    assert nested is not None
    inputs = child_inputs(evaluation.inputs, definition, nested, identity)
    assert nested.template is not None
    child = Evaluation(parse(nested.template), inputs, evaluation.known_types)
    inner, status = build(child)
    if status != "CREATE_COMPLETE":
        raise ReplayError(status)
    values = {output.name: output.value for output in child.outputs(inner)}
    attributes: dict[str, Any] = {**values, "OS::stack_id": NESTED_ID}
    for name, reference in inner.references.items():
        attributes[f"resource.{name}"] = reference
        for attribute, value in inner.attributes[name].items():
            attributes[f"resource.{name}.{attribute}"] = value
    address = StackAddress(PROJECT_ID, identity.stack_name, NESTED_ID)
    facts.references[definition.name] = address.arn
    facts.attributes[definition.name] = attributes


def evaluation_of(step: Mapping[str, Any], types: Any) -> Evaluation:
    """The evaluation of the template of a step."""
    files = {name: str(text) for name, text in (step.get("files") or {}).items()}
    template = parse(step.get("template") or "")
    declarations = declare(template.parameters, template.version, Diagnostics())
    inputs = with_helpers(
        identity=Identity(STACK_NAME, STACK_ID, PROJECT_ID),
        environment=environment_of(step, files, declarations),
        parameters=step.get("parameters") or {},
        files=files,
    )
    return Evaluation(template, inputs, types)


def environment_of(step: Mapping[str, Any], files: Mapping[str, str], declarations: Any) -> Any:
    return environment_files.environment_of(
        step.get("environment"), step.get("environment_files"), files, declarations
    )


def run_create(step: Mapping[str, Any], types: Any) -> Answer:
    """Return the result of creating the stack."""
    try:
        evaluation = evaluation_of(step, types)
        findings = evaluation.validate()
        findings.raise_errors()
    except DiagnosticError as error:
        return Answer(400, error.first.error_type.name, diagnostics=error.diagnostics)
    facts, status = build(evaluation)
    outputs = {
        output.name: {"output_value": output.value}
        | ({"output_error": output.error} if output.error else {})
        for output in evaluation.outputs(facts)
    }
    required: dict[str, list[str]] = {name: [] for name in evaluation.names}
    for name, dependencies in evaluation.dependencies.items():
        for need in dependencies:
            required[need].append(name)
    return Answer(201, None, mask(outputs), required, status, tuple(findings))


def run_validate(step: Mapping[str, Any], types: Any) -> Answer:
    """Return the result of validating the template."""
    try:
        evaluation = evaluation_of(step, types)
        findings = as_template_diagnostics(evaluation.validate())
        findings.raise_errors()
    except DiagnosticError as error:
        kind = error.first.error_type.name
        kind = "HTTPBadRequest" if kind == "StackValidationFailed" else kind
        return Answer(400, kind, diagnostics=error.diagnostics)
    return Answer(200, diagnostics=tuple(findings))


def mask(value: Any) -> Any:
    """Ids and names as the recordings have them."""
    if isinstance(value, Mapping):
        return {_key(key): mask(item) for key, item in value.items()}
    if isinstance(value, list):
        return [mask(item) for item in value]
    if not isinstance(value, str):
        return value
    value = value.replace(STACK_ID, "<stack_id>").replace(PROJECT_ID, "<project_id>")
    if STACK_NAME in value:
        value = value.replace(STACK_NAME, "<stack_name>")
        value = re.sub(r"(?<!-[0-9a-f]{4})-[a-z2-7]{12}(?![a-z0-9])", "-<sid>", value)
    value = re.sub(r"\b[0-9a-f]{32}\b", "<hex32>", value)
    value = re.sub(TIME, "<ts>", value)
    return re.sub(UUID, "<uuid>", value)


def _key(key: Any) -> str:
    return str(mask(key)) if isinstance(key, str) else json.dumps(key)


def same(expected: Any, actual: Any) -> bool:
    """Return whether a value is as recorded."""
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(
            same(item, actual[key]) for key, item in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual) or expected == actual
    return type(expected) is type(actual) and bool(expected == actual)


def differences(expected: Mapping[str, Any], answer: Answer) -> list[str]:
    """Yield the differences between an answer and the recorded one."""
    found = []
    if expected.get("http") == 500:
        return [] if answer.http == 400 else [f"a fault of the recorded service: {answer.http}"]
    if expected.get("http") != answer.http:
        found.append(f"http {expected.get('http')} != {answer.http}")
    recorded = expected.get("error")
    error = recorded.get("type") if isinstance(recorded, Mapping) else None
    if error != answer.error:
        found.append(f"error {error} != {answer.error}")
    if answer.http != 201 or expected.get("http") != 201:
        return found
    if expected.get("stack_status") != answer.status:
        found.append(f"status {expected.get('stack_status')} != {answer.status}")
    outputs = expected.get("outputs") or {}
    if outputs.keys() != answer.outputs.keys():
        found.append(f"outputs {sorted(outputs)} != {sorted(answer.outputs)}")
    for name in outputs.keys() & answer.outputs.keys():
        found.extend(_output_difference(name, outputs[name], answer.outputs[name]))
    for row in expected.get("resources") or ():
        if "parent" not in row:
            needed = sorted(answer.required_by.get(row["name"], ["(absent)"]))
            if sorted(row.get("required_by") or []) != needed:
                found.append(f"{row['name']} required_by {row.get('required_by')} != {needed}")
    return found


def _output_difference(name: str, expected: Any, actual: Any) -> list[str]:
    if ("output_error" in expected) != ("output_error" in actual):
        return [f"{name}: {expected} != {actual}"]
    if not same(expected.get("output_value"), actual.get("output_value")):
        return [f"{name}: {expected.get('output_value')!r} != {actual.get('output_value')!r}"]
    return []


def replay(case: Mapping[str, Any], types: Any) -> list[str]:
    """The differences of all steps of a case that can be replayed without a server."""
    found = []
    steps = zip(case["request"]["steps"], case["expect"]["steps"], strict=True)
    for number, (step, expected) in enumerate(steps):
        if step["op"] in ("create", "update"):
            answer = run_create(step, types)
            if step["op"] == "update":
                continue
        elif step["op"] == "validate":
            answer = run_validate(step, types)
        else:
            continue
        for difference in differences(expected, answer):
            detail = "; ".join(str(d) for d in answer.diagnostics)
            found.append(f"step {number} {step['op']}: {difference} | {detail}")
    return found


@dataclass
class KnownTypes:
    """A few types by name."""

    types: Mapping[str, ResourceType]

    def find(self, type_name: str) -> ResourceType | None:
        return self.types.get(type_name)

    def names(self) -> list[str]:
        return sorted(self.types)
