"""Converts properties to workflow definitions in Mistral's language, and back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from stoker.resources.mistral.tasks import DEFAULTS, TASK

VERSION = "2.0"
_SAME = ("type", "description", "tags", "output")  # Properties with the same names in the language.
_APART = frozenset({"name", "policies"})  # Properties of a task that are not keys of the language.


def definition_of(name: str, properties: Mapping[str, Any]) -> dict[str, Any]:
    """Return the definition of the workflow ``name``."""
    # Mistral's language does not allow an empty output.
    body = {key: properties[key] for key in _SAME if properties.get(key) not in (None, {})}
    if properties.get("input"):
        body["input"] = list(properties["input"])
    if properties.get("task_defaults"):
        body["task-defaults"] = _keys(properties["task_defaults"])
    body["tasks"] = {task["name"]: _task(task) for task in properties["tasks"]}
    return {"version": VERSION, name: body}


def _task(task: Mapping[str, Any]) -> dict[str, Any]:
    own = {key: value for key, value in task.items() if key not in _APART}
    return _keys({**own, **(task.get("policies") or {})})


def _keys(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return values under the keys of the language, without None values."""
    return {key.replace("_", "-"): value for key, value in values.items() if value is not None}


def properties_in(definition: str, name: str) -> dict[str, Any] | None:
    """Return the properties in a definition; None if it cannot be parsed.

    A definition contains only the names of inputs, so their values are None.
    """
    try:
        body = yaml.safe_load(definition)[name]
        inputs = [next(iter(each)) if isinstance(each, dict) else each for each in _inputs(body)]
        return {
            **{key: body.get(key) for key in _SAME},
            "input": dict.fromkeys(inputs),
            "task_defaults": _names(DEFAULTS, body.get("task-defaults")),
            "tasks": [{**_names(TASK, task), "name": key} for key, task in body["tasks"].items()],
        }
    except (yaml.YAMLError, KeyError, TypeError, AttributeError):
        return None


def _inputs(body: Mapping[str, Any]) -> list[Any]:
    inputs = body.get("input") or []
    return inputs.split(",") if isinstance(inputs, str) else list(inputs)


def _names(declared: Iterable[str], values: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the values of all declared properties."""
    renamed = {key.replace("-", "_"): value for key, value in (values or {}).items()}
    return {**dict.fromkeys(declared), **renamed}
