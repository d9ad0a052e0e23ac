"""Compares incremental results with full ones: evaluations, rows and decisions.

The full result of an evaluation has no object in common with the incremental one. With the option
``--verify`` it takes the place of the incremental one if they differ. Used by the modules that make
incremental results; the tests of the engine run with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from stoker.engine.model.interfaces import Ports, Verification
from stoker.engine.model.records import Resource, Stack
from stoker.engine.model.row_cache import SettledRows
from stoker.kernel.json.text import dumps
from stoker.kernel.json.tree import same
from stoker.kernel.logs.log import Log
from stoker.schema.resource_type import ResourceType
from stoker.template.evaluate.evaluation import Evaluation, may_change

log = Log(__name__)


class LoggedVerification:
    """Logs differences."""

    def report(self, stack_id: str, what: str, where: str) -> None:
        """Log that a result of a stack differs; ``where`` names the first difference."""
        text = "incremental result differs from the full one"
        log.error(text, stack=stack_id, what=what, at=where)


def verified_evaluation(
    verification: Verification | None, found: Evaluation, full: Callable[[], Evaluation]
) -> Evaluation:
    """Return an evaluation, or the full one if it differs."""
    if verification is None:
        return found
    anew = full()
    where = next(_differences(_parts_of(found), _parts_of(anew)), None)
    if where is None or may_change(found) or found.inputs.budget.is_exceeded:
        return found
    verification.report(found.inputs.identity.stack_id, "evaluation", where)
    return anew


def verified_decisions(
    verification: Verification | None,
    stack_id: str,
    found: Mapping[str, Any],
    full: Callable[[], Mapping[str, Any]],
) -> Mapping[str, Any]:
    """Return the decisions of a plan by resource, or the full ones if they differ."""
    if verification is None:
        return found
    anew = full()
    where = next(_differences(found, anew), None)
    if where is None:
        return found
    verification.report(stack_id, "plan", where)
    return anew


async def verified_rows(ports: Ports, stack: Stack, settled: SettledRows) -> SettledRows | None:
    """Return the cached rows of a stack; None if they are not the stored ones."""
    if ports.verification is None:
        return settled
    stored = await ports.store.resources(stack.id)
    found = {row.id: _as_stored(row) for row in settled.rows}
    where = next(_differences(found, {row.id: _as_stored(row) for row in stored}), None)
    if where is None:
        return settled
    present = await ports.store.stack(stack.id)
    # Another engine may have acquired the stack since. Then nothing comes of this turn.
    if present is not None and present.fencing_token == stack.fencing_token:
        ports.verification.report(stack.id, "rows", where)
    return None


def _as_stored(row: Resource) -> dict[str, str]:
    """Return the fields of a row as JSON, in which lists and tuples are the same."""
    return {name: dumps(comparable(getattr(row, name))) for name in row.__struct_fields__}


def _parts_of(evaluation: Evaluation) -> dict[str, Any]:
    parts = {
        "findings": list(evaluation.validate()),
        "names": list(evaluation.names),
        "dependencies": evaluation.dependencies,
        "attributes": evaluation.attributes_used,
        "checks": evaluation.custom_checks(),
        "definitions": {name: each.definition for name, each in evaluation.analyses.items()},
    }
    parts = {name: comparable(part) for name, part in parts.items()}
    nested = {name: _parts_of(child) for name, child in evaluation.children.items()}
    return {**parts, "nested": nested}


def _differences(found: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of entries that differ; inside a map that of the entry in it."""
    for name in {**found, **expected}:
        one, other = found.get(name), expected.get(name)
        if same(one, other):
            continue
        inner = None
        if isinstance(one, dict) and isinstance(other, dict):
            inner = next(_differences(one, other), "order")
        yield name if inner is None else f"{name}.{inner}"


def comparable(value: Any) -> Any:
    """Return a value as data, without the identity of types: templates get new ones each time."""
    if isinstance(value, ResourceType):
        return [type(value).__name__, value.type_name, dict(value.properties)]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Struct):
        return [comparable(getattr(value, name)) for name in value.__struct_fields__]
    if isinstance(value, Mapping):
        return {key: comparable(item) for key, item in value.items()}
    if isinstance(value, frozenset | set):
        return sorted(map(str, value))
    if isinstance(value, list | tuple):
        return [comparable(item) for item in value]
    return value
