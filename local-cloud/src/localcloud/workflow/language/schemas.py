"""JSON schemas for documents of the language, and their validation."""

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator

from localcloud.workflow.errors import invalid_language

Schema = Mapping[str, Any]
_TEXT = {"type": "string", "minLength": 1}
_WHOLE_EXPRESSION = r"^(<%.*?%>|{{.*?}})\s*$"
_EXPRESSION = {"type": "string", "pattern": _WHOLE_EXPRESSION}
_NUMBER = {"anyOf": [{"type": "integer", "minimum": 0}, _EXPRESSION]}
_BOOLEAN = {"anyOf": [{"type": "boolean"}, _EXPRESSION]}
_MAP = {"type": "object", "minProperties": 1}
_MAP_OR_TEXT = {"anyOf": [_MAP, _TEXT]}
_TAGS = {"type": "array", "items": _TEXT, "uniqueItems": True}
_NAMES = {"type": "array", "items": _TEXT, "uniqueItems": True, "minItems": 1}
_INPUTS = {
    "type": "array",
    "items": {"anyOf": [_TEXT, {"type": "object", "minProperties": 1, "maxProperties": 1}]},
}
_NEXT = {
    "anyOf": [
        _TEXT,
        {
            "type": "array",
            "minItems": 1,
            "items": {
                "anyOf": [
                    _TEXT,
                    {
                        "type": "object",
                        "minProperties": 1,
                        "maxProperties": 1,
                        "additionalProperties": _EXPRESSION,
                    },
                ]
            },
        },
    ]
}
_PUBLISHED = {
    "type": "object",
    "properties": {"branch": _MAP, "global": _MAP, "atomic": _MAP},
    "additionalProperties": False,
}
_TRANSITION = {
    "anyOf": [
        *_NEXT["anyOf"],
        {
            "type": "object",
            "properties": {"publish": _PUBLISHED, "next": _NEXT},
            "additionalProperties": False,
            "minProperties": 1,
        },
    ]
}
_RETRY = {
    "anyOf": [
        _TEXT,
        {
            "type": "object",
            "properties": {
                "count": _NUMBER,
                "delay": _NUMBER,
                "break-on": _EXPRESSION,
                "continue-on": _EXPRESSION,
            },
            "required": ["count", "delay"],
            "additionalProperties": False,
        },
    ]
}
_POLICIES: dict[str, Any] = {
    "retry": _RETRY,
    "wait-before": _NUMBER,
    "wait-after": _NUMBER,
    "timeout": _NUMBER,
    "pause-before": _BOOLEAN,
    "concurrency": _NUMBER,
    "fail-on": _BOOLEAN,
}
TRANSITIONS = ("on-success", "on-error", "on-complete")
_TRANSITIONS = dict.fromkeys(TRANSITIONS, _TRANSITION)
_OF_ALL = {
    **_POLICIES,
    "type": {"enum": ["direct", "reverse"]},
    "name": _TEXT,
    "description": _TEXT,
    "tags": _TAGS,
    "action": _TEXT,
    "workflow": _TEXT,
    "input": _MAP_OR_TEXT,
    "with-items": {"anyOf": [_TEXT, _NAMES]},
    "publish": _MAP,
    "publish-on-error": _MAP,
    "keep-result": _BOOLEAN,
    "safe-rerun": _BOOLEAN,
    "target": _TEXT,
}
_JOIN = {"anyOf": [{"enum": ["all", "one"]}, {"type": "integer", "minimum": 1}]}
_REQUIRES = {"anyOf": [_TEXT, _NAMES]}


def _closed(properties: Mapping[str, Any], *required: str) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
        "minProperties": 1,
    }


_TASKS = {
    "direct": _closed({**_OF_ALL, **_TRANSITIONS, "join": _JOIN}),
    "reverse": _closed({**_OF_ALL, "requires": _REQUIRES}),
}
_DEFAULTS = {
    "direct": _closed({**_POLICIES, "safe-rerun": _BOOLEAN, **_TRANSITIONS}),
    "reverse": _closed({**_POLICIES, "safe-rerun": _BOOLEAN, "requires": _REQUIRES}),
}


def workflow(kind: str) -> Schema:
    """Return the schema of a type of workflow."""
    properties = {
        "type": {"enum": ["direct", "reverse"]},
        "name": _TEXT,
        "description": _TEXT,
        "tags": _TAGS,
        "input": _INPUTS,
        "output": _MAP_OR_TEXT,
        "output-on-error": _MAP_OR_TEXT,
        "vars": _MAP,
        "task-defaults": _DEFAULTS[kind],
        "tasks": {**_MAP, "additionalProperties": _TASKS[kind]},
    }
    return _closed(properties, "tasks")


ACTION = _closed(
    {
        "name": _TEXT,
        "description": _TEXT,
        "tags": _TAGS,
        "base": _TEXT,
        "base-input": _MAP,
        "input": _INPUTS,
        "output": {},
    },
    "base",
)
WORKBOOK = _closed(
    {
        "version": {},
        "name": _TEXT,
        "description": _TEXT,
        "tags": _TAGS,
        "actions": {**_MAP, "additionalProperties": {"type": "object"}},
        "workflows": {**_MAP, "additionalProperties": {"type": "object"}},
    },
    "name",
)


def check(schema: Schema, value: Any, where: str) -> None:
    """Raise BadRequestError for a value that a schema does not allow."""
    errors = Draft202012Validator(schema).iter_errors(value)
    error = min(errors, key=lambda each: len(each.absolute_path), default=None)
    if error is not None:
        place = ".".join(str(each) for each in (where, *error.absolute_path))
        raise invalid_language(f"{error.message[:1000]} (in {place})")
