"""The rule of each type of alarm: its fields and their values."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct

from localcloud.alarming.errors import invalid
from localcloud.core.store import Document
from localcloud.metrics.model.search import search
from localcloud.metrics.model.series import METHODS
from localcloud.web.http import ApiError, BadRequestError

COMPARISONS = ("lt", "le", "eq", "ne", "ge", "gt")
_MOST_METRICS = 100
_MOST_RULES = 50
_DEEPEST = 10
_LONGEST_TEXT = 4096
_MOST_CONDITIONS = 50
_LONGEST_PERIOD = 30 * 86400
_MOST_PERIODS = 100
_VALUE_TYPES = ("integer", "float", "string", "boolean", "datetime", "")


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_TEXT:
        raise invalid(name, value, f"A text of 1 to {_LONGEST_TEXT} characters is expected.")
    return value


def _number(name: str, value: Any) -> float:
    try:
        found = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        found = math.nan
    if not math.isfinite(found):
        raise invalid(name, value, "A number is expected.")
    return found


def _whole(most: int) -> Callable[[str, Any], int]:
    def whole(name: str, value: Any) -> int:
        found = _number(name, value)
        if found != int(found) or not 1 <= found <= most:
            raise invalid(name, value, f"A whole number from 1 to {most} is expected.")
        return int(found)

    return whole


def _comparison(name: str, value: Any) -> str:
    if value not in COMPARISONS:
        raise invalid(name, value, f"One of {', '.join(COMPARISONS)} is expected.")
    return str(value)


def _method(name: str, value: Any) -> str:
    if value not in METHODS:
        raise invalid(name, value, "An aggregation method of the metric service is expected.")
    return str(value)


def _metrics(name: str, value: Any) -> list[str]:
    if not isinstance(value, list) or not 0 < len(value) <= _MOST_METRICS:
        raise invalid(name, value, f"A list of 1 to {_MOST_METRICS} metrics is expected.")
    return [_text(name, each) for each in value]


class _All:
    """Takes every name, as the attributes of resources are known later."""

    def __contains__(self, _: object) -> bool:
        return True


def _resources(name: str, value: Any) -> str:
    try:
        search(json.loads(_text(name, value)), _All())
    except (ValueError, RecursionError) as error:
        raise invalid(name, value, "A query in JSON is expected.") from error
    except ApiError as error:
        raise invalid(name, value, error.message) from error
    return str(value)


def _conditions(name: str, value: Any) -> list[Document]:
    if not isinstance(value, list) or len(value) > _MOST_CONDITIONS:
        raise invalid(name, value, f"A list of at most {_MOST_CONDITIONS} is expected.")
    found = []
    for each in value:
        if not isinstance(each, dict) or each.keys() - {"field", "op", "type", "value"}:
            raise invalid(name, each, "An object of field, op, type and value is expected.")
        kind = each.get("type") or ""
        if kind not in _VALUE_TYPES:
            raise invalid(f"{name}.type", kind, f"One of {', '.join(_VALUE_TYPES)} is expected.")
        found.append(
            {
                "field": _text(f"{name}.field", each.get("field")),
                "op": _comparison(f"{name}.op", each.get("op") or "eq"),
                "type": kind,
                "value": str(each.get("value", ""))[:_LONGEST_TEXT],
            }
        )
    return found


class _Field(Struct, frozen=True):
    """A field of a rule."""

    read: Callable[[str, Any], Any]
    default: Any = None
    required: bool = False


_THRESHOLD: Mapping[str, _Field] = {
    "comparison_operator": _Field(_comparison, "eq"),
    "threshold": _Field(_number, required=True),
}
_GNOCCHI: Mapping[str, _Field] = {
    **_THRESHOLD,
    "aggregation_method": _Field(_method, required=True),
    "evaluation_periods": _Field(_whole(_MOST_PERIODS), 1),
    "granularity": _Field(_whole(_LONGEST_PERIOD), 60),
}
_REQUIRED = _Field(_text, required=True)
_FIELDS: Mapping[str, Mapping[str, _Field]] = {
    "gnocchi_resources_threshold": {
        **_GNOCCHI,
        "metric": _REQUIRED,
        "resource_id": _REQUIRED,
        "resource_type": _REQUIRED,
    },
    "gnocchi_aggregation_by_metrics_threshold": {
        **_GNOCCHI,
        "metrics": _Field(_metrics, required=True),
    },
    "gnocchi_aggregation_by_resources_threshold": {
        **_GNOCCHI,
        "metric": _REQUIRED,
        "query": _Field(_resources, required=True),
        "resource_type": _REQUIRED,
    },
    "event": {"event_type": _Field(_text, "*"), "query": _Field(_conditions, [])},
    "prometheus": {**_THRESHOLD, "query": _REQUIRED},
    "loadbalancer_member_health": {
        "pool_id": _REQUIRED,
        "stack_id": _REQUIRED,
        "autoscaling_group_id": _REQUIRED,
    },
}
COMPOSITE = "composite"
KINDS = (*_FIELDS, COMPOSITE)
_MEASURED = tuple(kind for kind in _FIELDS if kind.startswith("gnocchi_"))


def field_of(kind: str) -> str:
    """Return the field in which alarms of a kind have their rule."""
    return f"{kind}_rule"


def parsed(kind: str, rule: Any) -> Document:
    """Return the rule of an alarm, with defaults; raises BadRequestError."""
    if not isinstance(rule, dict):
        raise BadRequestError(f"{field_of(kind)} must be set for {kind} type alarm")
    if kind == COMPOSITE:
        return _composite(rule, 0, [])
    return _simple(kind, rule)


def _simple(kind: str, rule: Document) -> Document:
    fields = _FIELDS[kind]
    unknown = sorted(rule.keys() - fields.keys())
    if unknown:
        raise BadRequestError(f"Unknown attribute: {unknown[0][:100]} of {field_of(kind)}")
    found = {}
    for name, each in fields.items():
        value = rule.get(name)
        if value is None and each.required:
            raise invalid(name, value, "Mandatory field missing.")
        found[name] = each.default if value is None else each.read(name, value)
    return found


def _composite(rule: Any, depth: int, seen: list[Document]) -> Document:
    seen.append({})
    if not isinstance(rule, dict) or depth > _DEEPEST or len(seen) > _MOST_RULES:
        detail = f"At most {_MOST_RULES} rules, {_DEEPEST} deep, are expected."
        raise invalid("composite_rule", rule, detail)
    if len(rule) == 1 and rule.keys() <= {"and", "or"}:
        ((word, inner),) = rule.items()
        if not isinstance(inner, list) or len(inner) < 2:
            raise invalid("composite_rule", rule, f"'{word}' joins two rules or more.")
        return {word: [_composite(each, depth + 1, seen) for each in inner]}
    kind = rule.get("type")
    if kind not in (*_MEASURED, "prometheus"):
        raise invalid("composite_rule", kind, "A rule with the type of a threshold is expected.")
    rest = {name: value for name, value in rule.items() if name != "type"}
    return {"type": kind, **_simple(kind, rest)}
