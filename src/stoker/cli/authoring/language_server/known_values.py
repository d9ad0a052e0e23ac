"""Values of expressions, as far as they are known before anything exists, and are no secrets."""

from __future__ import annotations

from typing import Any

from stoker.cli.authoring.language_server.model import Model
from stoker.kernel.diagnostics import Path
from stoker.kernel.errors import LimitExceededError
from stoker.kernel.time_limit import limited
from stoker.schema.unknown import unknown_in
from stoker.template.describe.references import ReferenceKind
from stoker.template.functions.failure import FunctionError, UnknownValueError

_MOST_SECONDS = 1.0  # of one expression


def parameter_value(model: Model, name: str) -> Any:
    """Return the value of a parameter; None if it is not known."""
    value = None if model.evaluation is None else model.evaluation.parameters.get(name)
    return value if unknown_in(value) is None else None


def condition_value(model: Model, name: str) -> bool | None:
    """Return whether a condition holds; None if that is not known."""
    path = (model.dialect.conditions, name)
    if model.evaluation is None or model.data_at(path) is None or not _is_known(model, path):
        return None
    try:
        return model.evaluation.resolved.holds(name)
    except (FunctionError, UnknownValueError):
        return None


def expression_value(model: Model, path: Path) -> Any:
    """Return the value of the expression at a path; None if it is secret or not known."""
    if model.evaluation is None or not _is_known(model, path):
        return None
    try:
        with limited(_MOST_SECONDS):
            found = model.evaluation.evaluator.scope.resolve(model.data_at(path))
    except (FunctionError, LimitExceededError):
        return None
    return found if unknown_in(found) is None else None


def _is_known(model: Model, path: Path, seen: frozenset[str] = frozenset()) -> bool:
    """Return whether the parameters and conditions of an expression are known, and public."""
    for each in model.references:
        if each.path[: len(path)] != path:
            continue
        if each.kind is ReferenceKind.PARAMETER:
            declared = model.parameters.get(each.name)
            if declared is None or declared.hidden or parameter_value(model, each.name) is None:
                return False
        elif each.kind is ReferenceKind.CONDITION and each.name not in seen:
            inner = (model.dialect.conditions, each.name)
            if not _is_known(model, inner, seen | {each.name}):
                return False
    return True
